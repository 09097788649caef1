"""Measures by a model: equal to what the model says when it is asked plainly, whatever the batch."""

from __future__ import annotations

import math
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from judge.base.records import Story
from judge.lab.measures import Item, Need, Tools, Undefined, likelihood, named
from judge.lab.measures import encoders as bartscore
from judge.lab.measures import encoders as infolm
from judge.lab.measures import encoders as token_vectors
from judge.lab.measures import likelihood as delta_score
from judge.lab.measures.encoders import load
from judge.lab.measures.session import measured
from tests.conftest import missing
from tests.model_measures import tiny

TEXTS = (
    "The cat sat on the mat.",
    "A dog looked at the moon and the old tree, and the cat sat on the dog.",
    "The moon.",
    "An old cat and an old dog sat on a mat at the tree.",
)
ITEMS = [Item(text, TEXTS[(i + 1) % 4], "A cat.") for i, text in enumerate(TEXTS)]


def tools(**models: str) -> Tools:
    needs: dict[Need, str] = {"lm": "", "encoder": "", "seq2seq": "", "mlm": ""}
    return Tools(models={need: models[need] for need in needs if need in models})


@pytest.fixture(scope="session")
def encoder(models: Path) -> str:
    return tiny.encoder(models / "encoder")


def test_bertscore_is_bert_scores_at_a_batch_of_one(encoder: str) -> None:
    if find_spec("bert_score") is None:
        missing("measures", "bert_score is not installed (make test-measures)")
    import bert_score

    for layer in (1, 2):
        found = token_vectors.VECTOR_FAMILIES[0].score(ITEMS, tools(encoder=f"{encoder}@{layer}"))
        for item, one in zip(ITEMS, found, strict=True):
            wanted = bert_score.score([item.text], [item.reference], model_type=encoder, num_layers=layer, batch_size=1)
            assert [one.values[name] for name in ("precision", "recall", "f")] == pytest.approx(
                [float(part) for part in wanted], abs=1e-5
            )


