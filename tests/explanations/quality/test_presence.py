"""Two definitions of no explanation, and texts that repeat themselves or run on."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.explanations.corpus.reading import read_texts
from judge.explanations.quality.presence import measure, no_explanation
from judge.explanations.quality.quoted_evidence import Reading, repeats, runs_on
from judge.inputs.criteria import load_criteria
from tests.explanations import planted

CRITERIA = load_criteria("hanna").criteria
POINTS = {criterion.name: criterion.guidelines for criterion in CRITERIA}


def test_a_copied_guideline_passes_as_published_and_not_with_us() -> None:
    texts = {0: None, 1: "{}", 2: "Anna's grief at the grave moved me more than I expected."}
    frame = planted.frame(
        lambda at: POINTS[at.criterion][at.story % 5] if at.repeat == 1 else texts[at.repeat], stories=20
    )
    found = measure(frame, CRITERIA, Reading.of, "signature")
    assert [row.asked.criterion for row in found.rows] == list(planted.CRITERIA)
    for row in found.rows:
        assert row.result.published.value == pytest.approx(1 / 3)
        assert row.result.ours.value == pytest.approx(2 / 3)
        assert (row.result.texts, row.result.answered, row.result.lost) == (40, 60, 0)


def test_answers_not_obtained_are_in_no_share() -> None:
    frame = planted.frame(lambda _: "The grief of Anna moved me.", criteria=("Empathy",), stories=20)
    lost = frame["repeat"] == 0
    frame.loc[lost, ["answer", "text", "explanation", "key"]] = None
    frame.loc[lost, "status"] = "not_answered"
    frame.loc[frame["story"] == "s1", "status"] = "filtered"
    (row,) = measure(frame, CRITERIA, Reading.of, "signature").rows
    assert (row.result.answered, row.result.lost, row.result.texts) == (38, 22, 38)
    assert row.result.ours.value == 0


def test_audited_answers(studies: Path) -> None:
    audited = read_texts(studies / "hanna" / "user_study.csv")
    found = measure(audited.frame, audited.criteria, Reading.of, "signature")
    bare = sum(round(row.result.ours.value * row.result.answered) for row in found.rows)
    assert sum(row.result.answered for row in found.rows) == 100
    assert 24 <= bare <= 30  # 24 of the 100 are but a guideline's line
    assert all(row.result.published.value == 0 for row in found.rows)
    assert any("rows without one" in note for note in found.notes)


def test_texts_of_a_file_have_no_whole_answer(studies: Path) -> None:
    comments = read_texts(studies / "storyer" / "train_rate_reason_data_small.json")
    found = measure(comments.frame, comments.criteria, Reading.of, "signature")
    assert all(row.result.published.reason == "whole answers are not known, only texts" for row in found.rows)
    assert all(row.result.ours.defined for row in found.rows)


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        ("The plot is thin here. I liked the dog. The plot is thin here.", True),
        ("It is good. It is good. It is good.", False),  # three words: no sentence to speak of
        ("I think that the dog who barks at night is old, and that the dog who barks at night is old too", True),
        ("I think that the dog who barks is old and that the cat who purrs is young", False),
        ("", False),
    ],
)
def test_repeats(text: str, repeated: bool) -> None:
    assert repeats(text) is repeated


@pytest.mark.parametrize(
    ("text", "on"),
    [
        ("A fine story.\n\nUser: Rate the next one", True),
        ("A fine story.\n### Instruction:\nRate", True),
        ("A fine story.<|im_end|>", True),
        ("A fine story. [INST] more [/INST]", True),
        ("A fine story.\nRate the target story on a scale from 1 to 5", True),
        ("Assistant: 4, a fine story.", False),
        ("A fine story.\nThe human: a bore", False),
        ("A fine story.\n\nExplanation: it is short", False),
    ],
)
def test_runs_on(text: str, on: bool) -> None:
    assert runs_on(text) is on


def test_no_explanation() -> None:
    empathy = CRITERIA[2]
    assert no_explanation(None, empathy)
    assert no_explanation("  ", None)
    assert no_explanation(empathy.guidelines[0], empathy)
    assert not no_explanation(empathy.guidelines[0], None)
    assert not no_explanation("Anna weeps.", empathy)
