"""Labels without an order are never averaged or ranked; two labels, and labels in an order, are counted by codes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judge.analysis import correlation
from judge.analysis.coverage.coverage import coverage
from judge.analysis.criteria import criteria
from judge.analysis.disagreements import disagreements
from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.inputs.selection import narrowed
from judge.analysis.options.selection import Selection
from judge.analysis.options.table_options import CorrelationOptions
from judge.analysis.reliability.consistency import consistency
from judge.analysis.systems import systems
from judge.base.errors import SpecError
from judge.base.records import Criterion, Scale
from judge.exchange.imported_folder import write_folder
from judge.exchange.ratings_file import read_ratings
from judge.ratings.ratings_table import RatingsTable, read

KIND = Criterion("Kind", "K", "", Scale.of_labels(["tale", "poem", "joke"], ordered=False))
PLOT = Criterion("Plot", "P", "", Scale.of_labels(["No", "Yes"], ordered=False))
GRADE = Criterion("Grade", "G", "", Scale.of_labels(["bad", "fair", "good"]))
STYLE = Criterion("Style", "S", "")
NOTE = "left out: Kind: labels without an order (tale, poem, joke) have no means, ranks or correlations"


@pytest.fixture
def mixed(tmp_path: Path) -> RatingsTable:
    """Thirty stories, two people and a judge on four criteria."""
    return _table(tmp_path, [KIND, PLOT, GRADE, STYLE])


def _table(tmp_path: Path, asked: list[Criterion]) -> RatingsTable:
    rng = np.random.default_rng(2)
    rows = []
    for i in range(30):
        story = {"story": f"s{i}", "system": f"m{i % 3}", "story_prompt": f"p{i // 3}"}
        for criterion in asked:
            for who in ({"rater": "ann"}, {"rater": "bob"}, {"judge": "j"}):
                code = int(rng.integers(*((0, len(criterion.scale.labels)) if criterion.scale.labels else (1, 6))))
                said = criterion.scale.label_of(code) if criterion.scale.labels else str(code)
                rows.append({**story, "criterion": criterion.name, **who, "rating": said})
    file = tmp_path / "r.csv"
    pd.DataFrame(rows).to_csv(file, index=False)
    write_folder(tmp_path / "run", read_ratings(file, criteria=asked))
    return read([tmp_path / "run"])


def test_only_labels_without_an_order_are_left_out_and_it_is_said(mixed: RatingsTable) -> None:
    part = numbers(mixed)
    assert set(part.frame["criterion"]) == {"Plot", "Grade", "Style"}
    assert [c.name for c in part.facts[0].criteria] == ["Plot", "Grade", "Style"]
    assert part.facts[0].notes[-1] == NOTE
    codes = [note for note in part.facts[0].notes if "code" in note]
    assert [note.partition(": ")[2] for note in codes] == ["No 0, Yes 1", "bad 0, fair 1, good 2"]
    assert numbers(part) is part


def test_a_table_without_such_labels_is_left_as_it_is(tmp_path: Path) -> None:
    table = _table(tmp_path, [STYLE])
    assert numbers(table) is table


def test_tables_of_numbers_leave_them_out_with_a_note(mixed: RatingsTable) -> None:
    options = CorrelationOptions(ci="none", control=False)
    for made in (correlation.correlations(mixed, options), systems(mixed), criteria(mixed), consistency(mixed)):
        assert NOTE in made.notes
        assert "Kind" not in set(made.frame.get("criterion", []))


def test_coverage_counts_all_and_bounds_what_has_a_mean(mixed: RatingsTable) -> None:
    found = coverage(mixed)
    assert {row.labels[1] for row in found.by_criterion.rows} == {"Kind", "Plot", "Grade", "Style"}
    assert {bound.criterion for bound in found.bounds} == {"Plot", "Grade", "Style"}


def test_where_nothing_is_left_tables_are_empty_and_lists_refuse(tmp_path: Path) -> None:
    table = _table(tmp_path, [KIND])
    assert not systems(table).standings
    assert NOTE in systems(table).notes
    with pytest.raises(SpecError, match="nothing can be counted as a number: Kind"):
        disagreements(table)


def test_narrowing_keeps_what_is_said_of_the_labels_that_are_left(mixed: RatingsTable) -> None:
    part = narrowed(mixed, Selection.of("Grade", None, None))
    assert list(part.labels.values()) == [GRADE.scale]
    assert [note for note in part.facts[0].notes if "code" in note] == [
        "a rating is the code of its label: bad 0, fair 1, good 2"
    ]