def test_no_batch_size_moves_a_number(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    together = token_vectors.VECTOR_FAMILIES[0].score(ITEMS, tools(encoder=encoder))
    monkeypatch.setattr(token_vectors, "_TOKENS", 1)
    monkeypatch.setattr(token_vectors, "_LOT", 1)
    alone = token_vectors.VECTOR_FAMILIES[0].score(ITEMS, tools(encoder=encoder))
    for one, other in zip(together, alone, strict=True):
        assert one.values == pytest.approx(other.values, abs=1e-5)


def test_a_text_is_nearest_to_itself_and_a_long_one_is_cut(encoder: str) -> None:
    (same,) = token_vectors.VECTOR_FAMILIES[0].score([Item(TEXTS[1], TEXTS[1], "")], tools(encoder=encoder))
    assert all(value == pytest.approx(1, abs=1e-5) for value in same.values.values())
    assert not same.cut
    (long,) = token_vectors.VECTOR_FAMILIES[0].score([Item("the cat " * 60, TEXTS[1], "")], tools(encoder=encoder))
    assert long.cut


def test_perplexity_is_that_of_the_model_asked_plainly(models: Path) -> None:
    import torch

    name = tiny.causal(models / "causal")
    found = likelihood.LIKELIHOOD_FAMILIES[0].score(ITEMS, tools(lm=f"hf/{name}"))
    loaded = load("AutoModelForCausalLM", name)
    for item, one in zip(ITEMS, found, strict=True):
        before = loaded.tokenizer(item.story_prompt + likelihood.BETWEEN)["input_ids"]
        own = loaded.tokenizer(item.text, add_special_tokens=False)["input_ids"]
        with torch.inference_mode():
            logits = loaded.model(input_ids=torch.tensor([before + own])).logits[0].log_softmax(-1)
        wanted = np.mean([float(logits[len(before) + at - 1, token]) for at, token in enumerate(own)])
        assert one.values["mean"] == pytest.approx(wanted, abs=1e-5)
        assert one.values["perplexity"] == pytest.approx(math.exp(-wanted), rel=1e-4)


def test_deltascore_is_the_difference_of_two_likelihoods(models: Path) -> None:
    model = tools(lm=f"hf/{tiny.causal(models / 'causal')}")
    items = [Item("the cat slept under the mat. the dog ran.", "", "a cat"), Item("cat", "", "a cat")]
    for family, name in zip(delta_score.DELTA_SCORE_FAMILIES, delta_score.PERTURBATIONS, strict=True):
        found = family.score(items, model)
        text = delta_score.perturbed(items[0], name)
        assert isinstance(text, str)
        before, after = likelihood.LIKELIHOOD_FAMILIES[0].score([items[0], Item(text, "", "a cat")], model)
        assert found[0].values["difference"] == pytest.approx(before.values["mean"] - after.values["mean"], abs=1e-5)
        if name != "typos":
            assert isinstance(found[1].values["difference"], Undefined)


def test_bartscore_is_minus_the_loss(models: Path) -> None:
    name = tiny.encoder_decoder(models / "bart")
    found = bartscore.BARTSCORE_FAMILIES[0].score(ITEMS, tools(seq2seq=name))
    loaded = load("AutoModelForSeq2SeqLM", name)
    for item, one in zip(ITEMS, found, strict=True):
        source = loaded.tokenizer([item.reference], return_tensors="pt")
        target = loaded.tokenizer([item.text], return_tensors="pt")["input_ids"]
        made = loaded.model(input_ids=source["input_ids"], attention_mask=source["attention_mask"], labels=target)
        assert one.values["story"] == pytest.approx(-float(made.loss.detach()), abs=1e-5)


def test_infolm_is_a_distance(encoder: str, monkeypatch: pytest.MonkeyPatch) -> None:
    items = [*ITEMS, Item(TEXTS[0], TEXTS[0], "")]
    found = [one.values["fisher-rao"] for one in infolm.INFOLM_FAMILIES[0].score(items, tools(mlm=encoder))]
    assert found[-1] == pytest.approx(0, abs=1e-3)
    assert min(found[:-1]) > 0.01
    monkeypatch.setattr(infolm, "_INFOLM_TOKENS", 1)
    again = [one.values["fisher-rao"] for one in infolm.INFOLM_FAMILIES[0].score(items, tools(mlm=encoder))]
    assert again == pytest.approx(found, abs=1e-4)


def test_values_are_kept_by_the_models_weights(encoder: str, tmp_path: Path, models: Path) -> None:
    stories = [Story(str(i), item.story_prompt, "x", item.text, item.reference) for i, item in enumerate(ITEMS)]
    asked = named(["bertscore-f"])
    first = measured(stories, asked, models={"encoder": encoder}, cache=tmp_path)
    again = measured(stories, asked, models={"encoder": encoder}, cache=tmp_path)
    other = measured(stories, asked, models={"encoder": f"{encoder}@1"}, cache=tmp_path)
    assert (first.computed, again.computed, other.computed) == (4, 0, 4)
    assert first.by_measure == again.by_measure != other.by_measure


def test_cosines_and_systems_by_a_sentence_encoder(minilm: str, tmp_path: Path) -> None:
    if find_spec("sentence_transformers") is None:
        missing("measures", "sentence_transformers is not installed (make test-measures)")
    from judge.lab.measures.systems import rows

    stories = [Story(str(i), item.story_prompt, "x", item.text, item.reference) for i, item in enumerate(ITEMS)]
    asked = named(["cosine-prompt", "cosine-reference"])
    found = measured(stories, asked, models={"sentence-encoder": minilm}, cache=tmp_path)
    near = found.by_measure["cosine-prompt"]
    assert near[0] == max(near, key=lambda value: value if isinstance(value, float) else -1)
    (row,) = rows(stories, minilm, tmp_path / "derived" / "embeddings.sqlite")
    assert 1 < (row.vendi.value or 0) < 4
    assert row.cosine.value == pytest.approx(row.cosine.value, abs=1)
