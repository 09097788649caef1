"""WP_200: plain values out of a pickle, and never an object."""

from __future__ import annotations

import os
import pickle
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import kendalltau

from judge.base.errors import DataError
from judge.cli.main import main
from judge.inputs.datasets import open_dataset
from judge.inputs.datasets.studies import storyer
from judge.inputs.datasets.studies.storyer import line_breaks, read_plain_pickle, read_wp200
from judge.inputs.text_features import length
from judge.ratings.ratings_table import read


class Harmful:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch harmed",)


def test_released_file(with_studies: Path) -> None:
    stories = list(open_dataset("storyer_wp200").stories())
    scores = [s.ratings[0].value for s in stories]
    assert len({s.id for s in stories}) == 200
    assert (min(scores), max(scores), round(statistics.fmean(scores), 3)) == (0.25, 0.90, 0.571)
    assert {(r.criterion, r.rater) for s in stories for r in s.ratings} == {("Overall", None)}


def test_line_breaks_are_decoded_and_nothing_else(with_studies: Path) -> None:
    released = dict(read_plain_pickle(with_studies / "storyer" / "story_correlation.pkl"))
    stories = list(open_dataset("storyer_wp200").stories())
    assert sum("<\\newline>" in text for text in released) == 188
    assert not any("<" in story.text for story in stories)
    assert sum(story.text.count("\n") for story in stories) == 2698 == "".join(released).count("<\\newline>")
    assert sorted("".join(story.text.split()) for story in stories) == sorted(
        "".join(text.replace("<\\newline>", "").split()) for text in released
    )
    # Measured once on the released file: tau-b of the number of tokens with the people's means.
    tau = kendalltau([length(s.text) for s in stories], [s.ratings[0].value for s in stories]).statistic
    assert tau == pytest.approx(0.294, abs=0.0005)


@pytest.mark.parametrize(
    ("released", "decoded"),
    [
        ("One.  <\\newline>   <\\newline>  Two.", "One.\n\nTwo."),
        ("One.<br>Two. <BR/> Three.<br />", "One.\nTwo. \n Three.\n"),
        ("a <b>c</b> \\newline <newline> &lt;br&gt;", "a <b>c</b> \\newline <newline> &lt;br&gt;"),
    ],
)
def test_only_the_documented_marks_are_line_breaks(released: str, decoded: str) -> None:
    assert line_breaks(released) == decoded


def test_a_run_of_the_texts_as_released_keeps_them_and_is_not_gone_on_with(
    with_studies: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "wp"
    folder.mkdir()
    (folder / "run.yaml").write_text(
        "name: wp\ndataset: storyer_wp200\njudge: surface\ncriteria: overall\neval_prompts: ep1\n"
    )

    def run(*words: str) -> int | str | None:
        with pytest.raises(SystemExit) as stop:
            main([*words, str(folder)])
        return stop.value.code

    with monkeypatch.context() as before:  # the reader as it was: nothing decoded, no word of it in the dataset's hash
        before.setattr(storyer, "line_breaks", lambda text: text)
        before.setattr(storyer, "DECODED", None)
        assert run("run", "--quiet") == 0
    texts = read([folder]).stories["text"]
    assert sum("<\\newline>" in text for text in texts) == 188
    assert run("status", "--verify") == 0
    assert run("run", "--quiet") == 1
    assert "the dataset's content changed since it was started" in capsys.readouterr().err


def test_order_does_not_give_the_score_away(with_studies: Path) -> None:
    scores = [s.ratings[0].value for s in open_dataset("storyer_wp200").stories()]
    assert scores != sorted(scores)
    # The file itself is sorted; 200 scores in an order that knows nothing of them stay within 3 standard errors of 0.
    assert abs(statistics.correlation(scores, range(200))) < 3 / 200**0.5


def test_a_pickle_that_asks_for_code_is_refused_and_runs_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, write: Callable[[str, bytes], Path]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = write("bad.pkl", pickle.dumps([Harmful()]))
    with pytest.raises(DataError, match=r"not a pickle of plain values: the file asks for \w+\.system"):
        read_plain_pickle(path)
    assert not (tmp_path / "harmed").exists()


@pytest.mark.parametrize("raw", [b"", b"not a pickle", pickle.dumps([1, 2])[:-1], b"\x80\x05P1\n."])
def test_broken_pickles(raw: bytes, write: Callable[[str, bytes], Path]) -> None:
    with pytest.raises(DataError, match="not a pickle of plain values"):
        read_plain_pickle(write("bad.pkl", raw))


def _pairs() -> list[Any]:
    return [(f"story {i}", 0.25 + i / 400) for i in range(200)]


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda p: p.pop(), "199 stories where the released file has 200"),
        (
            lambda p: p.__setitem__(3, ("x", 0.95)),
            r"row 4, column 'score': rating off the scale; .*allowed: 0.25 to 0.9",
        ),
        (lambda p: p.__setitem__(3, ("x", float("nan"))), "row 4, column 'score': not a rating"),
        (lambda p: p.__setitem__(3, ("x", "0.5")), "row 4, column 'score': not a number"),
        (lambda p: p.__setitem__(3, ("", 0.5)), "row 4, column 'story': the text is empty"),
        (lambda p: p.__setitem__(3, ("story 1", 0.5)), "row 4, column 'story': the same story occurs twice"),
        (lambda p: p.__setitem__(3, "x"), "row 4: not a pair"),
    ],
)
def test_anything_not_as_released_is_named(
    spoil: Callable[[list[Any]], object], sentence: str, write: Callable[[str, bytes], Path]
) -> None:
    pairs = _pairs()
    spoil(pairs)
    with pytest.raises(DataError, match=sentence):
        list(read_wp200(write("wp.pkl", pickle.dumps(pairs))))
