"""What every test file begins with: the frame into which statements are written. Text only.

`{record}` stands for the model of an option, `{schema}` for its name as a text, `{score}` for what more a call of
`score` is given. A helper is put into a file where its name is used.
"""

from __future__ import annotations

from collections.abc import Mapping

HELPERS: Mapping[str, str] = {
    "clock": '''def clock(moment: datetime) -> time:
    """What a clock on the wall shows."""
    return moment.astimezone(ZONE).time()
''',
    "weekday": """def weekday(moment: datetime) -> str:
    return ("mon", "tue", "wed", "thu", "fri", "sat", "sun")[day(moment).weekday()]
""",
    "day": """def day(moment: datetime) -> date:
    return moment.astimezone(ZONE).date()
""",
    "at": '''def at(clock_time: str, moment: datetime) -> datetime:
    """The same day at another time; a time that the clocks skip is moved on."""
    local = datetime.combine(day(moment), time.fromisoformat(clock_time), ZONE)
    return local.astimezone(UTC)
''',
    "on": '''def on(name: str, moment: datetime) -> datetime:
    """The same week and time on another day."""
    local = moment.astimezone(ZONE)
    days = ("mon", "tue", "wed", "thu", "fri", "sat", "sun").index(name) - local.weekday()
    return datetime.combine(local.date() + timedelta(days=days), local.time(), ZONE)
''',
    "dated": '''def dated(name: str, moment: datetime) -> datetime:
    """The same time on another date."""
    local = moment.astimezone(ZONE)
    return datetime.combine(date.fromisoformat(name), local.time(), ZONE)
''',
    "sized": '''def sized(members: Iterable[str], count: int) -> frozenset[str]:
    """So many: some of them, or with others."""
    known = sorted(members)[:count]
    return frozenset(known) | {f"guest {number}" for number in range(count - len(known))}
''',
    "SOME_DAY": "SOME_DAY = datetime(2026, 3, 4, 12, tzinfo=ZONE)\n",
}
"""In the order in which they are written."""

NEEDS: Mapping[str, tuple[str, ...]] = {"weekday": ("day",), "at": ("day",)}

RUNTIME = '''
@dataclass(frozen=True)
class Claim:
    """What a statement says of some options: between what the score lies, or whether they are feasible.

    `where` is what they must be like, if anything; of what one of `others` speaks too, nothing is said, but for those
    in `besides`: they are more general, or no longer hold.
    """

    options: Sequence[{record}]
{context_field}    days: Sequence[str]
    others: Sequence[About]
    besides: Sequence[About] = ()
    where: About | None = None
    above: float = -math.inf
    at_least: float = -math.inf
    at_most: float = math.inf
    below: float = math.inf
    feasible: bool | None = None

    def speaks_of(self, option: {record}) -> bool:
        if self.where is not None and not self.where({asked}):
            return False
        return not any(other({asked}) for other in self.others if other not in self.besides)

    def wrong(self, score: float, feasible: bool) -> str | None:
        """What is not as it was said; None where all is."""
        if self.feasible is not None:
            said = "be feasible" if self.feasible else "not be feasible"
            return None if feasible == self.feasible else f"it must {{said}}"
        if self.above < score < self.below and self.at_least <= score <= self.at_most:
            return None
        bounds = {{"above": self.above, "at least": self.at_least, "at most": self.at_most, "below": self.below}}
        said = " and ".join(f"{{word}} {{bound}}" for word, bound in bounds.items() if math.isfinite(bound))
        return f"its score is {{score:g}}, which must be {{said}}"


def varied(option: {record}) -> Iterator[{record}]:
    """As it is, and with each value of the fields that have few."""
    yield option
    for name, values in FEW.items():
        for value in values:
            yield put(option, **{{name: value}})


def keep(said: str, claims: Sequence[Claim], pick: int) -> None:
    """Fails, the statement first, where the program does not keep it."""
    inside = [claim for claim in claims if claim.where is not None]
    assume(any(claim.speaks_of(option) for claim in inside for option in claim.options))
    calls: dict[{call_type}, list[tuple[Claim, {record}]]] = {{}}
    for claim in claims:
        call = calls.setdefault({call_key}, [])
        call += [(claim, option) for option in claim.options if claim.speaks_of(option)]
    for {call_name}, asked in calls.items():
        result = {module}.score([option for _, option in asked], {score}now=f"{{now}}T12:00")
        for row, (claim, option) in enumerate(asked):
            wrong = claim.wrong(float(result.total[row]), bool(result.feasible[row]))
            if wrong is not None and row not in result.invalid:
                why = next(result.rows([row]))
                pytest.fail(broken(said, wrong, why, option{passed_context}, now), pytrace=False)


def broken(said: str, wrong: str, row: Mapping[str, Any], option: {record}{context_parameter}, now: str) -> str:
    by = [f"{{name}} ({{score:+g}})" for name, score in row["contributions"].items()] + row["violated"]
    told = {{**option.model_dump(mode="json"){dumped_context}, "now": now}}
    width = max(map(len, told))
    return "\\n".join(
        [
            " ".join(said.split()),
            f"is not kept: {{wrong}}; rules that take part: {{', '.join(by) or 'none'}}",
            *(f"  {{name:<{{width}}}}  {{value}}" for name, value in told.items()),
        ]
    )


def statement(claims: Callable[[{given_types}], list[Claim]]) -> Callable[[], None]:
    """Makes a test of what a statement claims, given an option of any kind."""

    def drawn(option: {record}{context_parameter}, pick: int) -> None:
        asked = [claim for option in varied(option) for claim in claims({passed})]
        keep(claims.__doc__ or claims.__name__, asked, pick)

    drawn.__name__ = drawn.__qualname__ = claims.__name__
    tried = SETTINGS(given(option=OPTIONS{context_strategy}, pick=st.integers(0, 1))(drawn))

    def test() -> None:
        try:
            tried()
        except Unsatisfiable:
            pytest.skip("no option was found of which this statement alone speaks")

    test.__name__ = test.__qualname__ = claims.__name__
    test.__doc__ = claims.__doc__
    return test
'''
