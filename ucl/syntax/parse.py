"""From bytes to the tree.

In: a file's bytes or a `Source`, and a report. Out: the `Source`, and the `File`, always: what could not be read is
reported and left out. Any input ends in time linear in its length.

The machine is an ordinary LALR(1) one on the tables that Lark computes from the grammar (see `table`), with the tree
built as it reduces. It does two things more. Reductions of one symbol, a dozen for each operand, are followed once and
remembered (see `automaton`). And it measures how deep the tree gets, so that no pass after it has to fear for its
stack.

A declaration with a mistake is left out, and reading goes on at the next one; `mistakes` finds the words for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ucl.diagnostics import Diagnostic, Report, Source, Span
from ucl.syntax import ast, errors
from ucl.syntax.reading.automaton import State, Step, automaton
from ucl.syntax.reading.declarations import Builder
from ucl.syntax.reading.lexer import CLAUSE_WORDS, DECLARATION_WORDS, END, IN_WORD, Token, tokens
from ucl.syntax.reading.scene import Stop

if TYPE_CHECKING:
    from ucl.syntax.reading.mending import Mend

LARGEST_SOURCE = 4 * 1024 * 1024
DEEPEST = 100
MOST_ERRORS = 100
# What is nested and not yet closed lies on the stack: some twenty symbols a level, where every operator has its part.
_TALLEST = 25 * DEEPEST


def read_source(path: str, data: bytes, report: Report) -> Source | None:
    """The text of a file, which is UTF-8. None, and a message, where it is no such thing."""
    empty = Source(path, "")
    nowhere = Span(empty, 0, 0)
    if len(data) > LARGEST_SOURCE:
        report.add(errors.large_source(nowhere, LARGEST_SOURCE))
        return None
    try:
        source = Source(path, data.decode("utf-8"))
    except UnicodeDecodeError as error:
        report.add(errors.not_utf8(nowhere, data.count(b"\n", 0, error.start) + 1))
        return None
    unreadable = unreadable_text(source)
    if unreadable is not None:
        report.add(unreadable)
        return None
    return source


def parse(source: Source, report: Report) -> ast.File:
    """The tree of a source; its declarations that have a mistake are left out and reported."""
    unreadable = unreadable_text(source)
    if unreadable is not None:
        report.add(unreadable)
        return ast.File(source, ())
    comments: list[tuple[int, int]] = []
    found = Few()
    machine = Machine(found, comments)
    declarations: list[ast.Declaration] = []
    position: int | None = 0
    while position is not None and not found.full:
        read, stop = machine.run(source, position)
        declarations.extend(read)
        if stop is None:
            break
        found.add(_explain(source, stop))
        if _continues(stop, declarations):
            del declarations[-1]
        position = _next_declaration(source.text, stop)
        while position is not None and comments and comments[-1][0] >= position:
            comments.pop()
    check_order(declarations, found)
    report.diagnostics.extend(found.diagnostics)
    return ast.File(
        source, tuple(declarations), tuple(ast.Comment(Span(source, a, b), source.text[a:b]) for a, b in comments)
    )


def unreadable_text(source: Source) -> Diagnostic | None:
    """Why a text is no program at all, if it is none, in whatever way it came in."""
    nowhere = Span(source, 0, 0)
    if len(source.text) > LARGEST_SOURCE:
        return errors.large_source(nowhere, LARGEST_SOURCE)
    if "\0" in source.text:
        return errors.binary_file(nowhere)
    if not source.text.isascii() and _SURROGATE.search(source.text):
        return errors.half_characters(nowhere)
    return None


_SURROGATE = re.compile("[\ud800-\udfff]")


def _mend(source: Source, token: Token, takes: Callable[[str], bool], report: Report) -> Mend | None:
    from ucl.syntax.reading.mending import mend  # only who makes a slip waits for it

    return mend(source, token, takes, report)


def _explain(source: Source, stop: Stop) -> Diagnostic:
    from ucl.syntax.reading.mistakes import explain  # only who makes a mistake waits for it

    return explain(source, stop)


class Few(Report):
    """A report that says nothing twice, and ends after so many diagnostics as a person could want to read."""

    @property
    def full(self) -> bool:
        return len(self.diagnostics) > MOST_ERRORS

    def add(self, found: Diagnostic) -> None:
        if len(self.diagnostics) < MOST_ERRORS:
            if found not in self.diagnostics:
                self.diagnostics.append(found)
        elif not self.full:
            self.diagnostics.append(errors.too_many_errors(found.span))


_Mark = tuple[State, int, int]
"""The state after a symbol, where that begins, and how deep its tree is."""


class Machine:
    """Reads one stretch of declarations after another. `comments` takes the places of the comments that it passes."""

    def __init__(self, report: Few, comments: list[tuple[int, int]]) -> None:
        self._report = report
        self._comments = comments
        self._automaton = automaton()
        self._builder = Builder(report, comments)
        # One entry for each symbol read. Below all marks lies that of the initial state.
        self._marks: list[_Mark] = []
        self._values: list[Any] = []

    def forget(self) -> None:
        """The next stretch is of another text."""
        self._comments.clear()

    def run(self, source: Source, position: int) -> tuple[list[ast.Declaration], Stop | None]:
        """The declarations from `position` up to the first mistake that can't be mended, and that mistake."""
        automaton, builder = self._automaton, self._builder
        marks: list[_Mark] = [(automaton.initial, position, 0)]
        values: list[Any] = []
        self._marks, self._values = marks, values
        text = source.text
        stop: Stop | None = None
        mended: str | None = None
        builder.forget()
        nesting = last_end = 0
        finish = END, len(text), len(text)
        stream = tokens(text, position, self._comments)
        terminal, start, end = next(stream)
        following, next_start, next_end = next(stream, finish)
        step, moves = automaton.course(automaton.initial, terminal)
        while True:
            if step is not None:
                build, parts = step.build, step.parts
                begin = marks[-step.size][1] if step.size else last_end
                depth = 0
                for place in step.nested:
                    deep = marks[place][2]
                    if deep > depth:
                        depth = deep
                depth += step.deeper
                if build is None:
                    made = _gathered(step, values) if step.gathers else values[-1]
                elif parts == 1:
                    made = build(builder, Span(source, begin, last_end), values[step.first])
                elif parts == 2:
                    made = build(builder, Span(source, begin, last_end), values[step.first], values[step.last])
                else:
                    made = build(builder, Span(source, begin, last_end), *_gathered(step, values))
                if step.size:
                    del marks[step.gone], values[step.gone]
                values.append(made)
                below = marks[-1][0]
                if depth > DEEPEST:
                    marks.append((below, begin, depth))
                    return self._read(), self._stop((terminal, begin, last_end), too_deep=True)
                landing = below.landings.get((step.target, terminal))
                if landing is None:
                    landing = automaton.land(below, step.target, terminal)
                state, step, moves = landing
                marks.append((state, begin, depth))
            elif moves is not None:
                move = moves.get(following)
                if move is None:
                    move = automaton.move(marks[-1][0], terminal, following)
                state, build, bracket, step, moves = move
                if len(marks) > _TALLEST:
                    return self._read(), self._stop((terminal, start, end), too_deep=True)
                written = text[start:end] if mended is None else mended
                marks.append((state, start, 0))
                values.append(written if build is None else build(builder, Span(source, start, end), written))
                last_end, mended = end, None
                if bracket:
                    nesting += bracket
                    if nesting > DEEPEST + 1:
                        return self._read(), self._stop((terminal, start, end), too_deep=True)
                terminal, start, end = following, next_start, next_end
                following, next_start, next_end = next(stream, finish)
            else:
                if terminal == END and marks[-1][0] is automaton.accepting:
                    return self._read(), stop
                token = terminal, start, end
                found = None if self._report.full else _mend(source, token, self._takes, self._report)
                if found is None:
                    stop = self._stop(token)
                    if not stop.complete:
                        return self._read(), stop
                    terminal = END
                else:
                    if found.end != end:
                        end = found.end
                        self._unread(start)
                        stream = tokens(text, end, self._comments)
                        following, next_start, next_end = next(stream)
                    if found.terminal is None:
                        terminal, start, end = following, next_start, next_end
                        following, next_start, next_end = next(stream, finish)
                    else:
                        terminal, mended = found.terminal, found.text
                step, moves = automaton.course(marks[-1][0], terminal)

    def _read(self) -> list[ast.Declaration]:
        """The declarations that are complete: the list that the start rule gathers lies at the bottom."""
        declarations: list[ast.Declaration] = self._values[0] if self._gathering() else []
        return declarations

    def _gathering(self) -> bool:
        return bool(self._values) and isinstance(self._values[0], list)

    def _stop(self, token: Token, too_deep: bool = False) -> Stop:
        self._unread(token[1])
        unread = self._marks[2:3] if self._gathering() else self._marks[1:2]
        return Stop(
            start=unread[0][1] if unread else token[1],
            token=token,
            expected=frozenset(filter(self._takes, self._automaton.row(self._marks[-1][0]))),
            complete=not too_deep and self._takes(END),
            limit=DEEPEST if too_deep else None,
        )

    def _takes(self, terminal: str) -> bool:
        return self._automaton.takes([state for state, _, _ in self._marks], terminal)

    def _unread(self, start: int) -> None:
        """Comments behind a token were passed in looking at what follows it."""
        while self._comments and self._comments[-1][0] >= start:
            self._comments.pop()


