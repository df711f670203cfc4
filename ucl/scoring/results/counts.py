"""What is counted over the rows of a table, or of all its parts, and how it is said in a line."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Counts:
    """`rows` in all, `invalid` ones among them; `folds` and `gaps` are local times that were twice or not at all."""

    rows: int = 0
    invalid: int = 0
    folds: int = 0
    gaps: int = 0

    def __add__(self, other: Counts) -> Counts:
        return Counts(
            self.rows + other.rows, self.invalid + other.invalid, self.folds + other.folds, self.gaps + other.gaps
        )

    @property
    def warnings(self) -> list[str]:
        """What a caller should know of the data, in sentences; empty where there is nothing."""
        counts = {
            "{} {} invalid": self.invalid,
            "{} local {} happened twice: the first was taken": self.folds,
            "{} local {} did not happen: moved forward by the gap": self.gaps,
        }
        said = [text for text, count in counts.items() if count]
        nouns = {text: ("row is", "rows are") if "invalid" in text else ("time", "times") for text in said}
        return [text.format(counts[text], nouns[text][counts[text] != 1]) for text in said]

    def summary(self, now: str, zone: str) -> str:
        """One line: rows, warnings, the moment and the zone."""
        rows = f"{self.rows} row" if self.rows == 1 else f"{self.rows} rows"
        return "; ".join([rows, *self.warnings, f"now {now}, zone {zone}"])
