"""Back-end `local/<name>`: runs a small packaged language model in this process, without a server, a key or the hub.

It works like `hf/` and differs only in the origin of the weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from judge.backends.hf.backend import HFBackend
from judge.backends.hf.packaged_model import EXTRA, check_installed, model_of, unpacked
from judge.backends.hf.scorer import HFScorer, Loaded
from judge.backends.protocol import Settings

# Processors without arithmetic of their own for halves, as most are, take twice as long over them.
DTYPE = "float32"


def open(model: str, settings: Settings) -> LocalBackend:  # noqa: A001  the registry's name for a loader
    """The back-end for a packaged model, after a check that the model is available. `probe` unpacks and loads the
    model.
    """
    check_installed(model)
    return LocalBackend(model, replace(settings, engine={"dtype": DTYPE, **settings.engine}))


def open_scorer(model: str, settings: Settings) -> LocalScorer:
    """Scorer that gives the log-probabilities of texts under the packaged model `model`. Raises SpecError for an
    unknown name, MissingExtraError without torch or transformers, and BackendError if the model's package is not
    installed.
    """
    check_installed(model)
    return LocalScorer(model, settings)


class LocalBackend(HFBackend):
    """Back-end for a packaged model."""

    provider, extra = "local", EXTRA

    async def probe(self) -> Mapping[str, Any]:
        """Load the model and return the facts about it for the manifest. They identify it by its package and the
        checksum of its file instead of a folder.
        """
        facts = await super().probe()
        packaged = model_of(self.model)
        return {**facts, "model": packaged.package, "model_revision": packaged.sha256}

    def _load(self) -> Any:
        self._weights = str(unpacked(self.model))
        return super()._load()


class LocalScorer(HFScorer):
    """Scorer that gives the log-probabilities of texts under a packaged language model."""

    def _read(self) -> Loaded:
        packaged = model_of(self.model)
        loaded = super()._read_from(str(unpacked(self.model)))
        loaded.facts = replace(loaded.facts, model=packaged.package, revision=packaged.sha256)
        return loaded
