"""A tiny encoder with weights at random, trained for real: what it learns, that it scores again, that it goes on."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from judge.backends import Settings, open_backend
from judge.backends.trained.model import EncoderScorer, read_model
from judge.base.errors import BackendError, OptionError, SpecError
from judge.base.records import Story
from judge.inputs.datasets import open_dataset
from judge.lab.training import encoder_fits
from judge.lab.training.encoder_rung import teach
from judge.lab.training.material import read
from judge.lab.training.options import EncoderOptions, Telling, TrainOptions, encoder_options
from judge.lab.training.train import train
from tests.training.test_train import COLUMNS, WORDS, opened, query, rated_file

SILENT = Telling(lambda _: None)
TOLD = "marvellous"
"""The word that wins: an encoder can read it, and length has nothing to do with it."""


def _base(folder: Path) -> Path:
    """A BERT of 0.36 million parameters and a vocabulary of the tests' words."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", ":", "prompt", "preference", TOLD]
    words += sorted({word.lower() for word in WORDS}) + [str(i) for i in range(100)]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizer(str(folder / "vocab.txt"), model_max_length=128).save_pretrained(folder)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=192,
        max_position_embeddings=128,
        num_labels=1,
    )
    model = BertForSequenceClassification(config)
    assert 0.2e6 < sum(one.numel() for one in model.parameters()) < 0.5e6
    model.save_pretrained(folder)
    return folder


