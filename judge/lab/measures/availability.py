"""Checks whether each automatic measure can be computed on this machine, and what it lacks otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version

from judge.base.installation import install_command
from judge.base.wording import Advice, joined
from judge.inputs.datasets import wordnet_files
from judge.inputs.wordnet import HINT
from judge.lab.measures.measure import MODELS, Family, Need


def versions(family: Family) -> dict[str, str]:
    """Package -> version, for the installed packages with which a family of measures computes."""
    numbers = {}
    for name in family.distributions:
        try:
            numbers[name] = version(name)
        except PackageNotFoundError:
            continue
    return numbers


def lacking(family: Family, models: Mapping[Need, str]) -> str | None:
    """A sentence with advice on the packages, files and models that a family of measures still needs; None where
    nothing is missing. `models` are the models that the user named.
    """
    there = versions(family)
    absent = [name for name in family.distributions if name not in there]
    parts: list[str] = []
    if absent:
        parts.append(install_command(family.extra))
    if "wordnet" in family.needs and wordnet_files.find() is None:
        parts.append(f"WordNet 3.0: {HINT}")
    parts += [
        Advice("{model} (" + MODELS[need] + ")", model=f"{need}=PATH")
        for need in family.needs
        if need in MODELS and need not in models
    ]
    if not parts:
        return None
    return joined(parts[0], *(piece for part in parts[1:] for piece in ("; ", part)))
