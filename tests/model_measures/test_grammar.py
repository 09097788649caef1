"""Leaving out what a classifier calls ungrammatical: a tiny one made here, whose weights decide by its bias alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.base.errors import OptionError
from judge.inputs.datasets import open_dataset
from judge.lab.stress.making import MakeOptions, wanted
from judge.lab.stress.session import UNGRAMMATICAL, Grammar, make
from tests.stress.made_stories import dataset


def classifier(folder: Path, bias: tuple[float, float]) -> str:
    """A BERT of two labels that always answers by its bias."""
    import torch
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "the", "old", "lamp", "."]
    (folder / "vocab.txt").write_text("\n".join(words))
    BertTokenizerFast(vocab_file=str(folder / "vocab.txt")).save_pretrained(folder)
    size = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    model = BertForSequenceClassification(BertConfig(vocab_size=len(words), num_labels=2, **size))
    with torch.no_grad():
        model.classifier.weight.zero_()
        model.classifier.bias.copy_(torch.tensor(bias))
    model.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize(("bias", "accepted"), [((0.0, 5.0), True), ((5.0, 0.0), False)])
def test_versions_are_left_out_and_counted(tmp_path: Path, bias: tuple[float, float], accepted: bool) -> None:
    model = classifier(tmp_path / "cola", bias)
    options = MakeOptions(wanted=wanted(["lexical-repetition", "typos"], [1]), grammar=model)
    found = make(open_dataset(str(dataset(tmp_path))), options, tmp_path / "out.jsonl")
    repetition, typos = found.coverage.rows
    assert typos.made == 6  # nobody asks whether a slip of the fingers is grammatical
    # A repeated sentence is one that the story has already: only words said again make a sentence of their own.
    assert repetition.made == 6 if accepted else repetition.reasons[UNGRAMMATICAL] > 0
    assert found.made_of["grammar"].startswith("cola b2:")


def test_a_label_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="0 to 1"):
        Grammar(classifier(tmp_path / "cola", (0, 1)), 2)