def _pairs(path: Path, prompts: int = 40) -> Path:
    """Two pairs for each story-prompt, alike in length; the story with the word is preferred."""
    rng = np.random.default_rng(3)
    lines = []
    for p in range(prompts):
        for _ in range(2):
            plain = list(rng.choice(WORDS, 24))
            told = [TOLD if i % 4 == 0 else word for i, word in enumerate(plain)]
            turned = bool(rng.integers(2))
            first, second = (told, plain) if turned else (plain, told)
            one = {"story_prompt": f"Prompt {p}", "first": " ".join(first), "second": " ".join(second)}
            lines.append(one | {"preference": "first" if turned else "second"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def _options(base: Path, **more: object) -> TrainOptions:
    encoder = EncoderOptions(str(base), epochs=3, learning_rate=2e-3)
    return TrainOptions(encoder=encoder, folds=2, foldings=1, resamples=20, **more)  # type: ignore[arg-type]


def _logits(folder: Path, stories: list[Story], head: int = 0) -> list[float]:
    model = read_model(folder)
    assert model.encoder is not None
    scorer = EncoderScorer(model, model.encoder, folder, {})

    async def scores() -> list[float]:
        await scorer.probe()
        return [await scorer.score(story, model.heads[head]) for story in stories]

    return asyncio.run(scores())


def test_scores_are_in_full_precision_where_training_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a graphics card: training in bfloat16."""
    of = encoder_fits.CrossEncoderTrainingArguments
    monkeypatch.setattr(encoder_fits, "CrossEncoderTrainingArguments", lambda **how: of(**{**how, "bf16": True}))
    data = open_dataset(str(_pairs(tmp_path / "pairs.jsonl", 20)), columns=COLUMNS)
    options, folder = _options(_base(tmp_path / "base")), tmp_path / "m"
    assert options.encoder is not None
    _, unfinished = teach([read(data, ())], options, options.encoder, (), folder, SILENT)
    kept = unfinished.answers("all")
    assert kept is not None
    train([data], folder, options, None, SILENT)
    again = _logits(folder, sorted(data.stories(), key=lambda story: story.id))
    assert np.abs(np.array(again) - np.array(kept["logits"][0])).max() < 1e-6


def test_it_learns_what_length_cannot_tell_and_scores_again_as_it_was_fitted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("training reaches for the network")

    monkeypatch.setattr(socket.socket, "connect", refused)
    data = open_dataset(str(_pairs(tmp_path / "pairs.jsonl")), columns=COLUMNS)
    options, folder = _options(_base(tmp_path / "base")), tmp_path / "m"
    assert options.encoder is not None
    made, unfinished = teach([read(data, ())], options, options.encoder, (), folder, SILENT)
    kept = unfinished.answers("all")
    assert kept is not None
    result = train([data], folder, options, None, SILENT)
    # Out of fold: no story-prompt is predicted by a fit that saw it.
    assert result.card["out_of_fold"]["foldings"]["Overall"][0] > 0.9
    assert result.preferences is not None
    assert {"longer", "control", "judge"} <= {row.kind for row in result.preferences.rows}
    assert not (folder / "unfinished").exists()
    stories = sorted(data.stories(), key=lambda story: story.id)
    again = _logits(folder, stories)
    assert np.abs(np.array(again) - np.array(kept["logits"][0])).max() < 1e-6
    assert len(made.heads) == 1
    assert result.card["facts"]["asked"] == {"Overall (preference)": "preference"}
    backend = open_backend(f"trained/{folder}", Settings())
    facts = asyncio.run(backend.probe())
    assert facts["max_model_len"] == 128
    told, plain = (Story(name, "Prompt 3", "x", f"{name} the lamp on the quay") for name in (TOLD, "many"))
    for one, other, word in ((told, plain, "A"), (plain, told, "B")):
        (answer,) = asyncio.run(backend.complete(query(one, other), [0]))
        assert answer.text.startswith(f"Verdict: {word}")
    low, high = (float(asyncio.run(backend.complete(query(s), [0]))[0].text.split()[1]) for s in (plain, told))
    assert 1 <= low < high <= 5
    weights = folder / "encoder" / "config.json"
    weights.write_text(weights.read_text() + " ")
    with pytest.raises(BackendError, match="does not hold the weights"):
        asyncio.run(open_backend(f"trained/{folder}", Settings()).probe())


def test_preferences_and_ratings_are_learnt_jointly_each_by_its_question(tmp_path: Path) -> None:
    pairs = open_dataset(str(_pairs(tmp_path / "pairs.jsonl", 30)), columns=COLUMNS)
    rated = opened(rated_file(tmp_path / "rated.jsonl", 60))
    stress = tmp_path / "stress.jsonl"
    lines = [
        {"id": f"o{i}@{name}", "story_prompt": f"P{i}", "system": "x", "text": text, "ratings": []}
        for i in range(6)
        for name, text in (("none", f"{TOLD} lamp {i}"), ("typos.1", f"lmap {i}"))
    ]
    stress.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    options = _options(_base(tmp_path / "base"), negatives=stress)
    result = train([pairs, rated], tmp_path / "m", options, open_dataset(str(stress)), SILENT)
    asked = result.card["facts"]["asked"]
    assert asked["Overall (preference)"] == "preference"
    assert asked["Coherence (rating)"].startswith("Coherence: ")
    # 60 lists of a pair each, and 6 of an origin with what was made of it.
    assert (result.card["facts"]["lists"], result.card["facts"]["rated"], result.card["negatives"]) == (66, 60, 6)
    assert result.ratings is not None
    assert {row.predictor for row in result.ratings.rows} >= {"trained, out of fold", "longer is better"}
    scores = _logits(tmp_path / "m", list(rated.stories())[:5], head=1)
    assert all(1 <= score <= 5 for score in scores)


@pytest.mark.timeout(900)  # four processes that each load PyTorch
def test_a_killed_training_goes_on_and_ends_as_if_nothing_had_happened(tmp_path: Path) -> None:
    base, data = _base(tmp_path / "base"), _pairs(tmp_path / "pairs.jsonl", 24)
    columns = [part for name in COLUMNS for part in ("--column", f"{name}={name}")]
    rare = ["--set", "folds=2", "--set", "learning_rate=2e-3"]
    options = [*rare, "--set", "epochs=2", "--resamples", "20", "--format", "json"]

    def command(folder: str) -> list[str]:
        where = ["train", str(data), "-o", str(tmp_path / folder), "--encoder", str(base)]
        return [sys.executable, "-m", "judge", *where, *columns, *options]

    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    whole = subprocess.run(command("whole"), env=environment, capture_output=True, text=True, check=True)
    assert "fits of at most 2 epochs" in whole.stderr
    for after in ("folding-1-fold-2/checkpoint-*", "all/checkpoint-*"):
        with subprocess.Popen(command("killed"), env=environment, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and not list((tmp_path / "killed" / "unfinished").glob(after)):
                time.sleep(0.02)
            process.send_signal(signal.SIGKILL)
    assert not (tmp_path / "killed" / "model.json").exists()
    last = subprocess.run(command("killed"), env=environment, capture_output=True, text=True, check=True)
    assert "going on with the training" in last.stderr
    assert json.loads(last.stdout) == json.loads(whole.stdout.replace("trained/whole", "trained/killed"))
    stories = list(open_dataset(str(data), columns=COLUMNS).stories())[:20]
    assert _logits(tmp_path / "killed", stories) == pytest.approx(_logits(tmp_path / "whole", stories), abs=1e-6)


def test_long_texts_are_counted_and_mistakes_are_told(tmp_path: Path) -> None:
    base = _base(tmp_path / "base")
    rated = opened(rated_file(tmp_path / "rated.jsonl", 48))
    encoder = EncoderOptions(str(base), epochs=1, max_length=64)
    options = TrainOptions(encoder=encoder, folds=2, foldings=1, resamples=20)
    result = train([rated], tmp_path / "m", options, None, SILENT)
    cut = result.card["facts"]["longer_than_read"]
    assert 5 < cut < 48
    assert result.ratings is not None
    assert any(f"{cut} of 48 texts are longer than the 64 tokens" in note for note in result.ratings.notes)
    with pytest.raises(SpecError, match="reads 128 tokens"):
        train([rated], tmp_path / "n", TrainOptions(encoder=EncoderOptions(str(base), max_length=400)), None, SILENT)
    with pytest.raises(SpecError, match="cannot be loaded"):
        train([rated], tmp_path / "n", TrainOptions(encoder=EncoderOptions(str(tmp_path / "no"))), None, SILENT)
    with pytest.raises(OptionError, match="has no part in an encoder"):
        TrainOptions(encoder=encoder, embed="all-MiniLM-L6-v2")
    with pytest.raises(OptionError, match="is of an encoder"):
        encoder_options(None, epochs=2)
    left = tmp_path / "o" / "unfinished"
    left.mkdir(parents=True)
    (left / "plan.json").write_text('{"plan": "b2:other", "about": {"seed": 7}}')
    with pytest.raises(SpecError, match="unfinished training with other"):
        train([rated], tmp_path / "o", options, None, SILENT)
