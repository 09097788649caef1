"""A study's report and what is written for other commands."""

from __future__ import annotations

import csv
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from judge.base.errors import DataError, SpecError
from judge.inputs.datasets import open_dataset
from judge.lab.people.exchanged import import_answers, write_answers, write_dataset
from judge.lab.people.options import PeopleOptions
from judge.lab.people.printed import report_tables
from judge.lab.people.report import report
from judge.lab.people.store import Spent, StudyStore, read_study
from judge.lab.people.with_judge import with_judge
from judge.stats.agreement import icc

Make = Callable[..., StudyStore]


def rated(store: StudyStore, careless: str | None = None, *, upto: int = 10_000) -> StudyStore:
    """All raters answer alike but for noise; one may give random numbers fast."""
    rng = np.random.default_rng(3)
    texts, quality = store.texts(), {}
    for rater in store.raters():
        for place, entry in enumerate(store.entries(rater)[:upto]):
            text = texts[entry.text]
            base = quality.setdefault(text.origin or entry.text, rng.normal(size=len(store.names)))
            points = 3 + base + 0.5 * rng.normal(size=base.size) - 1.2 * (text.damage is not None)
            if rater == careless:
                points = rng.integers(1, 6, base.size)
            values = np.clip(np.round(points), 1, 5).astype(float)
            seconds = len(text.text.split()) / (900 if rater == careless else 220) * 60
            fields = dict(zip(store.names, map(float, values), strict=True))
            store.save(rater, place, fields, message=f"m{place}", spent=Spent(seconds, seconds, seconds))
    return store


def test_who_rates_at_random_is_in_doubt_and_both_tables_stand_side_by_side(study: Make) -> None:
    store = rated(study(24, raters=9, per_story=3), "r04")
    result = report(read_study(store.path), PeopleOptions(resamples=100))
    assert [one.name for one in result.raters if one.doubted] == ["r04"]
    assert [one.name for one in result.raters if one.doubted_independently] == ["r04"]
    assert result.lost == 72
    for every, kept in zip(result.everybody, result.kept, strict=True):
        assert every.single.value is not None
        assert kept.single.value is not None
        assert kept.single.value > every.single.value
        assert result.unseen[kept.criterion] is not None
    agreement, raters = report_tables(result)
    assert any("upper bound" in note for note in agreement.notes)
    assert len(raters.rows) == 9
    by_rule = report(read_study(store.path), PeopleOptions(rule="openmeva", resamples=0, simulated=100))
    assert any(one.doubted for one in by_rule.raters)


def test_icc_of_a_crossed_study_is_that_of_the_complete_table(study: Make) -> None:
    store = rated(study(8, raters=4, per_story=4, checks=0))
    result = report(read_study(store.path), PeopleOptions(resamples=0))
    from judge.lab.people.signs import work_of

    table = work_of(read_study(store.path))[0].ratings[:, :, 0]
    values = icc.values(icc.mean_squares(table))
    assert result.everybody[0].single.value == pytest.approx(float(values["ICC(2,1)"]), abs=2e-3)


def test_progress_counts_what_is_there(study: Make) -> None:
    store = study(12, raters=4)
    with pytest.raises(SpecError, match="nobody has rated"):
        report(read_study(store.path))
    rated(store, upto=10)
    found = read_study(store.path)
    assert found.given < found.asked == 12 * 3 * 3 * 3
    assert f"{found.given} of {found.asked}" in report_tables(report(found, PeopleOptions(resamples=0)))[0].notes[0]


