"""Tables: the same rows for people and machines, the signature always with them."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.printing.output import emit
from judge.base.printing.tables import FORMATS, Column, Table, printable, render

TABLE = Table(
    "Agreement",
    [Column("who", "who"), Column("tau", "tau x100", 1, 100), Column("n", "n"), Column("share", "share %", 0, 100)],
    [
        {"who": "a & b_c | 100%", "tau": Estimate(0.256, 960, 0.2, 0.3), "n": 960, "share": 0.5},
        {"who": "d", "tau": Estimate.undefined("undefined with a constant side", 3), "n": 3, "share": float("nan")},
        {"who": None, "tau": Estimate(-0.0001, 5), "n": 5, "share": None},
    ],
    "mans_roc:960|tau:b",
    ["a note"],
)


@pytest.mark.parametrize("form", [form for form in FORMATS if form != "csv"])
def test_every_format_carries_signature_notes_and_the_reason_of_what_is_undefined(form: str) -> None:
    text = render(TABLE, form)
    assert "mans\\_roc:960|tau:b" in text if form == "latex" else "mans_roc:960|tau:b" in text
    assert "a note" in text
    assert "undefined with a constant side" in text
    assert text.endswith("\n")


def test_the_table_for_people() -> None:
    lines = render(TABLE, "table").splitlines()
    assert lines[0] == "Agreement"
    assert "25.6 [20.0, 30.0]" in lines[3]
    assert lines[3].endswith("50")
    assert "undefined" in lines[4]
    assert lines[4].endswith("—")
    assert " 0.0 " in lines[5]  # never -0.0
    assert "\x1b" not in render(TABLE, "table")


def test_colour_only_where_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b[1m" in render(TABLE, "table", color=True)
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in render(TABLE, "table", color=True)


def test_json_is_flat_and_full() -> None:
    value = json.loads(render(TABLE, "json"))
    assert set(value) == {"title", "signature", "rows", "notes"}
    first, second, third = value["rows"]
    assert first == {
        "who": "a & b_c | 100%",
        "tau": 0.256,
        "tau_low": 0.2,
        "tau_high": 0.3,
        "tau_n": 960,
        "tau_reason": None,
        "n": 960,
        "share": 0.5,
    }
    assert (second["tau"], second["tau_reason"], second["share"]) == (None, "undefined with a constant side", None)
    assert third["who"] is None


def test_every_row_has_the_same_keys_whether_defined_or_not() -> None:
    rows = json.loads(render(TABLE, "json"))["rows"]
    assert len({tuple(row) for row in rows}) == 1
    for whole in (Estimate(0.5, 10, 0.4, 0.6), Estimate(0.5, 10), Estimate.undefined("why", 10)):
        table = Table("t", TABLE.columns[:2], [{"who": "a", "tau": whole}, {"who": "b", "tau": None}], "", ())
        for row in json.loads(render(table, "json"))["rows"]:
            assert list(row) == ["who", "tau", "tau_low", "tau_high", "tau_n", "tau_reason"]
        assert render(table, "csv").splitlines()[0] == "who,tau,tau_low,tau_high,tau_n,tau_reason"


def test_csv_has_one_column_a_value_and_no_line_but_rows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    emit(TABLE, "csv")
    text, notes = capsys.readouterr()
    rows = list(csv.DictReader(text.splitlines()))
    assert len(rows) == len(TABLE.rows)
    assert rows[0]["tau_low"] == "0.2"
    assert rows[1]["tau"] == ""
    assert rows[1]["tau_reason"] == "undefined with a constant side"
    assert notes.startswith("mans_roc:960|tau:b")
    emit([TABLE, TABLE], "table", tmp_path / "t.csv")
    assert [(tmp_path / name).read_text() for name in ("t.csv", "t-2.csv")] == [text, text]
    assert (tmp_path / "t.csv.notes.txt").read_text().count(notes) == 2
    assert capsys.readouterr().err.splitlines()[1] == f"{tmp_path / 't-2.csv'}: {TABLE.title}"
    emit([TABLE, TABLE], "csv", tmp_path / "t.csv")  # its own tables are written again
    (tmp_path / "u-2.csv").write_text("mine\n")
    with pytest.raises(SpecError, match=r"u-2\.csv exists, and is no table of an earlier u\.csv"):
        emit([TABLE, TABLE], "csv", tmp_path / "u.csv")


def test_markdown_and_latex_escape_what_would_break_them() -> None:
    assert r"a & b_c \| 100%" in render(TABLE, "md")
    assert r"a \& b\_c \textbar{} 100\%" in render(TABLE, "latex")


def test_tables_are_written_and_several_are_a_list(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    emit([TABLE, TABLE], "json", tmp_path / "t.json")
    assert len(json.loads((tmp_path / "t.json").read_text())) == 2
    emit(TABLE)
    assert capsys.readouterr().out.startswith("Agreement")
    with pytest.raises(SpecError, match="cannot be written"):
        emit(TABLE, "csv", tmp_path / "none" / "t.csv")
    with pytest.raises(SpecError, match="allowed: table, json, csv, md, latex"):
        emit(TABLE, "xml")


def test_no_text_from_data_reaches_the_terminal_raw() -> None:
    nasty = "a\x1b[31mred\x07\x9b\u202e\ttab\nline\u200b \u00e9\u4e2d\u200d\U0001f469"
    shown = printable(nasty)
    assert shown == "a\\x1b[31mred\\x07\\x9b\\u202e tab line\\u200b \u00e9\u4e2d\u200d\U0001f469"
    table = Table(nasty, [Column("who", "who")], [{"who": nasty}], nasty, [nasty])
    for form in ("table", "md", "latex"):
        text = render(table, form)
        assert all(c.isprintable() or c in "\n\u200d" for c in text)
    assert json.loads(render(table, "json"))["rows"] == [{"who": nasty}]


def test_markup_in_free_text_is_escaped_in_markdown() -> None:
    story = "<b>*x*</b> | [y](z) `code` &lt;"
    table = Table("t", [Column("story", "story", text=True)], [{"story": story}], "s")
    assert r"| \<b\>\*x\*\</b\> \| \[y\](z) \`code\` \&lt; |" in render(table, "md")
    named = Table("<t>", [Column("system", "system")], [{"system": "<script>"}], "s")
    assert "<script>" not in render(named, "md")
    assert "| &lt;script> |" in render(named, "md")


def test_half_widths_are_printed_only_where_an_interval_is_symmetric() -> None:
    rows = [{"m": Estimate(3.0, 9, 2.5, 3.5)}, {"m": Estimate(3.0, 9, 2.4, 3.5)}, {"m": Estimate(3.0, 9)}]
    lines = render(Table("t", [Column("m", "m", half_width=True)], rows, "s"), "table").splitlines()
    assert [line.strip() for line in lines[3:6]] == ["3.00 ±0.50", "3.00 [2.40, 3.50]", "3.00"]


def test_a_table_that_follows_another_may_leave_the_signature_to_it() -> None:
    bare = Table("t", [Column("a", "a")], [{"a": 1}], "")
    assert render(bare, "table").splitlines() == ["t", "a", "─", "1"]
    assert "`" not in render(bare, "md")
    assert "texttt" not in render(bare, "latex")


def test_long_text_goes_on_in_further_lines_on_the_screen_only() -> None:
    rows = [{"name": "a", "text": "one two three four"}, {"name": "b", "text": ""}]
    table = Table("T", [Column("name", "name"), Column("text", "text", wrap=9)], rows, "sig")
    assert render(table, "table").splitlines()[3:7] == ["a     one two", "      three", "      four", "b"]
    alone = Table("T", [Column("text", "text", wrap=9)], [{"text": ""}, {"text": "one two"}], "sig")
    assert render(alone, "table").splitlines()[3:5] == ["", "one two"]
    assert "one two three four" in render(table, "csv")
    assert "one two three four" in render(table, "md")


def test_a_p_value_is_never_printed_as_zero() -> None:
    columns = [Column("p", "p", digits=3, p="two-sided"), Column("x", "x", digits=3)]
    text = render(Table("t", columns, [{"p": 0.0004, "x": 0.0004}, {"p": 0.0006, "x": 0.0006}], "s"), "table")
    assert text.splitlines()[3].split() == ["<0.001", "0.000"]
    assert text.splitlines()[4].split() == ["0.001", "0.001"]


def test_a_wrapped_cell_keeps_names_with_hyphens_whole() -> None:
    # A command or an option that is broken after a hyphen cannot be copied.
    rows = [{"text": "judge import hanna-answers FILE"}]
    lines = render(Table("T", [Column("text", "text", wrap=20)], rows, "sig"), "table").splitlines()
    assert lines[3:5] == ["judge import", "hanna-answers FILE"]


def test_cells_stand_one_under_another_on_a_narrow_screen() -> None:
    columns = [Column("name", "name"), Column("tau", "Kendall's tau-b x100", digits=1), Column("text", "said", wrap=60)]
    rows = [{"name": "a", "tau": Estimate(12.0, n=9, low=-3.0, high=27.0), "text": "one two three four five"}]
    wide = Table("A table with a title of its own", columns, rows, "demo:48|crit:RE,CH,EM,SU", ["A note of 6 words."])
    assert render(wide, "table", width=24).splitlines() == [
        "A table with a title of",
        "its own",
        "─" * 24,
        "name: a",
        "Kendall's tau-b x100:",
        "  12.0 [-3.0, 27.0]",
        "said: one two three four",
        "  five",
        "─" * 24,
        "demo:48|crit:RE,CH,EM,SU",
        "· A note of 6 words.",
    ]
    slim = Table("t", [Column("a", "a")], [{"a": 1}], "s")
    assert render(slim, "table", width=24) == render(slim, "table")
    for form in ("json", "csv", "md", "latex"):
        assert render(wide, form, width=24) == render(wide, form)


@pytest.mark.parametrize(
    ("value", "low", "high", "printed"),
    [
        (0.002, 0.001, 0.004, "0.2 [0.1, 0.4]"),  # not "0 [0, 0]"
        (0.00002, 0.00001, 0.00004, "0.002 [0.001, 0.004]"),
        (2e-7, 1e-7, 3e-7, "<0.001 [<0.001, <0.001]"),
        (0.0, 0.0, 0.031, "0 [0, 3]"),
        (0.004, 0.0, 0.031, "<1 [0, 3]"),
        (0.9991, 0.9985, 0.9994, "99.91 [99.85, 99.94]"),
        (0.5, 0.5, 0.5, "50 [50, 50]"),
        (0.25, 0.11, 0.44, "25 [11, 44]"),
    ],
)
def test_an_interval_is_never_rounded_to_a_single_number(value: float, low: float, high: float, printed: str) -> None:
    column = Column("share", "share %", digits=0, factor=100, share=True)
    table = Table("t", [column], [{"share": Estimate(value, 9, low, high)}], "s")
    assert render(table, "table").splitlines()[3].strip() == printed
    cell = printed.replace("<", "&lt;")
    assert f"| {cell} |" in render(table, "md")


def test_p_values_name_their_tail_for_people_and_machines() -> None:
    columns = [Column("who", "who"), Column("p", "p", digits=3, p="greater"), Column("adjusted", "adj.", p="greater")]
    rows = [{"who": "a", "p": 0.01, "adjusted": 0.02}, {"who": "b", "p": None, "adjusted": None}]
    table = Table("t", columns, rows, "s")
    assert [row["tail"] for row in json.loads(render(table, "json"))["rows"]] == ["greater", None]
    for form in ("table", "json", "md", "latex"):
        assert "p, adj.: one-sided, greater: how often chance gives as large a statistic" in render(table, form)
    assert render(table, "csv").splitlines()[0] == "who,p,tail,adjusted"


def _wide(texts: int, numbers: int) -> Table:
    """A table with names of columns of several words, texts and intervals."""
    columns = [Column(f"text{i}", f"what row {i} is about") for i in range(texts)]
    columns += [Column(f"x{i}", f"number {i} of the row x100", digits=1) for i in range(numbers)]
    row: dict[str, Any] = {f"text{i}": "a name of some length" for i in range(texts)}
    row |= {f"x{i}": Estimate(12.3, n=9, low=-3.0, high=27.5) for i in range(numbers)}
    notes = ["A note that is long enough to be broken on a screen of eighty columns, between two of its words."]
    return Table(
        "A title " * 15, columns, [row, row], "|".join(f"part{i}:value" for i in range(20)), notes, "above " * 30
    )


@pytest.mark.parametrize("width", [60, 72, 80, 120])
@pytest.mark.parametrize(("texts", "numbers"), [(1, 2), (2, 3), (2, 9), (4, 1), (5, 12)])
def test_no_line_is_wider_than_the_screen_and_no_cell_is_lost(width: int, texts: int, numbers: int) -> None:
    wide = _wide(texts, numbers)
    lines = render(wide, "table", width=width).splitlines()
    assert max(map(len, lines)) <= width
    assert sum(line.count("12.3 [-3.0, 27.5]") for line in lines) == 2 * numbers
    joined = " ".join(" ".join(lines).split())
    for i in range(numbers):
        assert f"number {i}" in joined or f" {i} of" in joined
    assert "part0:value|part1:value" in "".join(lines)
    # What a row is about stands beside its numbers in every block.
    assert sum("a name" in line for line in lines) >= 2


def test_a_table_that_fits_is_printed_alike_on_every_screen() -> None:
    slim = Table("t", [Column("a", "a"), Column("b", "b")], [{"a": "x", "b": 1.5}], "s", ["n"])
    assert render(slim, "table", width=80) == render(slim, "table") == "t\na     b\n─  ────\nx  1.50\ns\n· n\n"
