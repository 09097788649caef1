"""Loads transformers models for measures. No other module of measures imports PyTorch or transformers."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

from judge.base.errors import MissingExtraError, SpecError

# Tokenizers that know no limit say a huge number.
_LIMIT = 10**9


class Loaded(NamedTuple):
    """A tokenizer, a model, and the largest number of tokens that the model reads."""

    tokenizer: Any
    model: Any
    longest: int

    @property
    def framing(self) -> list[int]:
        """Ids of the special tokens that open and close a text."""
        named = (getattr(self.tokenizer, f"{name}_token_id", None) for name in ("cls", "sep", "bos", "eos"))
        return [number for number in named if number is not None]


@lru_cache(maxsize=1)
def load(kind: str, model: str) -> Loaded:
    """A model with its tokenizer; `kind` is a class of transformers, such as AutoModel or AutoModelForMaskedLM."""
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtraError(f"a measure by the model {model}", "hf") from error
    library_log = transformers.utils.logging
    library_log.disable_progress_bar()
    before = library_log.get_verbosity()
    # It tells of every head that a measure has no use for.
    library_log.set_verbosity_error()
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(model)
        weights = getattr(transformers, kind).from_pretrained(model, dtype=torch.float32).eval()
    except (OSError, ValueError, RuntimeError) as error:
        reason = str(error).strip().split("\n")[0]
        raise SpecError(
            f"{model} cannot be loaded: {reason}", hint="give a folder of weights with their tokenizer"
        ) from error
    finally:
        library_log.set_verbosity(before)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    places = getattr(weights.config, "max_position_embeddings", None) or _LIMIT
    longest = min(int(tokenizer.model_max_length), int(places))
    return Loaded(tokenizer, weights.to(device), longest)


def run(model: Any, **inputs: Any) -> Any:
    """The model's output without gradients; `inputs` are arguments such as lists of token ids."""
    import torch

    with torch.inference_mode():
        tensors = {
            name: torch.tensor(value, device=model.device) if isinstance(value, list) else value
            for name, value in inputs.items()
        }
        return model(**tensors)


def array(tensor: Any) -> Any:
    """A PyTorch tensor as a NumPy array in float32."""
    return tensor.float().cpu().numpy()
