"""StoryER's comments as ratings with comments: what counts, and what is left out and said."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import DataError
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.check import check
from judge.inputs.datasets.studies.storyer import NO_ASPECT, PADDING, read_commented, read_rated


def test_released_file(with_studies: Path) -> None:
    """100 stories; of 500 places 303 comments, 195 of padding, 2 of aspect -1."""
    found = check(open_dataset("storyer_reasons"))
    assert (found.stories, found.ratings, found.comments) == (100, 303, 303)
    assert dict(found.left_out) == {PADDING: 195, NO_ASPECT: 2}
    counts = [found.criteria[name].moments.n for name in ("Opening", "Middle", "Ending", "Character Shaping")]
    assert counts == [47, 44, 55, 58]


def test_a_rating_keeps_its_comment(with_studies: Path) -> None:
    first = next(open_dataset("storyer_reasons").stories())
    assert [(r.criterion, r.value, r.rater) for r in first.ratings] == [
        ("Character Shaping", 4, None),
        ("Middle", 3, None),
        ("Ending", 3, None),
    ]
    assert first.ratings[2].comment is not None
    assert first.ratings[2].comment.startswith("The ending is dramatically told")


def _write(path: Path, comments: Any, **more: Any) -> Path:
    entry = {"story": "a<br>b", "prompt": "p", "comments": comments, **more}
    path.write_text(json.dumps([entry]), encoding="utf-8")
    return path


def test_padding_and_strange_aspects_are_counted(tmp_path: Path) -> None:
    path = _write(tmp_path / "r.json", [[1, 4, "x"], [-1, -1, float("nan")], [11, 3, "y"], [2, 6, "z"]], score=7)
    (entry,) = read_commented(path)
    assert (entry.upvotes, len(entry.comments), dict(entry.left_out)) == (7.0, 1, {PADDING: 1, NO_ASPECT: 2})
    (story,) = read_rated(path)
    assert (story.text, story.ratings[0].criterion) == ("a\nb", "Opening")


@pytest.mark.parametrize(
    ("comments", "more", "said"),
    [
        ({}, {}, "row 1, column 'comments': not a list"),
        ([[1, 2]], {}, r"not a comment \[aspect, rating, text\]"),
        ([["1", 2, "x"]], {}, "not numbers"),
        ([], {"score": "many"}, "row 1, column 'score': not a number of upvotes"),
    ],
)
def test_another_shape_is_named(comments: Any, more: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=said):
        list(read_commented(_write(tmp_path / "r.json", comments, **more)))
