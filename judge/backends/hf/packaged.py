"""Back-end `local/<name>`: a small packaged model in this process, without a server, a key or the hub; otherwise as
`hf/`."""

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
    """The back-end, after a check that the model is available. `probe` unpacks and loads it."""
    check_installed(model)
    return LocalBackend(model, replace(settings, engine={"dtype": DTYPE, **settings.engine}))


def open_scorer(model: str, settings: Settings) -> LocalScorer:
    """Scorer under a packaged model. Raises SpecError for an unknown name, MissingExtraError without torch or
    transformers, and BackendError without the model's package."""
    check_installed(model)
    return LocalScorer(model, settings)


class LocalBackend(HFBackend):
    provider, extra = "local", EXTRA

    async def probe(self) -> Mapping[str, Any]:
        """Loads the model; its facts, with its package and its file's checksum instead of a folder."""
        facts = await super().probe()
        packaged = model_of(self.model)
        return {**facts, "model": packaged.package, "model_revision": packaged.sha256}

    def _load(self) -> Any:
        self._weights = str(unpacked(self.model))
        return super()._load()


class LocalScorer(HFScorer):
    def _read(self) -> Loaded:
        packaged = model_of(self.model)
        loaded = super()._read_from(str(unpacked(self.model)))
        loaded.facts = replace(loaded.facts, model=packaged.package, revision=packaged.sha256)
        return loaded
