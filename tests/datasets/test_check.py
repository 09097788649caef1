"""What one pass over a dataset counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.base.estimate import Estimate
from judge.base.printing.tables import Table, flat_row
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.check import Moments, check, check_tables
from judge.inputs.datasets.locate import register

Write = Callable[[str, str | bytes], Path]


def _rows(table: Table) -> list[dict[str, Any]]:
    return [flat_row(row, table.columns) for row in table.rows]


def _small(write: Write) -> Path:
    stories = [
        {"id": "a", "text": "one two", "ratings": [("A", "C", 4), ("B", "C", 2), ("B", "D", 5)]},
        {"id": "b", "text": "&amp; three", "ratings": [("A", "C", 5), ("B", "C", 3), ("C", "C", 1)]},
        {"id": "c", "text": "one two", "reference": "one two", "ratings": [("A", "C", 1), ("A", "C", 2)]},
        {"id": "d", "text": "x", "ratings": []},
    ]
    lines = []
    for story in stories:
        given = [{"rater": r, "criterion": c, "value": v} for r, c, v in story.pop("ratings")]  # type: ignore[attr-defined]
        lines.append(json.dumps({"story_prompt": "p", "system": "s", **story, "ratings": given}))
    return write("small.jsonl", "\n".join(lines))


def test_counts_by_hand(write: Write) -> None:
    counts, scale, systems, damage, raters = check_tables(check(open_dataset(str(_small(write)))))
    found = {row["what"]: (row["found"], row["first"]) for row in _rows(counts)}
    assert found == {
        "stories": (4, None),
        "systems": (1, None),
        "story-prompts": (1, None),
        "ratings": (8, None),
        "stories without ratings": (1, None),
        "stories without a reference story": (3, None),
        "stories that are their own reference": (1, "c"),
        "stories with the text of an earlier one": (1, "c = a"),
        "ratings without a rater's name": (0, None),
        "criteria rated twice by one rater on one story": (1, "c, A"),
    }
    c, d = _rows(scale)
    assert (c["ratings"], c["missing"], c["min"], c["max"], c["values"]) == (7, 1, 1, 5, "1:2 2:2 3:1 4:1 5:1")
    assert (d["ratings"], d["missing"]) == (1, 3)
    # Story means on C: 3, 3, 1.5.
    assert _rows(systems)[0]["mean"] == pytest.approx(2.5)
    assert _rows(damage) == [{"damage": "HTML entities", "column": "text", "stories": 1, "first": "b"}]
    by_rater = {row["rater"]: row for row in _rows(raters)}
    # A: 4-2 on a, 5-2 on b, nobody else on c. B: 2-4 on a, alone on D, 3-3 on b. C: 1-4 on b.
    assert {r: (row["n"], row["stories"], row["leniency"], row["leniency_n"]) for r, row in by_rater.items()} == {
        "A": (4, 3, 2.5, 2),
        "B": (3, 2, -1.0, 2),
        "C": (1, 1, -3.0, 1),
    }
    assert isinstance(raters.rows[-1]["sd"], Estimate)
    assert raters.rows[-1]["sd"].reason == "one rating has no spread"


def test_moments_are_those_of_the_textbook() -> None:
    moments = Moments()
    for value in (2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0):
        moments.add(value)
    assert moments.mean == pytest.approx(5)
    assert moments.sd == pytest.approx((32 / 7) ** 0.5)
    assert Moments(1, 3.0).sd is None


@pytest.mark.parametrize(
    ("name", "values", "damage"),
    [
        ("mans_roc", "1:686 2:2015 3:1458 4:745 5:96", []),
        ("mans_wp", "1:271 2:1542 3:2130 4:974 5:83", [("U+FFFD (lost bytes)", "131-gpt_kg")]),
    ],
)
def test_mans_as_people_see_it(name: str, values: str, damage: list[tuple[str, str]], with_studies: Path) -> None:
    tables = check_tables(check(open_dataset(name)))
    assert len(tables) == 4
    assert [row["values"] for row in tables[1].rows] == [values]
    assert [(row["damage"], row["first"]) for row in tables[3].rows] == damage
    assert all(row["found"] == row["promised"] for row in tables[0].rows if row.get("promised") is not None)
    assert f"{name}:1000|data:b2:" in tables[0].signature
    assert "raters:unknown" in tables[0].signature


def test_llm_stories_show_their_chat_debris_and_human_ones_do_not(with_studies: Path) -> None:
    found = check(open_dataset("hanna_llm+human"))
    assert found.damage["chat debris", "text"].count == 58
    assert found.damage["chat debris", "text"].first == "llm-0"
    assert set(found.damage) == {("chat debris", "text")}
    assert found.own_reference.count == 96
    assert found.unrated == 576


def test_workers_make_a_rater_table_whose_leniency_sums_to_nothing(annotations: Path) -> None:
    register("hanna", annotations)
    found = check(open_dataset("hanna"))
    assert found.rater_identity == "known (22)"
    table = check_tables(found)[4]
    assert sum(row["n"] for row in table.rows) == 19_008
    # Every story has three raters on every criterion, so what is lenient in one is severe in the others.
    assert sum(row["leniency"].value * row["leniency"].n for row in table.rows) == pytest.approx(0, abs=1e-6)


def test_the_demo_says_wherever_it_prints_ratings_that_labels_are_by_construction() -> None:
    tables = check_tables(check(open_dataset("demo")))
    assert len(tables) == 4
    assert all(any("set by rule" in note for note in t.notes) for t in tables[:3])
    assert "raters:none, labels by construction" in tables[0].signature
