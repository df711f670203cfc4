"""Results for the eye: the columns that tell rows apart, notebooks' tables, plots."""

from __future__ import annotations

import datetime as dt
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ucl
from ucl.scoring.display.glance import cells, telling_columns
from ucl.scoring.display.svg import Bar, bars
from ucl.tables.files import read_table
from ucl.widths import cut, text_width

EXAMPLES = Path(__file__).parent.parent / "examples"
SVG = "{http://www.w3.org/2000/svg}"
PROGRAM = """\
schema S { title: text  n: int in 0..=100  start: datetime?  kind: "a" | "b" = "a" }
rule up on S { when n > 3 score 0.5 }
rule down on S { when n > 5 score -0.75 }
rule more on S { when n > 3 score 0.125 }
constraint few on S { forbid when n > 90 }
"""
EVIL = '<script>alert("1")</script>&\'\x1b[2J\x00'


@pytest.fixture(scope="module")
def program() -> ucl.CompiledProgram:
    return ucl.compile(PROGRAM)


def rows(*numbers: int, title: str = "x") -> list[dict[str, Any]]:
    return [{"title": title, "n": n} for n in numbers]


# --- the columns that tell rows apart -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("example", "table", "expected"),
    [
        ("meetings/meetings", "meetings/meetings", ["title", "start"]),
        ("mail/mail", "mail/mail", ["sender", "subject", "arrived"]),
        ("cambridge/trains", "cambridge/trains", ["trainID", "departure", "leaveAt"]),
        ("flights/flights", "flights/flights", ["flight_number", "origin", "date"]),
        ("travel_choices/choices", "travel_choices/choices", ["mode"]),
    ],
)
def test_rows_of_the_examples_are_known_by(example: str, table: str, expected: list[str]) -> None:
    schema = ucl.load(EXAMPLES / f"{example}.ucl").semantic.rules[0].schema
    assert telling_columns(read_table(str(EXAMPLES / f"{table}.csv")), schema) == expected


@pytest.mark.parametrize(
    ("table", "group_by", "expected"),
    [
        ({"n": [1], "kind": ["a"]}, None, ["kind"]),
        ({"n": [1]}, None, ["n"]),
        ({"n": [1], "code": ["x7"]}, None, ["code"]),
        ({"n": [1], "number": ["12"], "m": [2], "o": [3]}, None, ["n", "number"]),
        ({"n": [1], "when": [dt.date(2026, 3, 4)]}, None, ["when"]),
        ({"title": ["x"], "n": [1], "set": [1]}, "set", ["set", "title"]),
        ({}, None, []),
    ],
)
def test_what_stands_in_where_there_is_no_name(
    program: ucl.CompiledProgram, table: dict[str, list[Any]], group_by: str | None, expected: list[str]
) -> None:
    assert telling_columns(pa.table(table), program.schemas["S"], group_by) == expected


def test_cells_are_short_and_in_words() -> None:
    moment = dt.datetime(2026, 3, 4, 13, tzinfo=dt.UTC)
    table = pa.table(
        {"a": ["x" * 100], "b": [None], "c": [moment], "d": [["p", "q"]], "e": [True], "f": ["两\n会" * 20]}
    )
    (found,) = cells(table, table.column_names, [0], 12)
    assert found == ["x" * 11 + "…", "", "2026-03-04…", "p; q", "true", "两 会两 会…"]


@given(st.text(max_size=60), st.integers(1, 20))
def test_cut_text_fits(text: str, width: int) -> None:
    assert text_width(cut(text, width)) <= width
    assert "\n" not in cut(text, width)


# --- notebooks ------------------------------------------------------------------------------------------------------


