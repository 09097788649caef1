"""The five rules, each on texts that should and should not be flagged, and on the study's odd items, once."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from judge.base.errors import SpecError
from judge.cli.main import main
from judge.explanations.corpus.corpus import stories_of
from judge.explanations.corpus.reading import read_texts
from judge.explanations.quality.error_flags import RULES, TOO_FEW, Explained, explained, flags, measure, validation
from judge.explanations.quality.guideline_point import QuotedPoints
from judge.explanations.quality.quoted_evidence import Library, Reading
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets.studies.hanna import QUESTIONS, read_items
from tests.explanations import planted

CRITERIA = {criterion.name: criterion for criterion in load_criteria("hanna").criteria}
EMPATHY = CRITERIA["Empathy"]
STORY = "Anna found the lantern in the cellar. Her brother never came back from the harbour."
FINE = "Anna searches the cellar with her lantern, and that her brother never came back moved me."


def one(text: str | None, rating: float | None = 3.0, name: str = "Empathy", answer: str | None = None) -> Explained:
    library = Library(stories_of([("toy", "s", "A lost brother", None, STORY, None)]), list(CRITERIA.values()))
    whole = answer if answer is not None else f"{rating:g}\n\n{text or ''}"
    sources, quoted = library.of("toy", "s", name), QuotedPoints(CRITERIA[name]).of(whole)
    reading = Reading.of(text or "")
    return Explained(whole, text, rating, CRITERIA[name], sources, story_known=True, reading=reading, quoted=quoted)


def flagged(found: Explained) -> set[str]:
    return {name for name, there in flags(found).items() if there}


def test_a_plain_explanation_is_not_flagged() -> None:
    assert flagged(one(FINE)) == set()
    assert flagged(one(None)) == set()


@pytest.mark.parametrize("point", [1, 3, 5])
def test_a_copied_guideline_gives_no_reasons_and_is_wrong_under_another_rating(point: int) -> None:
    copied = EMPATHY.guidelines[point - 1]
    assert flagged(one(copied, float(point))) == {"Unsubstantiated Claims"}
    assert flagged(one(copied, 2.0)) == {"Unsubstantiated Claims", "Wrong Guideline"}


def test_two_points_at_once_are_incoherent() -> None:
    both = f"{EMPATHY.guidelines[0]} {EMPATHY.guidelines[4]} {FINE}"
    assert {"Incoherence"} == flagged(one(both, 1.0))
    assert flagged(one(both, 3.0)) == {"Incoherence", "Wrong Guideline"}


@pytest.mark.parametrize(
    "text",
    [
        "Anna walks walks down into the cellar with her lantern.",
        "The lantern was almost kept me awake, and the harbour too.",
        "Anna takes an lantern into the cellar.",
        "Anna is afraid.Her brother never came back from the harbour.",
        'Anna says "come back, but nobody hears her in the cellar.',
        "Anna looks for her brother at the harbour and in the cellar, because she did not",
    ],
)
def test_poor_syntax(text: str) -> None:
    assert flagged(one(text)) == {"Poor Syntax"}


@pytest.mark.parametrize(
    "answer",
    [
        f"3 — {EMPATHY.guidelines[2]}\n\n{FINE}",
        f"3\n\n{FINE} The guidelines suggest a 3.",
        f"3\n\n{FINE} {FINE}",
        f"3\n\n{FINE}\n\nUser: Rate the next story",
    ],
)
def test_superfluous_text(answer: str) -> None:
    assert "Superfluous Text" in flagged(one(answer.partition("\n\n")[2], answer=answer))
    assert "Superfluous Text" not in flagged(one(FINE, answer=f"3 — {EMPATHY.guidelines[2]} {FINE}"))


def test_claims_need_words_of_the_story() -> None:
    empty = "The characters feel real and their emotions are strong, which is impressive."
    assert flagged(one(empty)) == {"Unsubstantiated Claims"}
    assert flagged(one(f"{empty} Think of the harbour.")) == set()
    assert flagged(one(f'{FINE} She says "never trust a sailor".')) == {"Unsubstantiated Claims"}
    assert flagged(one(f'{FINE} It says "never came back".')) == set()


def test_quoted_points_go_by_what_only_they_say() -> None:
    complexity = CRITERIA["Complexity"]
    for number, sentence in enumerate(complexity.guidelines, start=1):
        assert QuotedPoints(complexity).of(sentence)[0] == (float(number), 1.0)
    assert QuotedPoints(complexity).of("nothing of the kind") == ()


def test_validation_counts_odd_items_alone_with_the_polarity_turned(studies: Path) -> None:
    path = studies / "hanna" / "user_study.csv"
    with path.open(encoding="utf-8", newline="") as stream:
        answers = list(csv.DictReader(stream))
    audited = read_texts(path)
    library = Library(audited.stories, audited.criteria)
    said = [flags(found) for found in explained(audited.frame, audited.criteria, library, Reading.of)]
    rows = {row.result.error: row.result for row in validation(path).rows}
    assert set(rows) == set(RULES) == set(QUESTIONS)
    for name, (column, turned) in QUESTIONS.items():
        there = "0" if turned else "1"
        positive = [any(row[column] == there for row in answers[3 * i : 3 * i + 3]) for i in range(1, 100, 2)]
        flagged = [said[i][name] for i in range(1, 100, 2)]
        both = sum(a and b for a, b in zip(positive, flagged, strict=True))
        row = rows[name]
        assert (row.both, row.flagged, row.positive, row.items) == (both, sum(flagged), sum(positive), 50)
        assert (row.remark == TOO_FEW) == (sum(positive) < 10)
        for share, n in ((row.precision, sum(flagged)), (row.recall, sum(positive))):
            if n:
                low, high = binomtest(both, n).proportion_ci(method="wilson")
                assert (share.value, share.low, share.high) == pytest.approx((both / n, low, high))
            else:
                assert not share.defined
    useful = rows["Unsubstantiated Claims"]
    assert useful.precision.low > useful.base.value


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str], studies: Path) -> None:
    path = str(studies / "hanna" / "user_study.csv")
    with pytest.raises(SystemExit) as ended:
        main(["explain", "--set", f"validate_flags={path}", "--format", "json"])
    assert not ended.value.code
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    assert [row["items"] for row in found["rows"]] == [50] * 5
    assert {row["remark"] for row in found["rows"]} == {None, TOO_FEW}
    with pytest.raises(SystemExit) as ended:
        main(["explain", "runs/demo", "--set", f"validate_flags={path}"])
    assert ended.value.code == 1
    assert "alone" in capsys.readouterr().err
    with pytest.raises(SystemExit) as ended:
        main(["explain"])
    assert ended.value.code == 1
    assert "name a RUN or a FILE" in capsys.readouterr().err


def test_without_the_studys_guidelines_nothing_is_validated(
    studies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "user_study.csv"
    copy.write_bytes((studies / "hanna" / "user_study.csv").read_bytes())
    monkeypatch.setenv("JUDGE_DATA", str(tmp_path))
    monkeypatch.setenv("JUDGE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    with pytest.raises(SpecError) as told:
        validation(copy)
    assert told.value.hint == "judge data add hanna_eval_prompts PATH"


def test_shares_of_flags_a_judge_and_criterion() -> None:
    frame = planted.frame(
        lambda at: EMPATHY.guidelines[0] if at.repeat == 0 else FINE, criteria=("Empathy", "Charm"), stories=12
    )
    library = Library(stories_of([("toy", f"s{n}", "", None, STORY, None) for n in range(12)]), [EMPATHY])
    found = measure(frame, [EMPATHY], library, Reading.of, "signature")
    empathy, charm = found.rows
    assert empathy.result.shares["Unsubstantiated Claims"].value == pytest.approx(1 / 3)
    assert charm.result.shares["Wrong Guideline"].value == 0
    assert any(note.startswith("36 texts are about criteria without known guidelines") for note in found.notes)


def test_items_are_read_as_the_file_has_them(studies: Path) -> None:
    items = read_items(studies / "hanna" / "user_study.csv")
    assert len(items) == 100
    assert sum(any(item.errors["Wrong Guideline"]) for item in items) == 14
    assert sum(any(item.errors["Unsubstantiated Claims"]) for item in items) == 41
