"""Back-end `trained/FOLDER`: an evaluator by `judge train`, which does not read the Eval-Prompt."""

from __future__ import annotations

from pathlib import Path

from judge.backends.protocol import Backend, Settings
from judge.backends.trained.backend import LinearScorer, ScoringBackend
from judge.backends.trained.model import EncoderScorer, read_model
from judge.base.errors import SpecError


def open(model: str, settings: Settings) -> Backend:  # noqa: A001 - every back-end's loader has this name
    """The trained model in a folder. Weights of an embedding model or encoder are loaded by `probe`."""
    folder = Path(model)
    if not folder.is_dir():
        raise SpecError(f"trained/{model}: there is no such folder", hint="judge train DATA -o FOLDER makes one")
    read = read_model(folder)
    if read.encoder is not None:
        return ScoringBackend(read, EncoderScorer(read, read.encoder, folder, settings.engine))
    return ScoringBackend(read, LinearScorer(read, settings.engine))
