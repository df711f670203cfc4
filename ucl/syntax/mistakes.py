"""stub"""
from __future__ import annotations
from dataclasses import dataclass
from ucl.diagnostics import Report, Source, Span, diagnostic
from ucl.syntax.lexer import Token

@dataclass(frozen=True, slots=True)
class Stop:
    start: int
    token: Token
    expected: frozenset[str]
    complete: bool
    too_deep: bool = False

@dataclass(frozen=True, slots=True)
class Mend:
    terminal: str | None
    end: int
    text: str | None = None

def mend(source, token, row, report):
    kind, start, end = token
    if kind == ">=" and ">" in row:
        return Mend(">", start + 1)
    if kind == "QUALIFIER":
        word = "context" if source.text.startswith("context", start) else "memory"
        return Mend(word, start + len(word))
    return None

def report_stop(source, stop, report):
    report.add(diagnostic("too-deep" if stop.too_deep else "syntax", Span(source, stop.token[1], stop.token[2]), f"unexpected {stop.token} {sorted(stop.expected)[:9]}"))
