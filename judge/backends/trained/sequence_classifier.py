"""A classifier of one label with its tokenizer, in this process. Runs no code of a model's folder, only its weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from judge.errors import BackendError, MissingExtraError


@dataclass(frozen=True, slots=True)
class SequenceClassifier:
    """Tokenizer and weights of a sequence classifier on their device. `longest` is the number of tokens that the model
    reads.
    """

    model: Any
    tokenizer: Any
    device: str
    longest: int

    @property
    def facts(self) -> dict[str, Any]:
        """Facts for the manifest."""
        return {
            "engine": "transformers",
            "version": f"transformers {version('transformers')}, torch {version('torch')}",
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "device": self.device,
            "max_model_len": self.longest,
        }

    def logit(self, inputs: Mapping[str, Any]) -> float:
        """The single logit of one tokenized input."""
        import torch

        with torch.inference_mode():
            output = self.model(**{name: value.to(self.model.device) for name, value in inputs.items()})
        return float(output.logits[0, 0])


def load(model: str, label: str, keys: Mapping[str, Any], *, revision: str | None = None) -> SequenceClassifier:
    """Load tokenizer and weights, of safetensors files alone: other forms can hold code. `label` names it in sentences.

    BackendError where it cannot be loaded or has several labels, MissingExtraError without the packages.
    """
    try:
        import torch
        import transformers
    except ModuleNotFoundError as error:
        raise MissingExtraError(label, "hf") from error
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(
            keys.get("tokenizer", model), revision=revision, trust_remote_code=False
        )
        loaded = transformers.AutoModelForSequenceClassification.from_pretrained(
            model,
            revision=revision,
            dtype=keys.get("dtype", "auto"),
            trust_remote_code=False,
            use_safetensors=True,
        )
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).strip().split("\n")[0]
        raise BackendError(f"{label} cannot be loaded: {reason}", kind="model", retryable=False) from error
    if loaded.config.num_labels != 1:
        raise BackendError(
            f"{label} has {loaded.config.num_labels} labels, and one is needed", kind="model", retryable=False
        )
    device = keys.get("device") or ("cuda" if torch.cuda.is_available() else "cpu")
    places = getattr(loaded.config, "max_position_embeddings", None) or tokenizer.model_max_length
    longest = int(keys.get("max_model_len", min(int(places), int(tokenizer.model_max_length))))
    return SequenceClassifier(loaded.eval().to(device), tokenizer, device, longest)
