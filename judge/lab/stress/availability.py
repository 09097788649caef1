"""Checks of whether each perturbation is available on this machine, and which tools are missing otherwise."""

from __future__ import annotations

from judge.base.wording import Advice, joined
from judge.inputs.datasets import wordnet_files
from judge.inputs.perturbations.english import tagging
from judge.inputs.perturbations.made import MADE
from judge.inputs.perturbations.perturbation import Facts
from judge.inputs.wordnet import HINT


def lacking(facts: Facts, *, reworded: bool = False) -> str | None:
    """Sentence that says why a perturbation is not available on this machine; None where it is available. It says
    either that this program cannot make the perturbation, or which tools are missing and how to get them. `facts`
    describes the perturbation. `reworded` says that a source of paraphrases is given.
    """
    if facts.name not in MADE:
        return "this program does not generate it; the datasets autos_roc and autos_wp may hold it"
    parts: list[str] = []
    if "tagger" in facts.needs and (missing := tagging.available()):
        parts.append(missing)
    if "wordnet" in facts.needs and wordnet_files.find() is None:
        parts.append(f"WordNet 3.0: {HINT}")
    if "rewriter" in facts.needs and not reworded:
        parts.append(Advice("other words: {rewriter} or {back_translations}"))
    return joined(parts[0], *(piece for part in parts[1:] for piece in ("; ", part))) if parts else None
