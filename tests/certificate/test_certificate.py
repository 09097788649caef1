"""Certificates: what they hold, when they hold, and which runs they cover."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from judge.asking.plan import make_plan
from judge.asking.run_definition.spec import load_run_spec
from judge.base.errors import DataError, SpecError
from judge.questions.certificate.file import Conditions, Floor, UncertifiedError, check, read
from tests.report.runs import command as judge

TODAY = date(2026, 1, 1)


@pytest.fixture(scope="module")
def certified(rated_run: Path) -> Path:
    """A certificate of two criteria that holds."""
    file = rated_run / "certificate.json"
    criteria = ["--criterion", "Narrative Ending", "--criterion", "Originality in Form and Structure"]
    words = ["--floor", "coverage=0.9", "--resamples", 40, "-o", file]
    assert judge("certify", rated_run, *criteria, *words) == 0
    return file


def fits(file: Path, rated_run: Path, overrides: Sequence[str], today: date = TODAY, **changed: Any) -> None:
    spec = load_run_spec(rated_run / "run.yaml", overrides)
    check({**read(file), **changed}, make_plan(spec, folder=rated_run), file, today)


OWN = ["criteria={set: ttcw, only: [Narrative Ending, Originality in Form and Structure]}"]


def test_a_certificate_holds_everything_that_it_is_of(certified: Path) -> None:
    found = read(certified)
    assert found["holds"] is True
    assert found["judge"]["judge_key"].startswith("b2:")
    assert set(found["criteria"]) == {"Narrative Ending", "Originality in Form and Structure"}
    assert list(found["eval_prompts"]) == ["ep2"]
    assert found["people"] == {"raters": 11, "known_one_by_one": True, "rated_stories": 48, "labels_note": None}
    assert found["dataset"]["stories"] == 48
    assert [one["condition"] for one in found["conditions"]] == ["people", "coverage=0.9"]
    row = found["rows"][0]
    assert row["coverage"] == 1.0
    assert row["tau"]["low"] < row["tau"]["value"] < row["tau"]["high"]
    assert {"one_more_person", "control", "icc", "balanced_accuracy", "replacement", "biases"} <= set(row)
    assert found["dates"]["last_answer"] is not None
    assert found["signature"]


def test_what_does_not_hold_is_written_and_ends_with_exit_code_4(rated_run: Path, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    words = ["--criterion", "Narrative Ending", "--floor", "tau=0.9", "--require", "replace", "--resamples", 40]
    assert judge("certify", rated_run, *words, "-o", file) == 4
    found = read(file)
    assert found["holds"] is False
    failed = {one["condition"]: one["failed"] for one in found["conditions"] if not one["holds"]}
    assert set(failed) == {"tau=0.9", "replace"}
    assert "30 stories" in failed["replace"][0]
    with pytest.raises(UncertifiedError, match=r"conditions do not hold \(tau=0.9, replace\)"):
        fits(file, rated_run, ["criteria={set: ttcw, only: [Narrative Ending]}"])


def test_a_control_on_labels_by_construction_is_never_certified(tmp_path: Path) -> None:
    assert judge("demo", tmp_path / "demo", "--quiet") == 0
    file = tmp_path / "c.json"
    assert judge("certify", tmp_path / "demo", "--floor", "coverage=0", "--resamples", 20, "-o", file) == 4
    assert [one["holds"] for one in read(file)["conditions"]] == [False, True]


def test_the_run_that_was_certified_is_covered(certified: Path, rated_run: Path) -> None:
    def refusal(overrides: list[str]) -> str | None:
        try:
            fits(certified, rated_run, overrides)
        except UncertifiedError as error:
            return str(error)
        return None

    assert refusal(OWN) is None
    assert refusal([*OWN, "generation.seed=3"]) is None  # draws other answers of the same judge
    assert refusal([*OWN, "repeats=3"]) is None
    assert refusal(["criteria={set: ttcw, only: [Narrative Ending]}"]) is None


@pytest.mark.parametrize(
    ("overrides", "named"),
    [
        ([], "does not cover the criteria"),
        ([*OWN, "identity=gpt5"], "another judge"),
        ([*OWN, "generation.temperature=0.5"], "settings differ: generation"),
        ([*OWN, "system=Be brief."], "settings differ: system"),
        ([*OWN, "eval_prompts=ep1"], "no Eval-Prompt of this wording: ep1"),
    ],
)
def test_another_judge_template_criterion_or_setting_is_refused(
    certified: Path, rated_run: Path, overrides: list[str], named: str
) -> None:
    with pytest.raises(UncertifiedError, match=named):
        fits(certified, rated_run, overrides)


def test_a_criterion_of_the_same_name_and_another_wording_is_refused(certified: Path, rated_run: Path) -> None:
    (rated_run / "mine.yaml").write_text(
        "name: mine\n"
        "criteria:\n"
        "  - {name: Narrative Ending, abbreviation: NE, definition: other, scale: {labels: ['No', 'Yes']}}\n",
        encoding="utf-8",
    )
    with pytest.raises(UncertifiedError, match="criteria Narrative Ending"):
        fits(certified, rated_run, [f"criteria={{set: {rated_run / 'mine.yaml'}}}"])


def test_fewer_repeats_a_model_that_ended_and_imported_ratings_are_refused(certified: Path, rated_run: Path) -> None:
    with pytest.raises(UncertifiedError, match="mean of 3 repeats, and 1"):
        fits(certified, rated_run, OWN, repeats=3)
    life = {"model": "m", "on": "2025-12-31", "status": "retired", "source": "a test"}
    with pytest.raises(UncertifiedError, match="shut down on 2025-12-31"):
        fits(certified, rated_run, OWN, model_life=life)
    fits(certified, rated_run, OWN, date(2025, 12, 30), model_life=life)
    with pytest.raises(UncertifiedError, match="imported"):
        fits(certified, rated_run, OWN, judge={"name": "j", "judge_key": None})


def test_judge_run_asks_nothing_that_is_not_covered(
    certified: Path, rated_run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["run", rated_run, "--require-certificate", certified, "--quiet"]
    assert judge(*words) == 4
    assert "does not cover the criteria" in capsys.readouterr().err
    assert judge(*words, "--set", OWN[0]) == 0


@pytest.mark.parametrize(
    ("floors", "requirements", "complaint"),
    [
        ((), (), "needs a condition"),
        (("tau",), (), "NAME=NUMBER"),
        (("tau=x",), (), "NAME=NUMBER"),
        (("tau=30",), (), "outside -1 to 1"),
        (("kappa=0.3",), (), "kappa"),
        (("tau=0.1", "tau=0.2"), (), "twice"),
        ((), ("luck",), "luck"),
    ],
)
def test_conditions_that_mean_nothing_are_refused(
    floors: tuple[str, ...], requirements: tuple[str, ...], complaint: str
) -> None:
    with pytest.raises(SpecError, match=complaint):
        Conditions.of(floors, requirements)


def test_nine_tenths_need_a_rating_unless_another_floor_is_given() -> None:
    assert Conditions.of(["tau=0.3"], []).floors[-1] == Floor("coverage", 0.9)
    assert Conditions.of([], ["unbiased"]).floors == (Floor("coverage", 0.9),)
    assert Conditions.of(["coverage=0.5"], []).floors == (Floor("coverage", 0.5),)


def test_what_options_left_out_is_recorded_and_printed(
    rated_run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "c.json"
    words = ["--criterion", "Narrative Ending", "--floor", "coverage=0.9", "--resamples", 20, "-o", file]
    assert judge("certify", rated_run, *words) == 0
    left = read(file)["left_out"]
    assert len(left["criteria"]) == 13  # of the 14 tests of Art or Artifice
    assert "Narrative Ending" not in left["criteria"]
    assert left["eval_prompts"] == []
    assert f"left out, and not certified: the criteria {left['criteria'][0]}, " in " ".join(
        capsys.readouterr().out.split()
    )


def test_labels_whose_length_bias_cannot_be_told_are_not_certified_as_unbiased(rated_run: Path, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    words = ["--criterion", "Narrative Ending", "--require", "unbiased", "--resamples", 20, "-o", file]
    assert judge("certify", rated_run, *words) == 4
    (failed,) = next(one["failed"] for one in read(file)["conditions"] if one["condition"] == "unbiased")
    assert "cannot be told: length (left out: two labels are not points of a scale)" in failed
    # Three systems of language models wrote stories there, and nobody said whether one of them is the judge's own.
    assert "cannot be told: self-preference" in failed
    assert judge("certify", rated_run, *words, "--set", "no_own=true") == 4
    (failed,) = next(one["failed"] for one in read(file)["conditions"] if one["condition"] == "unbiased")
    assert "self-preference" not in failed
    assert "no system is the judge's own, as was stated" in read(file)["notes"]


@pytest.mark.parametrize("text", ["", "[]", '{"format": "judge-certificate/1"}', '{"format": "judge-certificate/2"}'])
def test_a_file_that_is_no_certificate_is_named(text: str, tmp_path: Path) -> None:
    file = tmp_path / "c.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DataError, match=r"c\.json"):
        read(file)


def test_several_judges_are_refused(rated_run: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    table = tmp_path / "r.csv"
    lines = ["story,story_prompt,system,criterion,judge,eval_prompt,rating"]
    lines += [f"s{i},p{i},A,Coherence,{name},ep1,{1 + i % 5}" for i in range(12) for name in ("j1", "j2")]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if judge("import", table, "-o", tmp_path / "imported") != 0:
        pytest.fail(capsys.readouterr().err)
    assert judge("certify", tmp_path / "imported", "--floor", "tau=0") == 1
    assert "one judge, and there are 2: j1, j2" in capsys.readouterr().err
