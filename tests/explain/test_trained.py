"""Back-ends that load models: a trained evaluator with embeddings, and a reward model of one label."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest

from judge.backends import Settings, open_backend
from judge.backends.trained.backend import LinearScorer
from judge.backends.trained.model import read_model
from judge.base.errors import BackendError
from judge.base.records import Scale, Story
from judge.inputs.embedding import embed
from judge.inputs.text_features import for_regression, own_features
from judge.lab.training.options import Telling, TrainOptions
from judge.lab.training.train import train
from tests.training.test_train import WORDS, opened, query, rated_file


def test_a_model_with_embeddings_scores_again_as_it_was_fitted(minilm: str, tmp_path: Path) -> None:
    data = opened(rated_file(tmp_path / "rated.jsonl", 48))
    train(
        [data],
        tmp_path / "m",
        TrainOptions(foldings=1, folds=2, resamples=20, embed=minilm),
        None,
        Telling(lambda _: None),
    )
    model = read_model(tmp_path / "m")
    story, head = next(iter(data.stories())), model.heads[0]
    assert len(head.embedding) == 384
    scorer = LinearScorer(model, {})
    asyncio.run(scorer.probe())
    features = for_regression(own_features(story.text, story.story_prompt))
    vector = embed([story.text], minilm).vectors[0].astype(float)
    by_hand = head.intercept + sum(term.part(features[term.feature]) for term in head.surface)
    by_hand += sum(term.part(value) for term, value in zip(head.embedding, vector, strict=True))
    assert asyncio.run(scorer.score(story, head)) == pytest.approx(by_hand, abs=1e-6)


def _reward_model(folder: Path, labels: int = 1) -> Path:
    """A BERT of a few thousand parameters with weights at random, and its words."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    folder.mkdir()
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", ".", *sorted({word.lower() for word in WORDS})]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    BertTokenizer(str(folder / "vocab.txt"), model_max_length=64).save_pretrained(folder)
    torch.manual_seed(1)
    config = BertConfig(
        vocab_size=len(words),
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=16,
        max_position_embeddings=64,
        num_labels=labels,
        initializer_range=1.0,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def test_a_reward_model_prefers_and_rates_by_its_one_number(tmp_path: Path) -> None:
    backend = open_backend(f"reward/{_reward_model(tmp_path / 'reward')}", Settings())
    facts = asyncio.run(backend.probe())
    assert facts["max_model_len"] == 64
    rng = np.random.default_rng(3)
    stories = [Story(f"s{i}", "The lamp went out", "x", " ".join(rng.choice(WORDS, 20))) for i in range(6)]
    ratings = [float(asyncio.run(backend.complete(query(one), [0]))[0].text.split()[1]) for one in stories]
    assert len(set(ratings)) == 6
    assert all(rating in Scale() for rating in ratings)
    for one, other in ((0, 1), (2, 3), (5, 4)):
        (answer,) = asyncio.run(backend.complete(query(stories[one], stories[other]), [0]))
        assert answer.text.split()[1] == ("A" if ratings[one] > ratings[other] else "B")
    long = Story("long", "The lamp", "x", " ".join(["lamp"] * 80))
    with pytest.raises(BackendError, match="reads 64"):
        asyncio.run(backend.complete(query(long), [0]))
    asyncio.run(backend.close())


def test_a_classifier_of_two_labels_is_no_reward_model(tmp_path: Path) -> None:
    backend = open_backend(f"reward/{_reward_model(tmp_path / 'two', 2)}", Settings())
    with pytest.raises(BackendError, match="has 2 labels"):
        asyncio.run(backend.probe())
