"""May a judge replace a person who gives labels? The three sets of the alternative annotator test, as published."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from judge.analysis.agreement.replacement import replacement
from judge.analysis.inputs.label_criteria import given_labels
from judge.analysis.options.agreement_options import ReplacementOptions
from judge.base.errors import OptionError
from judge.base.records import Criterion, Scale
from judge.cli.main import main
from judge.exchange.imported_folder import write_folder
from judge.exchange.ratings_file import read_ratings
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import RatingsTable, read

Said = Mapping[str, Mapping[str, str]]


def command(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """What a command prints; it must succeed."""
    with pytest.raises(SystemExit) as stop:
        main([str(one) for one in arguments])
    printed = capsys.readouterr()
    assert not stop.value.code, printed.err
    return printed.out


def rating_rows(people: Said, judges: Said) -> Iterator[dict[str, str]]:
    """The released annotations as a table of ratings; each item is its own story and story-prompt."""
    for source, said in (("rater", people), ("judge", judges)):
        for who, items in said.items():
            for item, label in items.items():
                yield {"story": item, "story_prompt": item, "criterion": "Label", source: who, "rating": label}


def criteria_file(labels: list[str], path: Path) -> Path:
    """A criteria set of one criterion with these labels, in no order."""
    shown = "".join(f"  - {json.dumps(label)}\n" for label in labels)
    path.write_text(
        f"name: alttest\nscale:\n labels:\n{shown} ordered: false\n"
        "criteria:\n- {name: Label, abbreviation: L, definition: Which label?}\n",
        encoding="utf-8",
    )
    return path


@pytest.mark.parametrize("name", ["wax", "lgbteen", "mtbench"])
def test_the_published_numbers_come_out_of_the_commands(
    name: str, studies: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    people, judges = (
        json.loads((studies / "alttest" / name / f"{who}_annotations.json").read_text(encoding="utf-8"))
        for who in ("human", "llm")
    )
    with (studies / "alttest" / "published.csv").open(encoding="utf-8", newline="") as stream:
        published = {row["judge"]: row for row in csv.DictReader(stream) if row["dataset"] == name}
    table = tmp_path / f"{name}.csv"
    pd.DataFrame(rating_rows(people, judges)).to_csv(table, index=False)
    labels = sorted({label for said in (people, judges) for items in said.values() for label in items.values()})
    criteria = criteria_file(labels, tmp_path / "criteria.yaml")
    command(capsys, "import", table, "--criteria", criteria, "-o", tmp_path / "run")
    (epsilon,) = {row["epsilon"] for row in published.values()}
    printed = command(capsys, "replace", tmp_path / "run", "--set", f"epsilon={epsilon}", "--format", "json")
    (found,) = (one for one in json.loads(printed) if "winning_rate" in (one["rows"] or [{}])[0])
    rows = {row["judge"]: row for row in found["rows"]}
    numbers = {"winning_rate": "winning_rate", "advantage": "advantage_probability"}
    ours = {judge: [f"{rows[judge][key]:.2f}" for key in numbers] for judge in published}
    assert ours == {judge: [row[key] for key in numbers.values()] for judge, row in published.items()}
    assert len(ours) == 6
    assert "alt:exact/eps" in found["signature"]


def _table(tmp_path: Path, scale: Scale, repeats: int = 1) -> RatingsTable:
    """40 stories, three people and a judge that says what the first of them says."""
    rng = np.random.default_rng(5)
    said = rng.integers(0, len(scale.labels), (40, 3))
    rows: list[dict[str, Any]] = []
    for i in range(40):
        rows += [
            {"story": f"s{i}", "criterion": "Kind", "rater": f"p{k}", "rating": scale.labels[said[i, k]]}
            for k in range(3)
        ]
        rows += [
            {"story": f"s{i}", "criterion": "Kind", "judge": "j", "repeat": str(r), "rating": scale.labels[said[i, 0]]}
            for r in range(repeats)
        ]
    file = tmp_path / "r.csv"
    pd.DataFrame(rows).to_csv(file, index=False)
    write_folder(tmp_path / "run", read_ratings(file, criteria=[Criterion("Kind", "K", "", scale)]))
    return read([tmp_path / "run"])


LOOSE = Scale.of_labels(["tale", "poem", "joke"], ordered=False)


def test_labels_are_compared_by_whether_they_are_equal(tmp_path: Path) -> None:
    table = _table(tmp_path, LOOSE)
    found = replacement(table)
    assert {row.measure for row in found.tests} == {"exact"}
    assert replacement(table, ReplacementOptions(measure="exact")).frame.equals(found.frame)
    assert "always the commonest label" in {row.subject.judge for row in found.tests}
    assert found.tests[0].people_icc.reason == "undefined: the labels have no order"
    assert not found.means


def test_distances_are_refused_where_labels_have_no_order(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="measures distances, and the labels of Kind have no order"):
        replacement(_table(tmp_path, LOOSE), ReplacementOptions(measure="rmse"))
    ordered = _table(tmp_path, Scale.of_labels(LOOSE.labels))
    assert {row.measure for row in replacement(ordered, ReplacementOptions(measure="rmse")).tests} == {"rmse"}
    assert replacement(ordered).means


def test_codes_change_nothing_where_labels_are_renamed(tmp_path: Path) -> None:
    one = replacement(_table(tmp_path, LOOSE)).frame
    other = replacement(_table(tmp_path, Scale.of_labels(["c", "a", "b"], ordered=False))).frame
    pd.testing.assert_frame_equal(one[one["kind"] == "judge"], other[other["kind"] == "judge"])


def test_a_judge_says_what_most_of_its_repeats_say(tmp_path: Path) -> None:
    rows = [
        ("a", ["tale", "tale", "joke"]),
        ("b", ["tale", "joke"]),
        ("c", ["joke"]),
        ("d", ["tale", "poem", "poem", "joke"]),
    ]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(("story", "criterion", "judge", "repeat", "rating"))
    for story, said in rows:
        writer.writerows((story, "Kind", "j", number, word) for number, word in enumerate(said))
    file = tmp_path / "r.csv"
    file.write_text(text.getvalue(), encoding="utf-8")
    write_folder(tmp_path / "run", read_ratings(file, criteria=[Criterion("Kind", "K", "", LOOSE)]))
    (matrix,) = build(read([tmp_path / "run"]))
    np.testing.assert_array_equal(given_labels(matrix, 0, LOOSE), [0, np.nan, 2, 1])
