"""A Confederacy of Models, from made-up files of the released names: systems, codes, the sheet of ratings."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import openpyxl
import pytest

from judge.base.errors import DataError
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.locate import register
from judge.inputs.datasets.sources import FILES
from judge.inputs.datasets.studies.confederacy import read_stories, system_of

HEADER = ("Group", "Story", "Rater", "Humor", "Style", "Comments")
ROWS = (
    (1, "AB12", "R1", 7, 3, "fine"),
    (1, "AB12", "R2", 10, None, None),
    (1, "human1-2023-05-12-1.txt", "R1", 1, 2, ""),
)


def sheet(path: Path, rows: Sequence[Sequence[object]] = ROWS, header: Sequence[str] = HEADER) -> Path:
    book = openpyxl.Workbook()
    for cells in (header, *rows):
        book.active.append(cells)
    path.parent.mkdir(parents=True, exist_ok=True)
    book.save(path)
    return path


@pytest.fixture
def files(tmp_path: Path) -> tuple[list[Path], Path]:
    texts = [tmp_path / "bard-2023-04-11-1.txt", tmp_path / "human1-2023-05-12-1.txt"]
    for path in texts:
        path.write_text(f"The bird of {path.name} fell.\n", encoding="utf-8")
    codes = tmp_path / "mapping-grouped.csv"
    codes.write_text("Original,Anonymized\nbard-2023-04-11-1.txt,AB12.txt\nother-1.txt,ZZ99.txt\n", encoding="utf-8")
    return texts, codes


def test_ratings_find_their_stories_by_code_or_name(files: tuple[list[Path], Path], tmp_path: Path) -> None:
    bard, human = read_stories(*files, sheet(tmp_path / "r.xlsx"))
    assert (bard.id, bard.system, human.system) == ("bard-2023-04-11-1", "bard", "Human")
    assert [(r.criterion, r.value, r.rater, r.panel) for r in bard.ratings] == [
        ("Humor", 7, "R1", "expert"), ("Style", 3, "R1", "expert"), ("Humor", 10, "R2", "expert")
    ]  # fmt: skip
    assert [r.value for r in human.ratings] == [1, 2]
    assert bard.story_prompt == human.story_prompt


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (((1, "AB12", "R1", 11, 3, ""),), "row 2, column 'Humor': rating off the scale"),
        (((1, "AB12", "R1", "good", 3, ""),), "row 2, column 'Humor': not a rating"),
        (((1, "XX00", "R1", 1, 3, ""),), "row 2, column 'Story': no story of the corpus"),
        (((1, "AB12", None, 1, 3, ""),), "row 2, column 'Rater': the text is empty"),
        ((ROWS[0], ROWS[0]), "row 3, column 'Rater': the rater's ratings of this story are already in row 2"),
    ],
)
def test_what_is_wrong_is_named_with_file_row_and_column(
    rows: Sequence[Sequence[object]], said: str, files: tuple[list[Path], Path], tmp_path: Path
) -> None:
    with pytest.raises(DataError) as caught:
        list(read_stories(*files, sheet(tmp_path / "r.xlsx", rows)))
    assert f"r.xlsx, {said}" in str(caught.value)


def test_a_sheet_of_another_form_is_refused_with_what_it_holds(files: tuple[list[Path], Path], tmp_path: Path) -> None:
    path = sheet(tmp_path / "r.xlsx", [("AB12", 7, 3)], ("Code", "Humor", "Style"))
    with pytest.raises(
        DataError, match=r"not a sheet of ratings.*Story, Rater, and a column for each criterion"
    ) as caught:
        list(read_stories(*files, path))
    assert "Code" in str(caught.value)


def test_a_copy_of_the_repository_can_be_registered(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    for relative in FILES["confederacy"]:
        path = copy / relative.partition("/")[2]
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("The bird fell." if path.suffix == ".txt" else "Original,Anonymized\n", encoding="utf-8")
    sheet(copy / "rating" / "RatersSheet-WithResults.xlsx", [(1, "claude12-2023-04-04-3", "R1", 4, 5, "")])
    register("confederacy", copy)
    stories = list(open_dataset("confederacy").stories())
    assert len(stories) == 65
    assert len({story.system for story in stories}) == 13
    assert sum(len(story.ratings) for story in stories) == 2


def test_systems_are_named_without_date_and_number() -> None:
    names = (
        "alpaca-13b-2023-04-07-temp07-2",
        "OA_SFT_Llama_30B_6-4",
        "human4-2023-05-12-4",
        "bing-creative-2023-04-11-3",
    )
    assert [system_of(name) for name in names] == ["alpaca-13b-temp07", "OA_SFT_Llama_30B_6", "Human", "bing-creative"]
