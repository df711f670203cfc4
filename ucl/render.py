"""Diagnostics for a reader: text for a terminal, JSON, SARIF 2.1.0 and GitHub's workflow commands.

In: diagnostics in the order in which they shall be read. Out: strings. Nothing here prints, and nothing from a program
or a path reaches a terminal raw: control and bidirectional characters are shown as escapes.
"""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import quote

from ucl.diagnostics import Diagnostic, Severity, Span, Witness
from ucl.widths import text_width

# A line longer than this is shown as a window around the place that is meant.
_WINDOW = 140
_TAB = 4
# Characters that turn the direction of what follows; they can make a source look like something that it is not.
_BIDIRECTIONAL = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

_COLOURS = {Severity.ERROR: "1;31", Severity.WARNING: "1;33", Severity.INFO: "1;36"}
_BOLD, _BLUE, _GREEN = "1", "1;34", "1;32"


def printable(text: str) -> str:
    """`text` with every character that a terminal would obey written as an escape; newlines and tabs stay."""
    if text.isprintable() and _BIDIRECTIONAL.isdisjoint(text):
        return text
    return "".join(c if _harmless(c) else c.encode("unicode_escape").decode("ascii") for c in text)


def _harmless(character: str) -> bool:
    if character in "\n\t":
        return True
    return character not in _BIDIRECTIONAL and unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp")


# --- text -----------------------------------------------------------------------------------------------------------


def to_text(diagnostics: Iterable[Diagnostic], colour: bool = False) -> str:
    """Each diagnostic with its line and carets, a blank line between two; empty for none."""
    return "\n\n".join(_Painter(colour).diagnostic(found) for found in diagnostics)


def summary(diagnostics: Sequence[Diagnostic]) -> str:
    """`2 errors, 1 warning`; `no problems` for none."""
    counts = [(severity, sum(d.severity is severity for d in diagnostics)) for severity in Severity]
    said = [f"{n} {severity}{'' if n == 1 else 's'}" for severity, n in counts if n]
    return ", ".join(said) or "no problems"


class _Painter:
    """Lays out one diagnostic, with or without colour."""

    def __init__(self, colour: bool) -> None:
        self._colour = colour

    def _paint(self, code: str, text: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._colour and text else text

    def diagnostic(self, found: Diagnostic) -> str:
        colour = _COLOURS[found.severity]
        head = self._paint(colour, f"{found.severity}[{found.code}]") + self._paint(
            _BOLD, f": {printable(found.message)}"
        )
        lines = [head, *self._excerpt(found.span, colour)]
        if found.witness is not None:
            lines.append(self._remark("shown by", _witness_text(found.witness)))
        if found.certainty == "possible":
            lines.append(self._remark("possible", "part of this lies outside what can be decided"))
        if found.help is not None:
            lines.append(self._remark("help", found.help))
        for note in found.notes:
            lines.append(self._paint(_BLUE, "note") + f": {printable(note.message)}")
            lines.extend(self._excerpt(note.span, _BLUE))
        return "\n".join(lines)

    def _remark(self, label: str, text: str) -> str:
        return "  = " + self._paint(_GREEN, label) + ": " + printable(text).replace("\n", "\n    ")

    def _excerpt(self, span: Span, colour: str) -> Iterator[str]:
        line, column = span.source.position(span.start)
        gutter = " " * len(str(line))
        bar = self._paint(_BLUE, "|")
        yield f"{gutter}{self._paint(_BLUE, '-->')} {printable(span.source.path)}:{line}:{column}"
        shown, before, marked = _mark(span, line, column)
        if not shown.strip():
            return
        yield f"{gutter} {bar}"
        yield f"{self._paint(_BLUE, str(line))} {bar} {shown}"
        yield f"{gutter} {bar} {' ' * before}{self._paint(colour, '^' * marked)}"


def _mark(span: Span, line: int, column: int) -> tuple[str, int, int]:
    """The line as shown, the width before the marked part, and the width of that part (at least 1)."""
    text = span.source.line_text(line).rstrip("\r")
    start = column - 1
    end = max(min(start + span.end - span.start, len(text)), start + 1)
    first = max(0, min(start - _WINDOW // 3, len(text) - _WINDOW))
    last = first + _WINDOW
    lead, tail = "…" if first else "", "…" if last < len(text) else ""
    before = lead + _shown(text[first:start])
    marked = _shown(text[start : min(end, last)])
    return before + marked + _shown(text[end:last]) + tail, text_width(before), max(text_width(marked), 1)


def _shown(text: str) -> str:
    return printable(text.replace("\t", " " * _TAB))


def _witness_text(witness: Witness) -> str:
    option = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in witness.option.items())
    context = ", ".join(f"{name} = {json.dumps(value, ensure_ascii=False)}" for name, value in witness.context.items())
    total = "" if witness.total is None else f", which scores {witness.total}"
    return (option or "any option") + (f" with {context}" if context else "") + total


# --- JSON -----------------------------------------------------------------------------------------------------------


def to_json(diagnostics: Iterable[Diagnostic]) -> str:
    """The object of INTERFACE §2 on one line."""
    return json.dumps({"diagnostics": [found.as_json() for found in diagnostics]}, ensure_ascii=False)


# --- SARIF ----------------------------------------------------------------------------------------------------------

_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}


def to_sarif(diagnostics: Sequence[Diagnostic], version: str) -> str:
    """A SARIF 2.1.0 log with one run; `version` is the compiler's. Each code comes with what it means."""
    codes = sorted({found.code for found in diagnostics})
    driver = {"name": "uclc", "version": version, "rules": [_sarif_rule(code) for code in codes]}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(found, codes.index(found.code)) for found in diagnostics],
    }
    schema = "https://json.schemastore.org/sarif-2.1.0.json"
    return json.dumps({"$schema": schema, "version": "2.1.0", "runs": [run]}, ensure_ascii=False, indent=2)


