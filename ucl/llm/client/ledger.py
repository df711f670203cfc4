"""A budget that is kept: what a call could cost at most is set aside before it is made, and what it did cost after.

In: a `Budget`, `Prices`, and what servers report. Out: a place in the budget, or `ModelError` where there is none.

A server says only afterwards how many tokens a prompt had. No vocabulary makes more tokens than bytes, so the bytes of
a request are what its input can cost at most. Where that doesn't fit, a call waits for those under way, whose cost will
mostly be a fraction of what was set aside; then it is allowed fewer tokens of output; then it is refused.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from ucl.llm.client.contract import ErrorCode, ModelError, Usage
from ucl.llm.client.settings import Budget, Prices

# With less than this a rule can't be written, so that the call would be for nothing.
_LEAST_OUTPUT = 64
_MILLION = Decimal(1_000_000)


@dataclass(frozen=True)
class Allowance:
    """For one call: `output` tokens may be asked for, and so much may be used."""

    output: int
    tokens: int
    money: Decimal


class Ledger:
    """Of one connection. `clock` gives seconds; the time begins with the first call."""

    def __init__(self, budget: Budget, prices: Prices | None, clock: Callable[[], float]) -> None:
        self._budget = budget
        self._prices = prices
        self._clock = clock
        self._began: float | None = None
        self._calls = 0
        self._tokens = 0
        self._money = Decimal(0)
        self._under_way: list[Allowance] = []
        self._settled = asyncio.Event()

    async def allow(self, request_bytes: int, most_output: int) -> Allowance:
        """Waits for a place. Raises `ModelError` where none can come free."""
        if self._began is None:
            self._began = self._clock()
        while True:
            fits = self._allowance(request_bytes, most_output)
            if fits is not None and (fits.output == most_output or not self._under_way):
                self._under_way.append(fits)
                self._calls += 1
                return fits
            if not self._under_way:
                raise over_budget(self._what_is_short(request_bytes))
            await self._settled.wait()

    def settle(self, allowance: Allowance, usage: Usage | None, may_cost: bool = True) -> Usage:
        """What the call took, with money. Where no one said (`usage` is None), all that was set aside counts as used,
        unless the server can't have worked at all."""
        self._under_way.remove(allowance)
        self._settled.set()
        self._settled = asyncio.Event()
        if usage is None and not may_cost:
            return Usage()
        found = self.priced(Usage(1, None, None, None) if usage is None else usage)
        is_counted = found.input is not None and found.output is not None
        self._tokens += (found.input or 0) + (found.output or 0) if is_counted else allowance.tokens
        self._money += allowance.money if found.money is None else found.money
        return found

    def priced(self, usage: Usage) -> Usage:
        """With money where the prices and the tokens are known, and without where they are not."""
        if self._prices is None or usage.input is None or usage.output is None:
            return Usage(usage.calls, usage.input, usage.cached, usage.output, None)
        cached = usage.cached or 0
        for_cached = self._prices.input if self._prices.cached is None else self._prices.cached
        money = (usage.input - cached) * self._prices.input + cached * for_cached + usage.output * self._prices.output
        return Usage(usage.calls, usage.input, usage.cached, usage.output, money / _MILLION)

    def renew(self) -> None:
        """For another event loop: nothing is under way there."""
        self._under_way.clear()
        self._settled = asyncio.Event()

    def seconds_left(self) -> float | None:
        if self._budget.seconds is None or self._began is None:
            return self._budget.seconds
        return max(0.0, self._budget.seconds - (self._clock() - self._began))

    # --- what is left -----------------------------------------------------------------------------------------------

    def _allowance(self, request_bytes: int, most_output: int) -> Allowance | None:
        if (self._budget.calls is not None and self._calls >= self._budget.calls) or self.seconds_left() == 0:
            return None
        output = min(most_output, self._output_within(request_bytes))
        if output < min(_LEAST_OUTPUT, most_output):
            return None
        return Allowance(output, request_bytes + output, self._cost(request_bytes, output))

    def _output_within(self, request_bytes: int) -> int:
        """How many tokens of output tokens and money leave."""
        most = [10**9]
        if self._budget.tokens is not None:
            most.append(self._budget.tokens - self._tokens - sum(a.tokens for a in self._under_way) - request_bytes)
        if self._budget.money is not None and self._prices is not None:
            left = self._budget.money - self._money - sum(a.money for a in self._under_way)
            left -= self._cost(request_bytes, 0)
            most.append(
                int(left * _MILLION / self._prices.output) if self._prices.output else 10**9 if left >= 0 else 0
            )
        return min(most)

    def _cost(self, input: int, output: int) -> Decimal:
        if self._prices is None:
            return Decimal(0)
        dearest = max(self._prices.input, self._prices.cached or Decimal(0))
        return (input * dearest + output * self._prices.output) / _MILLION

    def _what_is_short(self, request_bytes: int) -> str:
        if self._budget.calls is not None and self._calls >= self._budget.calls:
            return "1 call" if self._budget.calls == 1 else f"{self._budget.calls} calls"
        if self.seconds_left() == 0:
            return f"{self._budget.seconds:g} seconds"
        if self._budget.tokens is not None and self._budget.tokens - self._tokens - request_bytes < _LEAST_OUTPUT:
            return f"{self._budget.tokens} tokens"
        return f"{self._budget.money} of money"


def over_budget(what: str) -> ModelError:
    return ModelError(
        ErrorCode.OVER_BUDGET, f"the budget of {what} would not hold for another call", "raise it, or ask for less"
    )
