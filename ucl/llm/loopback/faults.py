"""What servers do wrong, to be done on purpose.

In: a list of faults, one for each request in turn. Out: nothing by itself; `server` does them.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Kind(StrEnum):
    """In place of an answer: `RATE_LIMITED` (429), `FAILING` (`status`), `WRONG_TYPE` (a page), `HUGE` (`size` bytes),
    `NO_JSON`, `NO_UTF8`, `DISCONNECT`, `ERROR_BODY` (an error with status 200). An answer gone wrong: `CUT` in the
    middle of its bytes, `TRUNCATED` at the most output, `IGNORED` constraint, `PROSE` and no call, `WRONG_JSON` of
    another form, `EMPTY`, `REFUSAL`, `SEVERAL` calls, `FUNCTION` in place of a custom tool, `NO_USAGE`, `HALF` of a
    character. `SLOW`: all right, after `seconds`. `NONE`: all right."""

    NONE = "none"
    RATE_LIMITED = "rate-limited"
    FAILING = "failing"
    WRONG_TYPE = "wrong-type"
    HUGE = "huge"
    NO_JSON = "no-json"
    NO_UTF8 = "no-utf8"
    DISCONNECT = "disconnect"
    ERROR_BODY = "error-body"
    CUT = "cut"
    TRUNCATED = "truncated"
    IGNORED = "ignored"
    PROSE = "prose"
    WRONG_JSON = "wrong-json"
    EMPTY = "empty"
    REFUSAL = "refusal"
    SEVERAL = "several"
    FUNCTION = "function"
    NO_USAGE = "no-usage"
    HALF = "half"
    SLOW = "slow"


@dataclass(frozen=True)
class Fault:
    """`wait` is sent as `Retry-After`. `message` is what an error says; `{key}` in it becomes the key that was sent."""

    kind: Kind
    status: int = 500
    wait: str | None = None
    seconds: float = 0.0
    size: int = 5_000_000
    message: str = "it was told to fail"
    code: str | None = None


GOOD = Fault(Kind.NONE)