def _sarif_rule(code: str) -> dict[str, Any]:
    from ucl.codes import documented

    known = documented()[code]
    rule: dict[str, Any] = {
        "id": code,
        "shortDescription": {"text": known.meaning},
        "defaultConfiguration": {"level": _LEVELS[known.severity]},
    }
    return rule | ({"help": {"text": known.advice}} if known.advice else {})


def _sarif_result(found: Diagnostic, index: int) -> dict[str, Any]:
    text = found.message if found.help is None else f"{found.message}. Help: {found.help}"
    result: dict[str, Any] = {
        "ruleId": found.code,
        "ruleIndex": index,
        "level": _LEVELS[found.severity],
        "message": {"text": text},
        "locations": [{"physicalLocation": _sarif_place(found.span)}],
    }
    if found.notes:
        result["relatedLocations"] = [
            {"physicalLocation": _sarif_place(note.span), "message": {"text": note.message}} for note in found.notes
        ]
    said = found.as_json()
    extra = {key: said[key] for key in ("rules", "witness", "certainty") if said[key]}
    return result | ({"properties": extra} if extra else {})


def _sarif_place(span: Span) -> dict[str, Any]:
    line, column = span.source.position(span.start)
    end_line, end_column = span.end_position
    region = {"startLine": line, "startColumn": column, "endLine": end_line, "endColumn": end_column}
    return {"artifactLocation": {"uri": _uri(span.source.path)}, "region": region}


def _uri(path: str) -> str:
    # A name that is no UTF-8 comes with surrogates for its bytes.
    quoted = quote(path.replace("\\", "/").encode("utf-8", "surrogateescape"))
    return f"file://{quoted}" if quoted.startswith("/") else quoted


# --- GitHub ---------------------------------------------------------------------------------------------------------

_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def to_github(diagnostics: Iterable[Diagnostic]) -> str:
    """One workflow command a line, which GitHub shows beside the changed lines."""
    return "\n".join(map(_github, diagnostics))


def _github(found: Diagnostic) -> str:
    said = found.as_json()
    properties = {
        "file": said["file"],
        "line": said["line"],
        "endLine": said["end_line"],
        "col": said["column"],
        "endColumn": said["end_column"],
        "title": said["code"],
    }
    where = ",".join(f"{key}={_github_property(str(value))}" for key, value in properties.items())
    lines = [found.message]
    lines += [] if found.witness is None else [f"shown by: {_witness_text(found.witness)}"]
    lines += [] if found.help is None else [f"help: {found.help}"]
    text = "\n".join(lines)
    return f"::{_COMMANDS[found.severity]} {where}::{_github_data(text)}"


def _github_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _github_property(text: str) -> str:
    return _github_data(text).replace(":", "%3A").replace(",", "%2C")