class Reader(HTMLParser):
    """Tags that open and close, and the text of each cell of each row."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: set[str] = set()
        self.rows: list[list[str]] = []

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.open.append(tag)
        self.seen.add(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.rows[-1][-1] += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    assert reader.open == []
    return reader


def test_a_notebook_shows_the_first_rows(program: ucl.CompiledProgram) -> None:
    told = read(program.score(rows(4, 95, 101))._repr_html_())
    assert told.rows == [
        ["row", "title", "n", "total", "decision", "fired"],
        ["0", "x", "4", "0.625", "accept", "up, more"],
        ["1", "x", "95", "-0.125", "infeasible", "up, down, more, violates few"],
        ["2", "x", "101", "", "invalid: n domain"],
    ]


def test_a_long_and_wide_table_is_cut(program: ucl.CompiledProgram) -> None:
    table = {"n": list(range(50)), "title": ["t"] * 50} | {f"c{i}": [i] * 50 for i in range(9)}
    html = program.score(table)._repr_html_()
    assert len(read(html).rows) == 21
    assert len(read(html).rows[0]) == 9
    assert "… and 30 more rows and 6 more columns" in html


def test_an_empty_table_is_shown_too(program: ucl.CompiledProgram) -> None:
    table = pa.table({"title": pa.array([], pa.string()), "n": pa.array([], pa.int64())})
    html = program.score(table)._repr_html_()
    assert len(read(html).rows) == 1
    assert "0 rows" in html
    assert "more" not in html


def test_nothing_of_the_data_is_markup(program: ucl.CompiledProgram) -> None:
    html = program.score([{"title": EVIL, "n": 1, EVIL: EVIL}])._repr_html_()
    assert read(html).seen == {"table", "caption", "thead", "tbody", "tr", "th", "td"}
    assert "<script" not in html


# --- plots ----------------------------------------------------------------------------------------------------------


def drawing(svg: object) -> ElementTree.Element:
    return ElementTree.fromstring(str(svg))


def drawn_bars(svg: object) -> dict[str, tuple[float, float]]:
    """By label, where a bar begins and ends on the paper."""
    found = {}
    for group in drawing(svg).iter(f"{SVG}g"):
        bar, label = group.find(f"{SVG}rect"), group.find(f"{SVG}text")
        assert bar is not None
        assert label is not None
        start = float(bar.attrib["x"])
        found[str(label.text)] = (start, start + float(bar.attrib["width"]))
    return found


def described(svg: object) -> tuple[str, str]:
    """The title and the description, found as a screen reader finds them."""
    root = drawing(svg)
    names = root.attrib["aria-labelledby"].split()
    by_id = {element.attrib["id"]: str(element.text) for element in root if "id" in element.attrib}
    assert root.attrib["role"] == "img"
    return by_id[names[0]], by_id[names[1]]


def test_a_waterfall_leads_from_nothing_to_the_total(program: ucl.CompiledProgram) -> None:
    plot = program.score(rows(1, 8, title="Lunch")).plot(1)
    found = drawn_bars(plot)
    assert list(found) == ["up", "down", "more", "total"]
    zero = float(next(drawing(plot).iter(f"{SVG}line")).attrib["x1"])
    scale = (found["up"][1] - found["up"][0]) / 0.5
    levels = {"up": (0.0, 0.5), "down": (-0.25, 0.5), "more": (-0.25, -0.125), "total": (-0.125, 0.0)}
    for name, (low, high) in levels.items():
        assert found[name] == pytest.approx((zero + low * scale, zero + high * scale), abs=0.02)
    title, text = described(plot)
    assert title == "Row 1 · Lunch"
    assert text.startswith("up +0.5; down -0.75; more +0.125; total -0.125. Decision: ask the user")
    assert plot._repr_svg_() == str(plot)


def test_rows_without_contributions_or_scores_are_plotted_too(program: ucl.CompiledProgram) -> None:
    result = program.score(rows(1, 101))
    assert list(drawn_bars(result.plot(0))) == ["total"]
    assert "no rule adds anything" in described(result.plot(0))[1]
    assert drawn_bars(result.plot(1)) == {}
    assert "can't be scored: the value `101`" in described(result.plot(1))[1]
    with pytest.raises(ValueError, match="no row 2"):
        result.plot(2)


def test_very_many_contributions_are_gathered() -> None:
    rules = "\n".join(f"rule r{i} on S {{ score {(i + 1) / 100} }}" for i in range(60))
    plot = ucl.compile(f"schema S {{ n: int }}\n{rules}").score([{"n": 1}]).plot(0)
    names = list(drawn_bars(plot))
    assert (len(names), names[-2:]) == (25, ["37 more rules", "total"])
    assert "18.3" in described(plot)[1]


def test_a_ranking_is_plotted_best_first(program: ucl.CompiledProgram) -> None:
    plot = program.score(rows(1, 8, 4, 95, 101)).plot_ranking(3)
    assert list(drawn_bars(plot)) == ["2 · x", "0 · x", "1 · x"]
    title, text = described(plot)
    assert title == "The best 3 of 5 rows"
    assert text.startswith("row 2 · x: 0.625, accept; row 0 · x: 0, accept;")
    whole = described(program.score(rows(95, 101)).plot_ranking())[1]
    assert whole == "row 0 · x: -0.125, infeasible."


def test_a_ranking_of_nothing_says_so(program: ucl.CompiledProgram) -> None:
    assert described(program.score(rows(101)).plot_ranking())[0] == "No row has a score"


@given(st.text(max_size=40), st.text(max_size=40), st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_every_drawing_is_well_formed(label: str, caption: str, start: float, end: float) -> None:
    svg = bars(label, caption, [Bar(label, start, end, caption, "#000000"), Bar(EVIL, 0.0, 0.0, EVIL, "#000000")])
    root = drawing(svg)
    tags = {element.tag.removeprefix(SVG) for element in root.iter()}
    assert tags == {"svg", "title", "desc", "rect", "text", "line", "g"}
    inside = [float(rect.attrib["x"]) for rect in root.iter(f"{SVG}rect") if "x" in rect.attrib]
    assert all(0 <= x <= float(root.attrib["width"]) for x in inside)
    assert not re.search(r"[\x00-\x08\x1b]", str(svg))
