"""Identity of a model for cache keys: the hash of a folder's files, a package's checksum, or the name alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from judge.backends.hf.packaged_model import MODELS as PACKAGED
from judge.base.judge_name import JudgeName
from judge.inputs.embedding.vectors import model_key
from judge.lab.measures.measure import Need


def of_scorers(models: Mapping[Need, str]) -> str:
    """Identities, for cache keys, of models named ``provider/model``, joined in one string. A server's model is
    identified by its name alone.
    """
    return "; ".join(f"{need} {_scorer(model)}" for need, model in models.items())


def of_folders(models: Mapping[Need, str]) -> str:
    """Identities, for cache keys, of model folders or models of the Hugging Face hub, joined in one string. A suffix
    ``@LAYER`` of a name is part of the identity.
    """
    return "; ".join(f"{need} {model_key(at_layer(model)[0])} {at_layer(model)[1]}" for need, model in models.items())


def at_layer(model: str) -> tuple[str, int | None]:
    """(model, hidden layer) from a name such as ``roberta-large@17``; the layer is None where the name gives none."""
    name, _, layer = model.rpartition("@")
    return (name, int(layer)) if name and layer.isdigit() else (model, None)


def _scorer(model: str) -> str:
    provider, name = JudgeName.of(model)
    if provider == "local" and name in PACKAGED:
        return PACKAGED[name].sha256
    return model_key(name) if Path(name).is_dir() else model