def test_the_dataset_holds_ratings_of_stories_alone_under_pseudonyms(study: Make, tmp_path: Path) -> None:
    store = rated(study(12, raters=4))
    store.save("r01", 5, {"comment": "about my mother"}, message="c-1")
    found = read_study(store.path)
    said = write_dataset(found, tmp_path / "rated.jsonl")
    assert said.endswith(f"{found.given} of {found.asked} ratings of 36 stories, to answer {found.sequence}")
    stories = list(open_dataset(str(tmp_path / "rated.jsonl")).stories())
    assert sum(len(story.ratings) for story in stories) == found.given == 324
    assert {len({rating.rater for rating in story.ratings}) for story in stories} == {3}
    assert "my mother" not in (tmp_path / "rated.jsonl").read_text()
    write_dataset(found, tmp_path / "fewer.jsonl", leave_out=("r02",), comments=True)
    text = (tmp_path / "fewer.jsonl").read_text()
    assert '"r02"' not in text
    with pytest.raises(SpecError, match="r77"):
        write_dataset(found, tmp_path / "none.jsonl", leave_out=("r77",))
    write_answers(found, tmp_path / "all.csv")
    with (tmp_path / "all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert {row["use"] for row in rows} == {"rating", "repeat", "check", "practice"}
    assert sum(row["use"] == "rating" for row in rows) == 324
    assert all(row["damage"] for row in rows if row["use"] == "check")


def test_a_packs_file_is_taken_once_and_what_differs_is_listed(study: Make, tmp_path: Path) -> None:
    store = study()
    given = {
        "format": "judge-people-answers/1",
        "study": store.study_id,
        "rater": "r01",
        "guidelines": "x",
        "answers": [{"item": 2, "values": {"Coherence": 4, "Relevance": 2}, "note": "hm", "seconds": 40.5}],
    }
    file = tmp_path / "answers-r01.json"
    file.write_text(json.dumps(given))
    assert import_answers(store, file) == [f"{file}: 3 answers of r01"]
    import_answers(store, file)
    assert store.state("r01", 2).seconds == 40.5
    given["answers"] = [{"item": 2, "values": {"Coherence": 1, "Relevance": 2}, "note": "hm", "seconds": 1}]
    file.write_text(json.dumps(given))
    lines = import_answers(store, file)
    assert lines[1:] == ["r01, place 2, Coherence: 4.0 counts, 1.0 is kept too"]
    for change, words in (
        ({"study": "another"}, "another study"),
        ({"format": "x"}, "format"),
        ({"rater": "r9"}, "r9"),
    ):
        file.write_text(json.dumps(given | change))
        with pytest.raises((DataError, SpecError), match=words):
            import_answers(store, file)


def test_answers_after_an_export_are_counted_and_after_closing_kept_without_counting(
    study: Make, tmp_path: Path
) -> None:
    store = rated(study(12, raters=4), upto=20)
    before = read_study(store.path)
    store.exported(before.sequence, "rated.jsonl")
    places = {r: [i for i, e in enumerate(store.entries(r)) if e.use == "rating"][-1] for r in ("r01", "r02")}
    store.save("r01", places["r01"], {"Coherence": 2.0, "Relevance": 4.0}, message="later")
    notes = report_tables(report(read_study(store.path), PeopleOptions(resamples=0)))[0].notes
    assert any(str(note).startswith("2 answers came after the last export (rated.jsonl") for note in notes)
    store.close_study(closed=True)
    given = {"format": "judge-people-answers/1", "study": store.study_id, "rater": "r02", "guidelines": "x"}
    answers = [{"item": places["r02"], "values": {"Coherence": 4}, "seconds": 4.0}]
    (tmp_path / "late.json").write_text(json.dumps(given | {"answers": answers}))
    (line,) = import_answers(store, tmp_path / "late.json")
    assert "closed; 1 answers of r02 are kept, and do not count" in line
    found = read_study(store.path)
    assert (found.late, found.given, found.meta["closed"] is not None) == (1, before.given + 2, True)
    store.close_study(closed=False)
    store.save("r02", places["r02"], {"Coherence": 4.0}, message="again")
    assert read_study(store.path).given == before.given + 3


def test_the_judges_tau_stands_beside_with_everybody_and_with_the_kept(study: Make) -> None:
    store = rated(study(24, raters=9, per_story=3), "r04")
    found = read_study(store.path)
    judged: dict[tuple[str, str], float] = {}
    for one in found.answered:
        if one.entry.use == "rating" and one.rater == "r01":
            judged |= {(one.text.key, name.casefold()): value for name, value in one.state.values.items()}
    options = PeopleOptions(resamples=0, simulated=100)
    result = report(found, options, {"like r01": judged})
    (row,) = result.judges
    assert row.kept is not None
    assert row.everybody.value is not None
    assert row.kept.value is not None
    # The third of the ratings that were given at random are gone.
    assert row.kept.value > row.everybody.value > 0.5
    tables = report_tables(result)
    assert [table.title for table in tables][1] == "How well the judge agrees with people"
    few = dict(list(judged.items())[:9])
    assert "too few for tau" in str(with_judge(found, few).reason)


def test_a_summary_says_how_far_people_are_and_matches_stories_by_their_texts(tmp_path: Path) -> None:
    from judge.base.records import Story
    from judge.inputs.criteria import load_criteria
    from judge.inputs.datasets.files.native import write_stories
    from judge.lab.people.options import DesignOptions
    from judge.lab.people.study import draw
    from tests.people.conftest import stories

    folder = tmp_path / "run"
    folder.mkdir()
    renamed = [Story(f"other-{i}", s.story_prompt, s.system, s.text) for i, s in enumerate(stories(8))]
    write_stories(folder / "stories.jsonl", renamed)
    (folder / "run.yaml").write_text(
        "name: run\ndataset: stories.jsonl\njudge: surface\ncriteria: hanna\neval_prompts: [ep1]\nrepeats: 1\n"
    )
    asked = draw(stories(8), "made", load_criteria("hanna").criteria[:3], DesignOptions(raters=3))
    rated(StudyStore.create(folder / "people.sqlite", asked, "x"), upto=20)
    found = read_study(folder / "people.sqlite")

    def judge(*words: str) -> str:
        command = [sys.executable, "-m", "judge", *words]
        return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True).stdout

    judge("run", "run.yaml", "--quiet")
    said = " ".join(judge("summary", "run.yaml").split())
    tables = json.loads(judge("people", "report", "people.sqlite", "--format", "json"))
    (row,) = next(table["rows"] for table in tables if "judge" in table["rows"][0])
    assert row["judge"] == "surface"
    assert f"tau x100 with the judge {100 * row['all']:.0f} ±" in said
    assert f"people: {found.given} of {found.asked} ratings so far (people.sqlite); tau x100 with the judge" in said
    assert "±" in said.partition("people.sqlite")[2][:60]
