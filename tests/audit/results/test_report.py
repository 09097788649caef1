"""The report: who counts, cells that are missing, single annotators, strata, signature, notebooks."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import judge
from judge.base.errors import SpecError
from judge.explanations.audit.adjudication import adjudicate
from judge.explanations.audit.answer_matrix import answered
from judge.explanations.audit.answers_file import practise
from judge.explanations.audit.items import Subject
from judge.explanations.audit.options import EXEMPT, ReportOptions
from judge.explanations.audit.printed import audit_tables
from judge.explanations.audit.report import agreement, agreement_with_others, rates, report
from judge.explanations.audit.store import AuditStore, snapshot
from judge.stats.agreement import chance_agreement
from tests.audit.conftest import subject

Make = Callable[..., AuditStore]
Said = Callable[[AuditStore, str, int, int], None]


@pytest.fixture
def gaps(make_audit: Make) -> AuditStore:
    """Four annotators on twelve items, each of whom leaves out a quarter, from a seed."""
    store = make_audit(12)
    rng = np.random.default_rng(8)
    for j, name in enumerate(("Ada", "Bo", "Cy", "Di")):
        for item in range(1, 13):
            if item % 4 != j:
                answer = {c.key: int(rng.random() < 0.3) for c in store.categories}
                store.answer(name, item, answer, seconds=float(item))
    store.answer("Ada", 4, {"poor_syntax": 1})  # begun, and so no part of anything
    return store


@pytest.fixture
def single(tmp_path: Path, said: Said) -> Iterator[AuditStore]:
    """Three annotators on six items, each of a story of its own."""
    path = tmp_path / "single.sqlite"
    with AuditStore.create(path, [subject(i, story=f"own {i}") for i in range(6)]) as store:
        for item in range(1, 7):
            said(store, "Ada", item, item % 2)
            said(store, "Bo", item, int(item < 3))
            said(store, "Cy", item, 0)
        yield store


def test_several_explanations_of_a_story_count_as_one_unit(gaps: AuditStore, single: AuditStore) -> None:
    (made,) = [one for one in audit_tables(report(snapshot(gaps))) if one.title == "Agreement between annotators"]
    row = made.rows[0]
    assert (row["items"], row["stories"]) == (12, 6)
    assert "over 6 stories" in str(row["ac1"].method)
    assert "|ci:jackknife-stories|of:" in made.signature
    assert any(note.startswith("several items are of one story") for note in made.notes)
    (made,) = [one for one in audit_tables(report(snapshot(single))) if one.title == "Agreement between annotators"]
    assert (made.rows[0]["items"], made.rows[0]["stories"]) == (6, 6)
    assert made.rows[0]["ac1"].method == "t over items, 95 %"


def test_missing_cells_are_missing_and_unfinished_items_count_nowhere(gaps: AuditStore) -> None:
    found = answered(snapshot(gaps))
    assert found.raters.tolist() == [3] * 12
    assert found.begun == 1
    for key, values in found.given.items():
        assert np.isnan(values).sum() == 12
        one = agreement(found, key, resamples=100, seed=1)
        plain = chance_agreement.gwet(values, categories=np.array([0.0, 1.0]), story=np.arange(12) // 2)
        assert one.ac1.estimate == plain.estimate
        assert (one.ac1.stories, one.alpha.stories) == (6, 6)
        assert one.alpha.estimate.value is not None
        assert rates(found, key).mean.value == pytest.approx(np.nanmean(values))


def test_an_annotators_agreement_with_others_is_counted_pair_by_pair(gaps: AuditStore) -> None:
    found = answered(snapshot(gaps))
    equal = pairs = 0
    values = np.stack(list(found.given.values()))
    for item in range(12):
        for other in range(1, 4):
            both = ~np.isnan(values[:, item, 0]) & ~np.isnan(values[:, item, other])
            equal += int((values[both, item, 0] == values[both, item, other]).sum())
            pairs += int(both.sum())
    one = agreement_with_others(found, "Ada")
    # Every item that Ada finished has two others, so items counting alike is pairs counting alike.
    assert one.value == pytest.approx(equal / pairs)
    assert one.n == 9


def test_one_annotator_alone_has_rates_and_no_agreement(make_audit: Make, said: Said) -> None:
    store = make_audit()
    for item in (1, 2, 3):
        said(store, "Ada", item, item % 2)
    made = {one.title: one for one in audit_tables(report(snapshot(store)))}
    row = made["Agreement between annotators"].rows[0]
    assert row["ac1"].reason == row["alpha"].reason == "undefined: no item has 2 ratings"
    assert made["Error rates"].rows[0]["mean"].value == pytest.approx(2 / 3)
    assert made["Annotators"].rows[0]["agreement"].reason == "undefined: no other annotator has finished the same items"
    assert made["Annotators"].rows[0]["seconds"] == 2.5
    assert made["Disagreements"].rows == []


def test_two_against_two_is_no_majority(make_audit: Make, said: Said) -> None:
    store = make_audit()
    for name, value in (("Ada", 1), ("Bo", 0)):
        said(store, name, 1, value)
        said(store, name, 2, 1)
    one = rates(answered(snapshot(store)), "poor_syntax")
    assert (one.mean.value, one.majority.value, one.any.value, one.ties) == (0.75, 0.5, 1.0, 1)
    (made,) = [one for one in audit_tables(report(snapshot(store))) if one.title == "Error rates"]
    assert (
        "in 5 cases (an item and an error) as many annotators say yes as no: a tie, which is no majority" in made.notes
    )


def test_disagreements_tell_alike_explanations_apart_and_say_who_settled(make_audit: Make, said: Said) -> None:
    store = make_audit()
    head = "Control, not a language model: it counts surface features and does no reading of the story at all, "
    path = store.path.with_name("alike.sqlite")
    texts = [f"{head}so that {word} words are what it {word} counted here, and no more than these." for word in "abc"]
    with AuditStore.create(path, [Subject(text, story=str(i)) for i, text in enumerate(texts)]) as alike:
        for item in (1, 2, 3):
            said(alike, "Ada", item, 0)
            alike.answer("Bo", item, {c.key: int(c.key == "poor_syntax") for c in alike.categories})
        (made,) = [one for one in audit_tables(report(snapshot(alike))) if one.title == "Disagreements"]
        assert [row["explanation"][:12] for row in made.rows] == ["…a words are", "…b words are", "…c words are"]
        assert "by" not in {column.key for column in made.columns}
        adjudicate(alike, "Eve", 2, {"poor_syntax": 1}, note="a verb is missing")
        adjudicate(alike, "Eve", 3, {"poor_syntax": 0})
        (made,) = [one for one in audit_tables(report(snapshot(alike))) if one.title == "Disagreements"]
    assert [(row["final"], row["by"]) for row in made.rows] == [
        (None, None),
        ("Poor syntax: yes", "Eve: a verb is missing"),
        ("Poor syntax: no", "Eve"),
    ]
    assert {"final", "by"} <= {column.key for column in made.columns}


def test_a_runs_folder_names_its_audit(
    gaps: AuditStore, said: Said, cli: Callable[..., int], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    (folder / "surface").mkdir(parents=True)
    (folder / "run.yaml").write_text("name: x\n", encoding="utf-8")
    assert cli("report", folder) == 1
    error = capsys.readouterr().err
    assert "run: holds no audit" in error
    assert f"judge audit sample {folder}" in error
    with AuditStore.create(folder / "audit.sqlite", [item.subject for item in gaps.items()]) as store:
        said(store, "Ada", 1, 0)
    for named in (folder, folder / "surface", folder / "run.yaml", folder / "audit.sqlite"):
        assert cli("report", named) == 0
        assert store.audit_id in capsys.readouterr().out
    assert cli("export", folder, "-o", tmp_path / "out.csv") == 0
    assert cli("import", folder, tmp_path / "out.csv") == 0
    assert f"{folder / 'audit.sqlite'}: " in capsys.readouterr().out


def test_nobody_has_answered(make_audit: Make) -> None:
    store = make_audit()
    store.answer("Ada", 1, {"poor_syntax": 1})
    with pytest.raises(SpecError, match="no annotator has finished an item yet"):
        audit_tables(report(snapshot(store)))


def test_rates_by_stratum(gaps: AuditStore) -> None:
    found = answered(snapshot(gaps))
    made = {
        one.title: one
        for one in audit_tables(report(snapshot(gaps), ReportOptions(by=("judge", "rating", "criterion"))))
    }
    assert "Error rates by criterion" not in made  # there is one
    by_judge = made["Error rates by judge"].rows
    assert [(row["judge"], row["items"]) for row in by_judge] == [("openai/m0", 6), ("openai/m1", 6)]
    mine = np.arange(0, 12, 2)
    assert by_judge[0]["poor_syntax"].value == pytest.approx(np.nanmean(found.given["poor_syntax"][mine]))
    assert [row["rating"] for row in made["Error rates by rating"].rows] == list("12345")
    with pytest.raises(SpecError, match='by="colour" is not known'):
        audit_tables(report(snapshot(gaps), ReportOptions(by=("colour",))))


def test_practice_stands_beside_an_annotator_and_counts_nowhere(gaps: AuditStore) -> None:
    before = answered(snapshot(gaps)).given
    practise(gaps, "Ada", 1, {"poor_syntax": 0, "superfluous": 1})
    rows = next(one for one in audit_tables(report(snapshot(gaps))) if one.title == "Annotators").rows
    assert [row["practice"] for row in rows] == ["1/2", None, None, None]
    for key, values in answered(snapshot(gaps)).given.items():
        np.testing.assert_array_equal(values, before[key])


OTHER = {"by": ("system",), "annotators": ("Ada", "Bo"), "resamples": 77, "seed": 9, "top": 3}


@pytest.mark.parametrize("name", [field.name for field in dataclasses.fields(ReportOptions)])
def test_every_option_moves_the_signature_or_is_exempt(single: AuditStore, name: str) -> None:
    lines = []
    for options in (ReportOptions(), dataclasses.replace(ReportOptions(), **{name: OTHER[name]})):
        lines.append({one.signature for one in audit_tables(report(snapshot(single), options))})
    assert (lines[0] != lines[1]) != (name in EXEMPT)


def test_each_table_is_signed_with_its_own_intervals(single: AuditStore) -> None:
    made = {one.title: one for one in audit_tables(report(snapshot(single)))}
    for title, part in (
        ("Error rates", "|ci:wilson-stories|of:"),
        ("Annotators", "|ci:wilson-stories|of:"),
        ("Agreement between annotators", "|ci:t-items|alpha:boot-items/1000/seed1|of:"),
    ):
        assert part in made[title].signature
    assert "ci:" not in made["What was answered"].signature
    assert "ci:" not in made["Disagreements"].signature


def test_the_signature_names_the_sample(make_audit: Make, said: Said) -> None:
    store = make_audit(sampling={"signature": "toy:6|sample:6/equal/seed1|v0"})
    said(store, "Ada", 1, 1)
    line = audit_tables(report(snapshot(store)))[0].signature
    assert line.startswith(f"audit:{store.audit_id}|items:1/6|annotators:Ada|categories:wrong_guideline,")
    assert "|of:toy:6|sample:6/equal/seed1|" in line


def test_annotators_can_be_picked(
    gaps: AuditStore, cli: Callable[..., int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli("report", gaps.path, "--annotator", "Ada", "--annotator", "Bo", "--format", "json") == 0
    made = json.loads(capsys.readouterr().out)
    assert made[0]["rows"][0]["annotators"] == 2
    assert cli("report", gaps.path, "--annotator", "Eve") == 1
    assert "annotator 'Eve' is not known" in capsys.readouterr().err


def test_control_characters_of_notes_do_not_reach_the_terminal(make_audit: Make, said: Said, cli, capsys) -> None:
    store = make_audit()
    said(store, "Ada", 1, 0)
    said(store, "Bo", 1, 1)
    store.answer("Bo", 1, {}, note="\x1b[2Jgone <b>|</b>")
    assert cli("report", store.path, "--full") == 0
    out = capsys.readouterr().out
    assert "\x1b[2J" not in out
    assert "gone" in out


def test_notebooks(gaps: AuditStore) -> None:
    audit = judge.open_audit(gaps.path)
    assert len(audit.items()) == 12
    answers = audit.answers()
    assert (~answers["done"]).sum() == 1
    assert set(answers["value"]) == {0, 1}
    made = audit.tables(by=("judge",))
    assert {"ac1", "ac1_low", "ac1_high", "raw"} <= set(made["Agreement between annotators"].columns)
    assert made["Error rates by judge"]["judge"].tolist() == ["openai/m0", "openai/m1"]
