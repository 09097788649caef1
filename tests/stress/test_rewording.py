"""Other words for sentences: by a model that is asked once, or out of a file of back-translations."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from judge.backends import Capabilities, short_questions
from judge.base.errors import BackendError, DataError
from judge.base.records import Query, Response, Story
from judge.cli.main import main
from judge.inputs.datasets.files.native import read_stories, write_stories
from judge.lab.stress.rewording import bleu_1, complaint, overlap
from judge.lab.stress.session import BackTranslations

# The released example file of the study's toolkit, in part.
EXAMPLE: list[dict[str, Any]] = [
    {
        "his parents were overweight .": {"score": 0.999999999999999, "trans": "his parents were overweight ."},
        "he was overweight as well .": {"score": 0.5759456063871445, "trans": "he was overweight , too ."},
    },
    {
        "he was out jogging one morning .": {"score": 0.5195623671896094, "trans": "one morning he went out jogging ."},
        "he went several more miles out of his way .": {
            "score": 0.24771801058183567,
            "trans": "[MALE] walked a few more miles .",
        },
    },
]
TEXTS = {
    "a": "He was out jogging one morning. The weather was crisp and cold outside. Nobody saw him.",
    "b": "The weather was crisp and cold outside. [MALE] bought a loaf of bread. He ate.",
}
WORDS = {
    "He was out jogging one morning.": "One early morning, jogging outdoors is what he did.",
    "The weather was crisp and cold outside.": '"Cold, crisp weather awaited everybody."',
    "[MALE] bought a loaf of bread.": "He purchased some fresh bread.",
}


class Imitation:
    """Gives `WORDS`; fails for good or for a while where it is told to."""

    capabilities = Capabilities()

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.fails: dict[str, bool] = {}

    async def probe(self) -> Mapping[str, Any]:
        return {}

    async def complete(self, query: Query, repeats: Sequence[int]) -> list[Response]:  # noqa: ARG002
        sentence = query.story.text
        assert sentence in query.messages[0].content
        self.asked.append(sentence)
        if sentence in self.fails:
            raise BackendError("no", kind="server", retryable=self.fails.pop(sentence), retry_after=0.001)
        return [Response(f"New sentence: {WORDS[sentence]}", "stop")]

    async def close(self) -> None:
        """Nothing to give back."""


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Imitation:
    imitation = Imitation()
    monkeypatch.setattr(short_questions, "open_backend", lambda spec, settings: imitation)
    return imitation


@pytest.fixture
def stories(tmp_path: Path) -> Path:
    path = tmp_path / "mine.jsonl"
    write_stories(path, [Story(name, "p", "Human", text) for name, text in TEXTS.items()])
    return path


@dataclass(frozen=True, slots=True)
class Done:
    """How a command ended and what it printed, in one line."""

    exit_code: int
    output: str


def make(*words: object) -> Done:
    out, err = StringIO(), StringIO()
    code = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(["stress", "make", *map(str, words), "--quiet"])
        except SystemExit as left:
            code = int(left.code or 0)
    return Done(code, " ".join(f"{out.getvalue()} {err.getvalue()}".split()))


def texts(path: Path) -> dict[str, str]:
    return {story.id: story.text for story in read_stories(path)}


def test_words_and_brevity_count_as_in_bleu() -> None:
    # Three of four words count; four words for six are penalised by exp(1 - 6/4).
    assert bleu_1("the cat sat on the mat", "the the the cat") == pytest.approx(0.75 * math.exp(-0.5))
    assert bleu_1("the cat sat", "the cat sat") == 1
    assert bleu_1("the cat sat", "") == 0
    assert overlap("The weather was crisp.", "crisp weathers") == 1
    assert overlap("The weather was crisp.", "It rained.") == 0


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("Through the park ran a hound. It was big.", "not one sentence"),
        ("", "not one sentence"),
        ("A hound", "of another length"),
        ("The dog ran across the park.", "too many of the same words"),
        ("Through parkland a [MALE] hound ran.", "other placeholders"),
        ("Across parkland, a hound was running.", None),
    ],
)
def test_what_is_no_rewording_is_not_taken(said: str, why: str | None) -> None:
    assert complaint("The dog ran through the park.", said) == why


def test_back_translations_are_those_of_the_study(tmp_path: Path) -> None:
    path = tmp_path / "story_bt.json"
    path.write_text(json.dumps(EXAMPLE), encoding="utf-8")
    found = BackTranslations(path)
    text = "His parents were overweight .\nHe  was overweight as well . he was out jogging one morning ."
    assert found.of(Story("s", "", "", text)) == {
        "He  was overweight as well .": "he was overweight , too .",
        "he was out jogging one morning .": "one morning he went out jogging .",
    }
    for wrong in ('["a"]', '{"a b c d e": {"trans": "x"}}', '{"a b c d e": {"score": true, "trans": "x"}}'):
        path.write_text(wrong, encoding="utf-8")
        with pytest.raises(DataError):
            BackTranslations(path)


def test_a_file_of_back_translations_makes_both_perturbations(tmp_path: Path, stories: Path) -> None:
    file = tmp_path / "bt.json"
    entries = {"the weather was crisp and cold outside.": {"score": 0.5, "trans": "outside it was cold."}}
    file.write_text(json.dumps(entries), encoding="utf-8")
    out = tmp_path / "out.jsonl"
    names = ("--perturbation", "paraphrases", "--perturbation", "semantic-repetition")
    done = make(stories, "-o", out, *names, "--strength", "1,2", "--set", f"back_translations={file}")
    assert done.exit_code == 0, done.output
    other = TEXTS["b"].replace("The weather was crisp and cold outside.", "outside it was cold.")
    assert texts(out)["b@paraphrases.1"] == other
    assert texts(out)["a@semantic-repetition.1"].count("outside it was cold.") == 1
    assert "a@paraphrases.2" not in texts(out)
    assert "too few sentences with a paraphrase (2)" in done.output


def test_a_model_is_asked_once_for_each_sentence(tmp_path: Path, stories: Path, model: Imitation) -> None:
    out = tmp_path / "out.jsonl"
    model.fails = {"He was out jogging one morning.": True}
    call = (stories, "-o", out, "--perturbation", "paraphrases", "--set", "rewriter=openai/some")
    assert make(*call).exit_code == 0
    # Three sentences of five words or more, one of them in both stories, one asked again after a failure.
    assert sorted(model.asked) == sorted([*WORDS, "He was out jogging one morning."])
    first = out.read_bytes()
    assert "Cold, crisp weather awaited everybody." in texts(out)["b@paraphrases.1"]
    assert "purchased" not in first.decode()
    facts = json.loads(out.with_suffix(".facts.jsonl").read_text().splitlines()[0])["stress"]
    assert facts["rewriter"] == "openai/some"
    assert facts["rewordings"]["not_taken"] == {"other placeholders": 1}
    for path in (out, out.with_suffix(".facts.jsonl")):
        path.unlink()
    model.asked.clear()
    assert make(*call).exit_code == 0
    assert model.asked == []
    assert out.read_bytes() == first


def test_what_was_answered_before_a_failure_is_kept(tmp_path: Path, stories: Path, model: Imitation) -> None:
    out = tmp_path / "out.jsonl"
    model.fails = {"[MALE] bought a loaf of bread.": False}
    call = (stories, "-o", out, "--perturbation", "paraphrases", "--set", "rewriter=openai/some")
    assert make(*call).exit_code != 0
    assert not out.exists()
    kept = out.with_suffix(".rewordings.jsonl").read_text().splitlines()
    model.asked.clear()
    assert make(*call).exit_code == 0
    assert len(model.asked) == len(WORDS) - len(kept)
    out.with_suffix(".rewordings.jsonl").write_text("{}\n")
    out.unlink()
    out.with_suffix(".facts.jsonl").unlink()
    refused = make(*call)
    assert refused.exit_code != 0
    assert "not a line of rewordings" in refused.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--perturbation", "paraphrases"), "--set rewriter or --set back_translations"),
        (("--perturbation", "typos", "--set", "rewriter=openai/x"), "--set rewriter"),
        (
            ("--perturbation", "paraphrases", "--set", "rewriter=openai/x", "--set", "back_translations=bt.json"),
            "--set rewriter",
        ),
        (("--perturbation", "typos", "--encoder", "folder"), "--encoder"),
        (("--perturbation", "typos", "--base-url", "http://localhost:1"), "--base-url"),
        (("--perturbation", "typos", "--top", " "), "--top"),
    ],
)
def test_options_without_effect_are_refused(options: tuple[str, ...], said: str, tmp_path: Path, stories: Path) -> None:
    done = make(stories, "-o", tmp_path / "out.jsonl", *options)
    assert done.exit_code == 1
    assert said in done.output


def test_the_top_of_another_scale_stands_in_injections(tmp_path: Path, stories: Path) -> None:
    out = tmp_path / "out.jsonl"
    assert make(stories, "-o", out, "--perturbation", "inject-fake-rating", "--top", "10").exit_code == 0
    assert texts(out)["a@inject-fake-rating.1"].endswith(": 10")
