"""Grammar filter for perturbed stories: a classifier named by the user checks the changed sentences. Without a
classifier no story is filtered. The OpenMEVA study kept sentences that a BERT model trained on CoLA scored .5 or more,
and did not filter typos."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

from judge.base.errors import MissingExtraError, OptionError, SpecError
from judge.base.fingerprint import fingerprint_file
from judge.inputs.perturbations.perturbation import Facts
from judge.inputs.perturbations.sentences import sentences

UNGRAMMATICAL = "a changed sentence is not grammatical to the classifier"
_LEAST = 0.5
_UNASKED = frozenset({"typos"})


def is_filtered(facts: Facts) -> bool:
    """Whether the classifier checks a perturbation: those of discrimination and invariance tests, but not typos."""
    return facts.test in ("discrimination", "invariance") and facts.name not in _UNASKED


class Grammar:
    """A sequence classifier (package transformers) of grammatical sentences; its model is loaded once."""

    def __init__(self, model: str, label: int) -> None:
        self._tokenizer, self._model = _loaded(model)
        count = int(self._model.config.num_labels)
        if not 0 <= label < count:
            raise OptionError("grammar_label", label, f"is none of the model's {count} labels, 0 to {count - 1}")
        self._label = label
        self.identity = f"{_name(model)}, label {label}, >= {_LEAST:g}"
        self._score = lru_cache(maxsize=1 << 14)(self._asked)

    def accepts(self, text: str, origin: str) -> bool:
        """Whether all sentences of `text` that are not in the original text are grammatical."""
        own_sentences = {origin[slice(*span)] for span in sentences(origin)}
        fresh = [text[slice(*span)] for span in sentences(text)]
        return all(self._score(sentence) >= _LEAST for sentence in fresh if sentence not in own_sentences)

    def _asked(self, sentence: str) -> float:
        import torch

        with torch.inference_mode():
            read = self._tokenizer(sentence, return_tensors="pt", truncation=True)
            scores = self._model(**read).logits[0].float()
        return float(torch.softmax(scores, -1)[self._label])


def _name(model: str) -> str:
    """As given or, for a local folder, its name with a hash of its weights."""
    weights = sorted(Path(model).glob("*.safetensors")) if Path(model).is_dir() else []
    return f"{Path(model).name} {fingerprint_file(weights[0])}" if weights else model


def _loaded(model: str) -> tuple[Any, Any]:
    try:
        import transformers
    except ImportError as error:
        raise MissingExtraError("a model of grammar", "hf") from error
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        return tokenizer, transformers.AutoModelForSequenceClassification.from_pretrained(model).eval()
    except (OSError, ValueError) as error:
        reason = str(error).strip().split("\n")[0]
        raise SpecError(f"{model} cannot be loaded: {reason}", hint="give a folder of a sentence classifier") from error