def _gathered(step: Step, values: list[Any]) -> list[Any]:
    """The values that count of those on top of the stack."""
    first = -step.size
    if step.grows:
        longer: list[Any] = values[first]  # taken over, so that a list that grows one by one costs linear time
        longer.append(values[-1])
        return longer
    gathered: list[Any] = []
    for pick in step.picks:
        if pick >= 0:
            gathered.append(values[first + pick])
        elif pick == -1:
            gathered.append(None)
        else:
            gathered += values[first - 2 - pick]
    return gathered


_WORDS = "|".join(DECLARATION_WORDS)
_DECLARATION = re.compile(
    rf"^(?P<flush>{_WORDS})(?!{IN_WORD}|[ \t]*[:,.])"
    rf"|(?:^|\}})[ \t]*(?P<word>(?:{_WORDS})(?=[ \t]+[^\W\d]|[ \t]*\{{|[ \t]*\"))",
    re.MULTILINE,
)

DECLARATION_LINE = re.compile(rf"^(?:{_WORDS})(?!{IN_WORD}|[ \t]*[:,.])", re.MULTILINE)
"""Where a declaration begins a line, as the layout has it."""


def _next_declaration(text: str, stop: Stop) -> int | None:
    """Where reading can go on: a declaration word flush left, or one that has something to declare and begins a line or
    follows a closing brace."""
    token = stop.token[1]
    line = text.rfind("\n", 0, token) + 1
    read = token if stop.complete else stop.start
    for match in _DECLARATION.finditer(text, max(read, line)):
        before = text[text.rfind("\n", 0, match.start() + 1) + 1 : match.start()]
        found = match.start(match.lastgroup or "word")
        if found > read and "#" not in before:  # what was read is not read again, so that reading ends
            return found
    return None


def _continues(stop: Stop, declarations: list[ast.Declaration]) -> bool:
    """Whether a clause stands behind the body that it belongs to, which then says less than was meant."""
    if not stop.complete or stop.token[0] not in CLAUSE_WORDS or not declarations:
        return False
    return isinstance(declarations[-1], ast.Body)


def check_order(declarations: list[ast.Declaration], report: Report) -> None:
    """`module` comes first; it and `timezone` are given once."""
    seen: dict[type[ast.Declaration], Span] = {}
    for index, declaration in enumerate(declarations):
        if not isinstance(declaration, (ast.ModuleDeclaration, ast.Timezone)):
            continue
        word = "module" if isinstance(declaration, ast.ModuleDeclaration) else "timezone"
        first = seen.setdefault(type(declaration), declaration.span)
        if first is not declaration.span:
            report.add(errors.repeated_clause(declaration.span, word, first))
        elif word == "module" and index:
            report.add(errors.module_not_first(declaration.span))
