"""From bytes to the tree.

In: a file's bytes or a `Source`, and a report. Out: the `Source`, and the `File`, always: what could not be read is
reported and left out. Any input ends in time linear in its length.

The machine is an ordinary LALR(1) one on the tables that Lark computes from the grammar (see `table`), with the tree
built as it reduces. It does two things more. Chains of unit reductions, a dozen for each operand, are followed once
and remembered. And it measures how deep the tree gets, so that no pass after it has to fear for its stack.

A declaration with a mistake is left out, and reading goes on at the next one; `mistakes` finds the words for it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ucl.diagnostics import Diagnostic, Report, Source, Span
from ucl.frozen import frozen
from ucl.syntax import ast, errors
from ucl.syntax.reading.declarations import DECODERS_ONLY, DEEPENING, Builder
from ucl.syntax.reading.lexer import CLAUSE_WORDS, DECLARATION_WORDS, END, Token, tokens
from ucl.syntax.reading.mending import mend
from ucl.syntax.reading.scene import Stop
from ucl.syntax.reading.table import Effect, Reduction, load

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


@frozen
class _Step:
    """A reduction, made ready: with the builder's function, and with what the machine asks of it most, answered.

    `renames`: it changes neither value nor extent. `gathers`: its value is the list of its parts. `wraps`: it has one
    symbol, of whose value `build` makes another. `deeper`: the levels it adds, 1 or 0.
    """

    build: Callable[..., Any]
    target: str
    size: int
    picks: tuple[int, ...]
    renames: bool
    gathers: bool
    wraps: bool
    deeper: int


_Symbol = tuple[Any, int, int]
"""The value of a symbol, where it begins, and how deep its tree is."""


class Machine:
    """Reads one stretch of declarations after another. `comments` takes the places of the comments that it passes."""

    def __init__(self, report: Few, comments: list[tuple[int, int]]) -> None:
        self._source = Source("", "")
        self._report = report
        self._comments = comments
        self._table = load()
        self._builder = Builder(report, comments)
        self._steps = [_step(self._builder, reduction) for reduction in self._table.reductions]
        # One entry for each symbol read: the state after it, and what it is. Below all lies the initial state.
        self._states: list[int] = []
        self._symbols: list[_Symbol] = []

    def forget(self) -> None:
        """The next stretch is of another text."""
        self._comments.clear()

    def run(self, source: Source, position: int) -> tuple[list[ast.Declaration], Stop | None]:
        """The declarations from `position` up to the first mistake that can't be mended, and that mistake."""
        self._source = source
        states: list[int] = [self._table.initial]
        symbols: list[_Symbol] = []
        self._states, self._symbols = states, symbols
        text, steps = source.text, self._steps
        actions, landings = self._table.actions, self._table.landings
        stop: Stop | None = None
        mended: str | None = None
        self._builder.forget()
        nesting = last_end = 0
        stream = tokens(text, position, self._comments)
        terminal, start, end = next(stream)
        while True:
            action = actions[states[-1]].get(terminal)
            if action is None:
                if terminal == END and states[-1] == self._table.accepting:
                    return self._read(), stop
                found = None if self._report.full else mend(source, (terminal, start, end), self._takes, self._report)
                if found is None:
                    stop = self._stop((terminal, start, end))
                    if not stop.complete:
                        return self._read(), stop
                    terminal = END
                else:
                    if found.end != end:
                        end = found.end
                        stream = tokens(text, end, self._comments)
                    if found.terminal is None:
                        terminal, start, end = next(stream)
                    else:
                        terminal, mended = found.terminal, found.text
            elif action < 0:
                step = steps[-1 - action]
                if step.renames:
                    states.pop()
                elif step.wraps:
                    states.pop()
                    value, begin, depth = symbols[-1]
                    symbols[-1] = (step.build(Span(source, begin, last_end), value), begin, depth)
                else:
                    self._reduce(step, last_end)
                    if symbols[-1][2] > DEEPEST:
                        return self._read(), self._stop((terminal, symbols[-1][1], last_end), too_deep=True)
                key = (states[-1], step.target, terminal)
                landed = landings.get(key)
                states.append(self._table.land(*key) if landed is None else landed)
            else:
                if len(states) > _TALLEST:
                    return self._read(), self._stop((terminal, start, end), too_deep=True)
                states.append(action)
                symbols.append((text[start:end] if mended is None else mended, start, 0))
                last_end, mended = end, None
                if terminal in _BRACKETS:
                    nesting += _BRACKETS[terminal]
                    if nesting > DEEPEST + 1:
                        return self._read(), self._stop((terminal, start, end), too_deep=True)
                terminal, start, end = next(stream)

    def _reduce(self, step: _Step, end: int) -> None:
        """Replace the top of the stack by what `step` makes of it; the state after it is left to find."""
        size = step.size
        begin, depth = end, 0
        children: list[_Symbol] = []
        if size:
            children = self._symbols[-size:]
            del self._states[-size:], self._symbols[-size:]
            begin = children[0][1]
        picked: list[Any] = []
        for pick in step.picks:
            if pick == -1:
                picked.append(None)
                continue
            value, _, deep = children[pick if pick >= 0 else -2 - pick]
            if deep > depth:
                depth = deep
            if pick >= 0:
                picked.append(value)
            elif picked:
                picked.extend(value)
            else:
                picked = value  # taken over, so that a list that grows element by element costs linear time
        made = picked if step.gathers else step.build(Span(self._source, begin, end), *picked)
        self._symbols.append((made, begin, depth + step.deeper))

    def _read(self) -> list[ast.Declaration]:
        """The declarations that are complete: the list that the start rule gathers lies at the bottom."""
        declarations: list[ast.Declaration] = self._symbols[0][0] if self._gathering() else []
        return declarations

    def _gathering(self) -> bool:
        return bool(self._symbols) and isinstance(self._symbols[0][0], list)

    def _stop(self, token: Token, too_deep: bool = False) -> Stop:
        unread = self._symbols[1:2] if self._gathering() else self._symbols[:1]
        row = self._table.actions[self._states[-1]]
        return Stop(
            start=unread[0][1] if unread else token[1],
            token=token,
            expected=frozenset(terminal for terminal in row if self._takes(terminal)),
            complete=not too_deep and self._takes(END),
            limit=DEEPEST if too_deep else None,
        )

    def _takes(self, terminal: str) -> bool:
        """Whether `terminal` can come next: a row also lists reductions that other contexts need."""
        states = self._states.copy()
        while (action := self._table.actions[states[-1]].get(terminal)) is not None:
            if action >= 0:
                return True
            reduction = self._table.reductions[-1 - action]
            if reduction.size:
                del states[-reduction.size :]
            states.append(self._table.gotos[states[-1]][reduction.target])
        return terminal == END and states[-1] == self._table.accepting


