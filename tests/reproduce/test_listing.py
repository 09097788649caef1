"""The list of the studies' tables says what the commands compute, and names commands that exist."""

from __future__ import annotations

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest

from judge.base.errors import SpecError
from judge.base.printing.tables import render
from judge.cli.commands import COMMANDS
from judge.reproduce import cell as listing
from judge.reproduce import openmeva
from judge.reproduce.cell import TABLE_STATES, Cell, Listed, Place, listed
from judge.reproduce.printing import numbers_in
from judge.reproduce.study import Options, Study


def _check(rows: list[Listed], cells: list[Cell]) -> None:
    """Each row's numbers are those of its tables that no row above it holds; together they are all in print."""
    seen: set[Place] = set()
    for row in (row for row in rows if row.names):
        own = [cell for cell in cells if cell.table in row.names]
        assert {cell.table for cell in own} == set(row.names)
        printed = {cell.counted_at for cell in own if cell.in_print} - seen
        matching = numbers_in(own, "match", "repeat") - seen
        assert (row.cells, row.match) == (len(printed), len(matching)), row
        expected = "reproduced" if matching == printed else "partly reproduced" if matching else "own data"
        assert row.state == expected, row
        seen |= printed
    assert seen == {cell.counted_at for cell in cells if cell.in_print}


def test_hanna_is_listed_as_it_is_computed(hanna_cells: dict[Place, Cell]) -> None:
    rows = listed("hanna")
    _check(rows, list(hanna_cells.values()))
    assert all(row.names for row in rows)
    assert (sum(row.cells or 0 for row in rows), sum(row.match or 0 for row in rows)) == (919, 754)


def test_openmeva_is_listed_as_it_is_computed(mans_study: Study) -> None:
    rows = listed("openmeva")
    _check(rows, mans_study.cells(Options(resamples=0)))
    assert {"Fig. 2", "Table 3", "Table 4", "Table 5", "Table 6", "Table 7", "Table 10", "Table 11"} <= {
        row.printed_in for row in rows
    }
    assert openmeva.PRINTED_ALPHA in rows[0].names


def test_ttcw_is_listed_as_it_is_computed(ttcw_cells: dict[Place, Cell]) -> None:
    rows = listed("ttcw")
    _check(rows, list(ttcw_cells.values()))
    assert (sum(row.cells or 0 for row in rows), sum(row.match or 0 for row in rows)) == (37, 27)


def test_storyer_is_listed_as_it_is_computed(studies: Path, storyer_cells: dict[Place, Cell]) -> None:
    with (studies / "golden" / "storyer" / "storyer_published.csv").open(encoding="utf-8", newline="") as stream:
        printed = Counter(row["source"].split("EMNLP), ")[1] for row in csv.DictReader(stream))
    rows = listed("storyer")
    found = {row.printed_in.split(";")[0]: row.cells for row in rows if row.cells}
    assert found == dict(printed)
    _check(rows, list(storyer_cells.values()))
    assert (sum(row.cells or 0 for row in rows), sum(row.match or 0 for row in rows)) == (321, 4)


@pytest.mark.parametrize("study", list(listing.STUDIES))
def test_every_table_that_is_not_reproduced_says_why(study: str) -> None:
    for row in listed(study):
        assert row.why or row.state == "reproduced", row
        assert bool(row.command) or row.state in ("reproduced", "not computable"), row
        named = re.findall(r"judge ([a-z]\w*)", f"{row.why} {row.command}")
        assert bool(named) == bool(row.command), row
        assert set(named) <= set(COMMANDS), row
        assert row.state in TABLE_STATES


@pytest.mark.parametrize("study", list(listing.STUDIES))
def test_the_list_fits_a_terminal(study: str) -> None:
    (table,) = listing.listing_tables([study], machine=False)
    lines = render(table, "table").splitlines()
    assert max(len(line) for line in lines if not line.startswith("·")) <= 80
    assert any(line.startswith(f"· {study}: ") for line in lines)


def test_machines_get_one_table_of_all_studies() -> None:
    (table,) = listing.listing_tables(list(listing.STUDIES), machine=True)
    rows = json.loads(render(table, "json"))["rows"]
    assert len(rows) == sum(len(listed(study)) for study in listing.STUDIES)
    assert {row["study"] for row in rows} == set(listing.STUDIES)
    keywords = next(row for row in rows if row["names"] == "keywords")
    assert (keywords["cells"], keywords["match"], keywords["state"]) == (6, 0, "own data")
    assert "judge explain RUN --set as_published=true" in keywords["command"]


def test_a_study_that_is_not_known_is_refused() -> None:
    with pytest.raises(SpecError, match="study 'hana' is not known; did you mean 'hanna'"):
        listed("hana")
