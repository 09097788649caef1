"""The signature (how the stories were perturbed) and the notes under tables about perturbed stories."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from judge.base.wording import joined


def signature(made_of: Mapping[str, Any]) -> str:
    """How a file was made, in one line: program, dataset, seed, tools and grammar filter."""
    parts = [f"v{made_of['version']}", made_of["dataset"], f"seed {made_of['seed']}"]
    if made_of["tagger"]:
        parts.append(f"{made_of['tagger']} on spaCy {made_of['packages']['spacy']}")
    if made_of["wordnet"]:
        parts.append(f"WordNet {made_of['wordnet']}")
    if made_of["rewriter"]:
        near = f"cosine by {made_of['encoder']}" if made_of["encoder"] else "overlap"
        parts.append(f"reworded by {made_of['rewriter']} ({near})")
    if made_of["back_translations"]:
        parts.append(f"back-translations {made_of['back_translations']}")
    grammar = made_of["grammar"]
    parts.append("unfiltered" if grammar == "unfiltered" else f"grammar {grammar}")
    return " · ".join(parts)


def notes(made_of: Mapping[str, Any], skipped: Mapping[str, str]) -> list[str]:
    """Notes: skipped perturbations with reasons, refused paraphrases, and that no grammar filter was used."""
    sentences: list[str] = [joined(f"{name} was not made: ", why) for name, why in skipped.items()]
    for why, count in ((made_of["rewordings"] or {}).get("not_taken") or {}).items():
        sentences.append(f"rewordings not taken: {why} ({count})")
    if made_of["grammar"] == "unfiltered":
        sentences.append("no story was left out for its grammar")
    return sentences
