"""From the place where reading stopped to the words for it.

In: a `Stop`. Out: one diagnostic. The causes are tried in the order of `_CAUSES`, the most telling first; each is a
function that looks at the tokens around the stop and answers None where it is not the cause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from difflib import get_close_matches

from ucl.diagnostics import Diagnostic, Source, Span
from ucl.syntax import errors
from ucl.syntax.reading import habits
from ucl.syntax.reading.lexer import CLAUSE_WORDS, DECLARATION_WORDS, END, MISTAKES, Token, words
from ucl.syntax.reading.scene import OPENING, Scene, Stop, look

_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">=", "in", "not"))
_META = words("because from confidence priority valid status")
_CLAUSES = {
    "rule": ["when", "unless", "score", "except", *_META],
    "constraint": ["forbid", "require", "when", "unless", *_META],
    "action": ["when", "unless", "do", "except", *_META],
    "alert": ["when", "unless", "say", "severity", *_META],
    "property": ["given", "expect", *_META],
    "prefer": ["better", "worse", *_META],
}
# What people write for a clause word or a declaration word that they half remember.
_OTHER_WORDS = {
    "if": "when", "where": "when", "condition": "when", "weight": "priority", "reason": "because", "why": "because",
    "source": "from", "value": "score", "exception": "except", "then": "do", "else": "except", "message": "say",
    "level": "severity", "assert": "expect", "const": "let", "var": "let", "val": "let", "function": "def", "fn": "def",
    "func": "def", "fun": "def", "enum": "schema", "struct": "schema", "class": "schema", "type": "schema",
    "record": "schema", "limit": "constraint", "preference": "rule", "test": "property", "use": "import",
    "package": "module", "unit": "dimension", "trigger": "action", "warning": "alert",
}  # fmt: skip
# Words of other languages for an operator.
_OPERATORS = {
    "is": "==", "equals": "==", "eq": "==", "ne": "!=", "lt": "<", "gt": ">", "after": ">", "before": "<", "over": ">",
    "under": "<", "between": "in low..high", "within": "in", "contains": "contains(x, y)", "like": "like(x, y)",
    "matches": "like(x, y)", "overlaps": "overlaps(x, y)", "xor": "!=",
}  # fmt: skip
_VALUES = frozenset(
    words("INT FLOAT PERCENT QUANTITY TEXT TIME DATE DATETIME NAME true false mon tue wed thu fri sat sun")
)
_JOINS = frozenset(words("and or not in == != < <= > >= + - * / ?? if then else where ( , ="))


def explain(source: Source, stop: Stop) -> Diagnostic:
    """The one message for what stopped the reading."""
    scene = look(source, stop)
    return next(found for cause in _CAUSES if (found := cause(scene)) is not None)


# --- causes: depth and characters --------------------------------------------------------------------------------


def _too_deep(scene: Scene) -> Diagnostic | None:
    return None if scene.stop.limit is None else errors.too_deep(scene.span, scene.stop.limit)


def _unreadable(scene: Scene) -> Diagnostic | None:
    if scene.terminal == "OPEN_TEXT":
        return errors.unclosed_text(scene.span)
    if scene.terminal == "BAD_CHARACTER" and scene.text not in "!;[]%^~":
        return errors.unknown_character(scene.span, scene.text)
    return None


# --- causes: the frame of declarations and bodies -------------------------------------------------------------------


def _unclosed(scene: Scene) -> Diagnostic | None:
    """A bracket is open where a declaration, or within parentheses a clause, begins."""
    if not scene.open:
        return None
    bracket, previous = scene.open[-1], scene.previous
    closing = OPENING[bracket[0]]
    if (
        previous is not None
        and previous[0] in DECLARATION_WORDS
        and scene.starts_line(previous)
        and ":" in scene.stop.expected
    ):
        return errors.unclosed(scene.place(bracket), bracket[0], closing, errors.quoted(previous[0]))
    declares = scene.terminal in DECLARATION_WORDS and scene.starts_line() and scene.following[0] != ":"
    inner = bracket[0] == "(" or len(scene.open) > 1
    ends_list = (inner and scene.terminal in CLAUSE_WORDS) or (bracket[0] == "(" and scene.terminal == "}")
    if scene.terminal != END and not declares and not ends_list:
        return None
    return errors.unclosed(scene.place(bracket), bracket[0], closing, scene.found)


def _between_declarations(scene: Scene) -> Diagnostic | None:
    """Where a declaration could begin, something else does."""
    stop = scene.stop
    if not stop.complete or scene.terminal == "=":
        return None
    if not scene.starts_line() and scene.before and scene.previous and scene.previous[0] != "}":
        return None
    if scene.terminal in ("}", ")", "]"):
        return errors.unopened(scene.span, scene.text)
    if scene.terminal == "from" and any(token[0] == "import" for token in scene.after[:9]):
        return errors.python_import(scene.span)
    if scene.terminal in CLAUSE_WORDS:
        return errors.clause_outside_body(scene.span, scene.text, _owners(scene.text))
    nearest = _nearest(scene.text, DECLARATION_WORDS)
    return errors.unknown_declaration(scene.span, scene.text, nearest)


def _wrong_clause(scene: Scene) -> Diagnostic | None:
    """A word that begins no clause of this body."""
    if not _in_body(scene) or scene.terminal == END:
        return None
    previous = scene.previous
    begins = scene.starts_line() or (previous is not None and previous[0] in ("{", "TEXT"))
    if scene.terminal in CLAUSE_WORDS:
        return errors.clause_of_another_body(scene.span, scene.text, scene.word, _owners(scene.text))
    if not scene.text.isidentifier():
        return None
    nearest = _nearest(scene.text, _CLAUSES[scene.word])
    if not begins and nearest is None:
        return None
    return errors.unknown_clause(scene.span, scene.text, scene.word, nearest, _CLAUSES[scene.word])


def _field_named_from(scene: Scene) -> Diagnostic | None:
    """`from: text` after a field, where `from "column"` could stand."""
    previous = scene.previous
    if scene.word not in ("schema", "context") or scene.terminal != ":" or previous is None:
        return None
    if previous[0] not in ("from", "unit"):
        return None
    return errors.reserved_word(scene.place(previous), previous[0], is_field=True)


# --- causes: expressions --------------------------------------------------------------------------------------------


def _chained(scene: Scene) -> Diagnostic | None:
    """A comparison that already has two sides; `and` could follow it."""
    if (scene.terminal not in _COMPARISONS and scene.terminal != "=") or "and" not in scene.stop.expected:
        return None
    start, operator = _comparison_before(scene)
    replacement = None
    if operator is not None and operator[0] not in ("in", "not") and scene.terminal not in ("in", "not"):
        text = scene.source.text
        middle = text[operator[2] : scene.stop.token[1]].strip()
        left = text[start : operator[1]].strip()
        if "\n" not in left + middle:
            right = _operand_after(scene)
            replacement = f"{left} {scene.written(operator)} {middle} and {middle} {scene.text} {right}"
    return errors.chained_comparison(scene.span, replacement)


def _comparison_before(scene: Scene) -> tuple[int, Token | None]:
    """Where the comparison on the left begins, and its operator."""
    depth, operator, start = 0, None, scene.stop.token[1]
    for token in reversed(scene.before):
        if token[0] in (")", "}"):
            depth += 1
        elif token[0] in OPENING:
            depth -= 1
        elif depth == 0 and token[0] in _COMPARISONS and operator is None:
            operator = token
            continue
        if depth < 0 or (depth == 0 and (token[0] in ("and", "or", "not", "if", "=") or _begins_clause(token))):
            break
        start = token[1]
    return start, operator


_ENDS = frozenset(("and", "or", "then", "else", ",", END))


def _operand_after(scene: Scene) -> str:
    """What is written after the stop, up to the end of the operand."""
    depth, end = 0, scene.stop.token[2]
    for token in scene.after:
        if token[0] in OPENING:
            depth += 1
        elif token[0] in (")", "}"):
            depth -= 1
        ends = (
            token[0] in _COMPARISONS or token[0] in CLAUSE_WORDS or token[0] in ("and", "or", "then", "else", ",", END)
        )
        if depth < 0 or (depth == 0 and ends):
            break
        end = token[2]
    return scene.source.text[scene.stop.token[2] : end].strip()


def _begins_clause(token: Token) -> bool:
    return token[0] in ("when", "unless", "forbid", "require", "given", "expect", "better", "worse", "where", ",")


def _bound(scene: Scene) -> Diagnostic | None:
    """`n in 0..priority and …`: `priority` was read as a clause."""
    if len(scene.before) < 2 or scene.before[-2][0] != "RANGE_OP":
        return None
    word = scene.before[-1]
    if scene.word in ("schema", "context") and ":" in scene.stop.expected:
        return errors.computed_domain(scene.place(word), scene.written(word))
    if word[0] not in CLAUSE_WORDS or not scene.wants_value():
        return None
    return errors.clause_word_as_bound(scene.place(word), word[0], scene.written(scene.before[-2]))


def _branch(scene: Scene) -> Diagnostic | None:
    for word in ("then", "else"):
        if word in scene.stop.expected:
            if scene.text in ("elif", "elsif", "elseif"):
                return errors.else_if(scene.span, scene.text)
            if all(token[0] != word for token in scene.after):
                return errors.missing_branch(_last_if(scene), word)
    return None


def _last_if(scene: Scene) -> Span:
    opened = [token for token in scene.before if token[0] == "if"]
    return scene.place(opened[-1]) if opened else scene.span


def _late_name(scene: Scene) -> Diagnostic | None:
    """`any(t.x for t in l)`."""
    if not scene.open or scene.open[-1][0] != "(":
        return None
    at = next((i for i, token in enumerate(scene.before) if token == scene.open[-1]), 0)
    if at == 0 or scene.before[at - 1][0] not in ("count", "any", "all"):
        return None
    word = scene.before[at - 1][0]
    declared = re.search(rf"^[ \t]*def\s+({word})\s*\(", scene.source.text, re.MULTILINE)
    if declared is not None:  # the mistake is there, and is said once however often the function is called
        return errors.reserved_function(Span(scene.source, *declared.span(1)), word)
    return errors.late_name(scene.span, word)


def _swallowed(scene: Scene) -> Diagnostic | None:
    """`when x and score 1`: where a value is missing, the clause word after it was read as one."""
    if len(scene.before) < 2 or scene.terminal not in _VALUES:
        return None
    operator, word = scene.before[-2:]
    begins = word[0] in CLAUSE_WORDS or (word[0] in DECLARATION_WORDS and scene.starts_line(word))
    if not begins or not (operator[0] in _JOINS or operator[0] in CLAUSE_WORDS):
        return None
    return errors.missing_expression(scene.place(word), scene.written(operator), errors.quoted(word[0]))


def _side_by_side(scene: Scene) -> Diagnostic | None:
    """Two values with nothing between them."""
    if (
        "and" not in scene.stop.expected
        or scene.previous is None
        or not (scene.terminal in _VALUES or scene.terminal == "(" or scene.terminal in MISTAKES)
    ):
        return None
    left = scene.written(scene.previous)
    return errors.side_by_side(scene.span, left, scene.text, _OPERATORS.get(scene.text))


def _missing_value(scene: Scene) -> Diagnostic | None:
    if not scene.wants_value():
        return None
    if scene.terminal in ("not", "if"):
        return errors.needs_parentheses(scene.span, scene.text)
    previous = None if scene.previous is None else scene.written(scene.previous)
    return errors.missing_expression(scene.span, previous, scene.found)


# --- causes: one thing wanted, another found ------------------------------------------------------------------------


def _name_or_text(scene: Scene) -> Diagnostic | None:
    expected = scene.stop.expected
    if scene.previous is not None and scene.previous[0] == "from" and scene.terminal == "TEXT":
        return errors.source_without_kind(scene.span, scene.text)
    if scene.terminal == "TEXT" and "NAME" in expected and "INT" not in expected and "TEXT" not in expected:
        return errors.quoted_name(scene.span, scene.text)
    if expected == {"TEXT"} and scene.previous is not None and scene.text.isidentifier():
        return errors.unquoted_text(scene.span, scene.text, scene.written(scene.previous))
    return None


def _unexpected(scene: Scene) -> Diagnostic | None:
    expected = scene.stop.expected
    wanted = [description for terminal, description in _DESCRIPTIONS.items() if terminal in expected]
    if "and" in expected:
        wanted = []
    elif "NAME" not in expected:
        wanted += [f"`{terminal}`" for terminal in _FRAME if terminal in expected]
    return errors.expected(scene.span, scene.found, wanted[:3])


_DESCRIPTIONS = {
    "NAME": "a name",
    "TEXT": "a text in double quotes",
    "QUANTITY": "a number with a unit",
    "DATE": "a date",
}
_FRAME = words("on in by for ( { -> : = , )")

_CAUSES: tuple[Callable[[Scene], Diagnostic | None], ...] = (
    _too_deep,
    _unreadable,
    *habits.HABITS,
    _field_named_from,
    _unclosed,
    _between_declarations,
    habits.named_argument,
    habits.question_mark,
    _late_name,
    habits.swallowed_bound,
    _bound,
    _swallowed,
    _chained,
    _branch,
    _wrong_clause,
    _side_by_side,
    _missing_value,
    _name_or_text,
    _unexpected,
)


def _nearest(word: str, known: Sequence[str]) -> str | None:
    meant = _OTHER_WORDS.get(word.lower())
    if meant in known:
        return meant
    close = get_close_matches(word.lower()[:40], known, n=1, cutoff=0.7)
    return close[0] if close else None


def _in_body(scene: Scene) -> bool:
    """Whether a clause could stand here: nothing but the body's brace is open."""
    return len(scene.open) == 1 and scene.word in _CLAUSES and "}" in scene.stop.expected


def _owners(clause: str) -> list[str]:
    """The declarations that have such a clause."""
    return [word for word, clauses in _CLAUSES.items() if clause in clauses]
