"""Actions, alerts, queries and properties by small programs."""

from __future__ import annotations

from small_programs import (
    BIG,
    MEMORY,
    ROWS,
    call_of,
    compiled,
    read,
    schema_of,
)

from ucl.semantics.evaluate import (
    Effected,
    act,
    alerts,
    property_holds,
    query,
    satisfies,
)
from ucl.semantics.outcome import Invalid, Reason
from ucl.semantics.program import Prefer, Property
from ucl.semantics.values import to_json

ACTIONS = f"""
schema S {{ n: int  who: text }}
effect many tag(label: text)
effect move(to: text, n: int)
action a on S {{
  when n > 0 do tag("x"), move(who, n * {BIG})
  except when n == 2 do nothing except when n > 1 do tag("y")
}}
action b on S overrides a {{ when n == 5 do tag("b") }}
action c on S {{ when n > 0 do tag("c") status shadow }}
"""


def test_actions() -> None:
    program = compiled(ACTIONS)
    rows = read(program, *({"n": n, "who": "ann"} for n in (0, 1, 2, 3, 5)), {"n": "?"})
    nothing, both, none, other, overridden, invalid = act(program, schema_of(program), rows, call_of(program))
    assert nothing == ()
    assert both == (Effected("a", "tag", {"label": "x"}), Effected("a", "move", {"to": "ann", "n": BIG}))
    assert none == ()
    assert other == (Effected("a", "tag", {"label": "y"}),)
    assert overridden == (Effected("b", "tag", {"label": "b"}),)
    assert invalid == Invalid("n", Reason.UNREADABLE, "?")


def test_an_action_that_overflows_makes_its_event_invalid() -> None:
    program = compiled(ACTIONS.replace("except when n > 1", "except when n == 3"))
    events = act(program, schema_of(program), read(program, {"n": BIG, "who": "ann"}), call_of(program))
    assert events == [Invalid("a", Reason.OVERFLOW)]


def test_alerts() -> None:
    program = compiled(
        MEMORY
        + 'alert much for t in ts { when present(t.o) and t.o > 5 unless t.k == "z" say "{t.o} of {t.k}: {t.d}" }\n'
        'alert square for t in ts { when t.n * t.n > 99 say "{t.k}" severity critical }\n'
        'alert asleep for t in ts { when true say "x" status shadow }'
    )
    rows = [*ROWS, ROWS[2] | {"k": "z"}, ROWS[1] | {"n": BIG}]
    much, square = alerts(program, call_of(program, memory={"ts": rows}))
    assert (much.alert, much.say, much.record["k"], much.invalid) == ("much", "7 of a: PT4H", "a", None)
    assert (square.alert, square.severity, square.say) == ("square", "critical", "")
    assert square.invalid == Invalid("square", Reason.OVERFLOW)


def test_queries() -> None:
    program = compiled(
        MEMORY + f"def big(n: int) -> int = n * {BIG}\ndef ks() -> set<text> = distinct(t.k for t in ts)"
    )
    call = call_of(program, memory={"ts": ROWS})
    assert query(program, "big", [2], call).value == 2 * BIG
    overflown = query(program, "big", [BIG], call)
    assert overflown.value is None
    assert overflown.error is not None
    assert to_json(query(program, "ks", [], call).value, program.definitions["ks"].result, call.zone) == ["a", "b", "c"]


# --- properties -----------------------------------------------------------------------------------------------------


def test_properties() -> None:
    program = compiled(f"""
    schema S {{ n: int }}
    rule up on S {{ when n > 0 score 0.5 }}
    rule off on S overrides up {{ when n > 5 score -0.72 }}
    rule huge on S {{ when n == 99 score n * {BIG} }}
    constraint c on S {{ forbid when n == 3 }}
    property p1 on S {{ given n > 0 expect fires(up) }}
    property p2 on S {{
      given n > 5
      expect applies(up) and not fires(up)
      expect contribution(off) == -0.72 and score < 0
    }}
    property p3 on S {{ expect feasible and not contested }}
    property p4 on S {{ given n < 1 expect decision == "accept" and contribution(up) == 0.0 and not applies(c) }}
    prefer p5 on S {{ better n == 1 worse n > 5 }}
    """)
    call = call_of(program)

    def answers(n: int) -> list[bool | None]:
        found = (p for p in program.properties if isinstance(p, Property))
        return [property_holds(program, p, {"n": n}, call) for p in found]

    assert answers(0) == [None, None, True, True]
    assert answers(1) == [True, None, True, None]
    assert answers(3) == [True, None, False, None]
    assert answers(6) == [False, True, True, None]
    assert answers(99) == [None, None, None, None]  # an invalid option is no counterexample
    prefer = program.properties[-1]
    assert isinstance(prefer, Prefer)
    assert [satisfies(side, {"n": 1}, call) for side in (prefer.better, prefer.worse)] == [True, False]
