"""No printed number counts twice, whatever tables hold it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.base.errors import DataError
from judge.base.files import package_file
from judge.reproduce import hanna
from judge.reproduce.cell import Cell, Place, published, read_published
from judge.reproduce.printing import numbers_in, sentence
from judge.reproduce.study import Options
from tests.documents.blocks import ROOT


def test_a_cell_that_stands_twice_in_the_file_of_printed_cells_is_refused(tmp_path: Path) -> None:
    text = package_file("reproduce", "published_data", "hanna_published.csv").read_text(encoding="utf-8")
    path = tmp_path / "hanna_published.csv"
    path.write_text(text + text.splitlines()[1] + "\n", encoding="utf-8")
    with pytest.raises(DataError, match="row 977: a printed cell occurs twice; found 'correlations_overall_EP1, RE"):
        read_published(path)


@pytest.mark.parametrize("level", ["overall", "system"])
def test_cells_of_one_quantity_count_once(hanna_cells: dict[Place, Cell], level: str) -> None:
    tables = {f"correlations_{level}_EP1", f"eval_prompt_{level}", f"human_leave_one_out_{level}"}
    # A level, a criterion and a judge, measure or people name one correlation, whichever table prints it.
    quantities = {(row, column) for table, row, column in hanna_cells if table in tables}
    cells = [cell for cell in hanna_cells.values() if cell.table in tables]
    assert (len(cells), len(quantities)) == (209, 175)
    assert {(row, column) for _, row, column in numbers_in(cells, "match", "repeat")} == quantities
    assert len(numbers_in(cells, "match", "repeat")) == len(quantities)


def test_a_repeated_cell_holds_the_number_of_the_cell_that_counts_it(hanna_cells: dict[Place, Cell]) -> None:
    repeated = [cell for cell in hanna_cells.values() if cell.counted_at != cell.place]
    assert len(repeated) == 68
    for cell in repeated:
        counting = hanna_cells[cell.counted_at]
        assert counting.counted_at == counting.place
        assert (cell.published, cell.as_published) == (counting.published, counting.as_published)
        assert cell.digits == counting.digits


def test_matching_cells_are_distinct(hanna_cells: dict[Place, Cell]) -> None:
    cells = list(hanna_cells.values())
    matching = numbers_in(cells, "match", "repeat")
    assert len(matching) == 754
    # Counting every cell twice changes nothing.
    assert sentence([*cells, *cells]).startswith(sentence(cells).split(";")[0])
    assert matching <= set(published("hanna"))
    sources = Counter(published("hanna")[place].source.split(" of ")[0].split(",")[0] for place in matching)
    assert sources == {"Chhun": 515, "slides": 66, "released notebook": 173}


def test_one_changed_number_is_off_once_in_each_table_and_matches_nowhere(
    changed_file: Callable[..., Path], hanna_cells: dict[Place, Cell]
) -> None:
    def swap(rows: dict[str, dict[str, str]]) -> None:
        column = "Beluga-13B CH 1"
        rows["GPT"][column], rows["HINT"][column] = rows["HINT"][column], rows["GPT"][column]

    changed_file(swap)
    options = Options(resamples=0)
    cells = [cell for cell in hanna.study(options).cells(options) if cell.table.startswith(("corr", "eval", "human_l"))]
    off = [cell.place for cell in cells if cell.state == "off"]
    for level in ("overall", "system"):
        assert (f"correlations_{level}_EP1", "CH", "Beluga-13B 1") in off
        assert (f"eval_prompt_{level}", "CH", "Beluga-13B 1") in off
    numbers = numbers_in(cells, "off")
    assert 2 * len(numbers) == len(off)
    assert sentence(cells).startswith(
        f"{350 - len(numbers)} distinct printed cells match print, and {len(numbers)} are off"
    )


def test_the_guide_counts_as_the_command_does(hanna_cells: dict[Place, Cell]) -> None:
    cells = list(hanna_cells.values())
    text = " ".join((ROOT / "docs/guides/studies.md").read_text(encoding="utf-8").split())
    matching, missing = numbers_in(cells, "match", "repeat"), numbers_in(cells, "not computable")
    assert f"{len(matching)} distinct printed cells match print, none is off print" in text
    assert f"the files that the command reads cannot give {len(missing)}." in text
    assert not numbers_in(cells, "off")
