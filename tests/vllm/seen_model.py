"""Generated texts, and a GPT-2 of two layers that has read half of them: the ground truth of contamination scores.

Texts are runs of words drawn from one seeded source, so that texts seen and not seen differ in nothing but having been
seen. Training is plain AdamW until the texts are known by heart. Everything is seeded; nothing is downloaded.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

WORDS = [a + b for a in ("ba", "do", "ki", "lu", "me", "no", "ra", "si", "tu", "ve") for b in "bdfghklmnprstz"]
LENGTH = 40
COUNT = 200


@dataclass(frozen=True)
class Trained:
    """Folders of the same model before and after training, and the texts with their labels (1 = trained on)."""

    before: Path
    after: Path
    texts: list[str]
    labels: list[int]

    def write(self, path: Path) -> Path:
        """The labelled set as WikiMIA has it, ten texts a book."""
        rows = [
            {"input": text, "label": label, "book": f"book {label}-{i // 20}"}
            for i, (text, label) in enumerate(zip(self.texts, self.labels, strict=True))
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return path


def texts(seed: int = 20240613) -> list[str]:
    """COUNT texts of LENGTH words, independent and from one distribution."""
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(WORDS, LENGTH)) for _ in range(COUNT)]


def make(folder: Path, *, epochs: int = 40) -> Trained:
    """Write the untrained and the trained model into two folders under `folder`."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        torch.manual_seed(7)
        tokenizer = word_tokenizer()
        config = GPT2Config(
            vocab_size=len(tokenizer),
            n_positions=256,
            n_embd=128,
            n_layer=2,
            n_head=2,
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            bos_token_id=0,
            eos_token_id=0,
        )
        model = GPT2LMHeadModel(config)
        found = texts()
        # Every other text is seen: order tells nothing.
        labels = [1 - i % 2 for i in range(COUNT)]
        for name in ("before", "after"):
            tokenizer.save_pretrained(str(folder / name))
        model.save_pretrained(str(folder / "before"))
        rows = torch.tensor([tokenizer(t)["input_ids"] for t, label in zip(found, labels, strict=True) if label])
        _train(model, rows, epochs)
        model.save_pretrained(str(folder / "after"))
    finally:
        torch.set_num_threads(threads)
    return Trained(folder / "before", folder / "after", found, labels)


def word_tokenizer() -> Any:
    """One token a word."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: i for i, word in enumerate(["<end>", "<unknown>", *WORDS])}
    plain = Tokenizer(models.WordLevel(vocabulary, unk_token="<unknown>"))
    plain.pre_tokenizer = pre_tokenizers.Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=plain, eos_token="<end>", unk_token="<unknown>", model_max_length=256
    )


def _train(model: Any, rows: Any, epochs: int) -> None:
    import torch

    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.0)
    model.train()
    for _ in range(epochs):
        for batch in rows[torch.randperm(len(rows))].split(25):
            optimizer.zero_grad()
            model(input_ids=batch, labels=batch).loss.backward()
            optimizer.step()
    model.eval()