_BRACKETS = {"(": 1, ")": -1, "{": 1, "}": -1}


def _step(builder: Builder, reduction: Reduction) -> _Step:
    builds = reduction.effect is Effect.BUILD
    known = builds and reduction.name not in DECODERS_ONLY
    return _Step(
        build=getattr(builder, reduction.name) if known else _unused,
        target=reduction.target,
        size=reduction.size,
        picks=reduction.picks,
        renames=reduction.is_unit,
        gathers=reduction.effect is Effect.GATHER,
        wraps=known and reduction.size == 1 and reduction.picks in ((0,), ()),
        deeper=int(reduction.name in DEEPENING),
    )


def _unused(*_: Any) -> None:
    """For what builds nothing, and for the rules that only decoders follow."""
    raise AssertionError("no token of ours leads here")


_WORDS = "|".join(DECLARATION_WORDS)
_DECLARATION = re.compile(
    rf"^(?P<flush>{_WORDS})(?!\w|[ \t]*[:,.])"
    rf"|(?:^|\}})[ \t]*(?P<word>(?:{_WORDS})(?=[ \t]+[^\W\d]|[ \t]*\{{|[ \t]*\"))",
    re.MULTILINE,
)

DECLARATION_LINE = re.compile(rf"^(?:{_WORDS})(?!\w|[ \t]*[:,.])", re.MULTILINE)
"""Where a declaration begins a line, as the layout has it."""


def _next_declaration(text: str, stop: Stop) -> int | None:
    """Where reading can go on: a declaration word flush left, or one that has something to declare and begins a line or
    follows a closing brace."""
    token = stop.token[1]
    line = text.rfind("\n", 0, token) + 1
    position = max(token if stop.complete else stop.start + 1, line)
    for match in _DECLARATION.finditer(text, position):
        before = text[text.rfind("\n", 0, match.start() + 1) + 1 : match.start()]
        if "#" not in before:
            return match.start(match.lastgroup or "word")
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
