"""The clauses that every body can have: because, from, confidence, priority, valid, status.

In: an `ast.Meta`. Out: a `program.Meta`, with the default for what is wrong, which is reported.
"""

from __future__ import annotations

from ucl.diagnostics import Report
from ucl.semantics import declaration_errors as errors
from ucl.semantics import program as p
from ucl.semantics import types as t
from ucl.semantics.check.declarations.constants import ConstantRange, check_constant, check_constant_range
from ucl.semantics.check.modules import Module
from ucl.semantics.check.scope import RangeLet, Scope, Wrong
from ucl.semantics.program import ALWAYS, Provenance, Status, Validity
from ucl.syntax import ast

_UNSAID = p.Meta()
_MOST_CONFIDENCE, _MOST_PRIORITY = 1, 10


def check_meta(declared: ast.Meta, module: Module, scope: Scope, report: Report) -> p.Meta:
    """`scope` is that of the body, so that a field of its option is known, and refused as not constant."""
    if declared is ast.NO_META:
        return _UNSAID
    return p.Meta(
        because=None if declared.because is None else declared.because.value,
        sources=tuple(_provenance(source) for source in declared.sources),
        confidence=_weight(declared.confidence, "confidence", _MOST_CONFIDENCE, scope, report),
        priority=_weight(declared.priority, "priority", _MOST_PRIORITY, scope, report),
        valid=ALWAYS if declared.valid is None else _validity(declared.valid, module, scope, report),
        status=Status.ACTIVE if declared.status is None else _status(declared.status, report),
    )


def _provenance(declared: ast.SourceClause) -> Provenance:
    at = declared.at
    written = None if at is None else at.span.source.text[at.span.start : at.span.end]
    return Provenance(declared.kind.text, declared.id.value, written)


def _weight(node: ast.Expr | None, what: str, most: int, scope: Scope, report: Report) -> float:
    """A constant number from 0 to `most`; 1 where none is written."""
    if node is None:
        return 1.0
    value: float | None
    if isinstance(node, ast.IntLiteral | ast.FloatLiteral) and not node.mistaken:
        value = node.value
    else:
        checked = check_constant(node, scope, report, t.FLOAT)
        value = checked.value if isinstance(checked, p.Const) and isinstance(checked.value, float) else None
    if value is None:
        return 1.0
    if not 0 <= value <= most:
        report.add(errors.outside_scale(node.span, what, most))
        return 1.0
    return float(value)


def _status(word: ast.Identifier, report: Report) -> Status:
    try:
        return Status(word.text)
    except ValueError:
        report.add(errors.bad_word(word.span, "status", word.text, list(Status)))
        return Status.ACTIVE


def _validity(node: ast.Expr, module: Module, scope: Scope, report: Report) -> Validity:
    """The days from a range of dates, written out or named."""
    found: RangeLet | ConstantRange | None
    if isinstance(node, ast.Range):
        found = check_constant_range(node, scope, report)
    else:
        found = _named_range(node, module, report)
    if found is None:
        return ALWAYS
    if not isinstance(found.element, t.Date):
        report.add(errors.not_days(node.span))
        return ALWAYS
    low, high = (end.value if isinstance(end, p.Const) else None for end in (found.low, found.high))
    first = low if isinstance(low, int) else None
    return Validity(first, high + found.inclusive if isinstance(high, int) else None)


def _named_range(node: ast.Expr, module: Module, report: Report) -> RangeLet | None:
    match node:
        case ast.Name(text=name):
            path = name
        case ast.Attribute(value=ast.Name(text=prefix), name=name):
            path = f"{prefix}.{name}"
        case _:
            report.add(errors.not_days(node.span))
            return None
    found = module.find_path(path)
    if isinstance(found, RangeLet):
        return found
    if not isinstance(found, Wrong):
        known = [name for name, meaning in module.globals.items() if isinstance(meaning, RangeLet)]
        unknown = found is None and module.origin(path) is None
        report.add(errors.unknown_reference(node.span, "range", path, known) if unknown else errors.not_days(node.span))
    return None
