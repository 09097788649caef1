"""Loads and runs a sequence classifier with one output. No code from the model's folder is executed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

from judge.base.errors import BackendError, MissingExtraError


@dataclass(frozen=True, slots=True)
class SequenceClassifier:
    """A sequence classifier on its device. `longest` is the most tokens that it reads."""

    model: Any
    tokenizer: Any
    device: str
    longest: int

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "engine": "transformers",
            "version": f"transformers {version('transformers')}, torch {version('torch')}",
            "dtype": str(self.model.dtype).removeprefix("torch."),
            "device": self.device,
            "max_model_len": self.longest,
        }

    def logit(self, inputs: Mapping[str, Any]) -> float:
        """The classifier's only logit for one tokenized input."""
        import torch

        with torch.inference_mode():
            output = self.model(**{name: value.to(self.model.device) for name, value in inputs.items()})
        return float(output.logits[0, 0])


def load(model: str, label: str, keys: Mapping[str, Any], *, revision: str | None = None) -> SequenceClassifier:
    """A classifier on a device, only from safetensors files, because other formats can contain code. `label` is for
    messages, `keys` are of `engine`, such as `device`. Raises BackendError if it cannot be loaded or has several
    outputs, MissingExtraError without packages."""
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
