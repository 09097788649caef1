"""Identity of a model for caches: the hash of a folder's files, a package's checksum, or the name alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from judge.backends.hf.packaged_model import MODELS as PACKAGED
from judge.embedding.vectors import model_key
from judge.judge_name import JudgeName
from judge.measures.measure import Need


def of_scorers(models: Mapping[Need, str]) -> str:
    """Identities of models written ``provider/model``; a server's model is identified by its name alone."""
    return "; ".join(f"{need} {_scorer(model)}" for need, model in models.items())


def of_folders(models: Mapping[Need, str]) -> str:
    """Identities of folders and models of the hub; ``@LAYER`` stays."""
    return "; ".join(f"{need} {model_key(at_layer(model)[0])} {at_layer(model)[1]}" for need, model in models.items())


def at_layer(model: str) -> tuple[str, int | None]:
    """A model and the hidden layer that is asked for, as in ``roberta-large@17``; None for the last one."""
    name, _, layer = model.rpartition("@")
    return (name, int(layer)) if name and layer.isdigit() else (model, None)


def _scorer(model: str) -> str:
    provider, name = JudgeName.of(model)
    if provider == "local" and name in PACKAGED:
        return PACKAGED[name].sha256
    return model_key(name) if Path(name).is_dir() else model
