"""Tables of all perturbations, what each needs here, and the signature under tables about perturbed stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from judge.base.printing.tables import Column, Table
from judge.base.wording import Advice, joined
from judge.inputs.datasets import locate
from judge.inputs.perturbations import parse
from judge.inputs.perturbations.perturbation import CATALOGUE, MADE, Facts, Test
from judge.inputs.wordnet import HINT
from judge.version import __version__

# The signature (how the stories were perturbed) and the notes under tables about perturbed stories.


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


# Checks of whether each perturbation is available on this machine, and which tools are missing otherwise.


def lacking(facts: Facts, *, reworded: bool = False) -> str | None:
    """Why a perturbation is not available here (not made, or tools missing); None where it is. `reworded`: a source of
    paraphrases is given."""
    if facts.name not in MADE:
        return "this program does not generate it; the datasets autos_roc and autos_wp may hold it"
    parts: list[str] = []
    if "tagger" in facts.needs and (missing := parse.available()):
        parts.append(missing)
    if "wordnet" in facts.needs and locate.wordnet_folder() is None:
        parts.append(f"WordNet 3.0: {HINT}")
    if "rewriter" in facts.needs and not reworded:
        parts.append(Advice("other words: {rewriter} or {back_translations}"))
    return joined(parts[0], *(piece for part in parts[1:] for piece in ("; ", part))) if parts else None


_TITLES: dict[Test, str] = {
    "discrimination": "A good judge rates these lower (discrimination)",
    "invariance": "A good judge rates these the same (invariance)",
    "attack": "A good judge rates these no higher (attack)",
    "degenerate": "A good judge gives these the lowest point (degenerate)",
}
_COLUMNS = (
    Column("perturbation", "perturbation"),
    Column("about", "what", wrap=26),
    Column("aims", "criteria", wrap=11),
    Column("strengths", "strengths"),
    Column("here", "made here"),
)
_AIMS = "criteria: those on which the papers expect lower ratings; the report tests whether they fall"
_NESTED = "the edits at one strength are a subset of those at the next"


def perturbation_tables() -> list[Table]:
    """One table for each kind of test, in the order of the catalogue."""
    return [_table(test) for test in get_args(Test)]


def _table(test: Test) -> Table:
    catalogued = [facts for facts in CATALOGUE.values() if facts.test == test]
    rows = [
        {
            "perturbation": facts.name,
            "about": facts.about,
            "aims": ", ".join(facts.aims) or "-",
            "strengths": ", ".join(map(str, facts.strengths)),
            "here": "no" if lacking(facts) else "yes",
        }
        for facts in catalogued
    ]
    notes = [*([_AIMS] if any(facts.aims for facts in catalogued) else []), _NESTED]
    sources = dict.fromkeys(facts.source for facts in catalogued)
    notes += [*_missing(catalogued), *(f"source: {source}" for source in sources)]
    return Table(_TITLES[test], _COLUMNS, rows, f"v{__version__}", notes)


def _missing(catalogued: Sequence[Facts]) -> list[str]:
    """Perturbations with the same reason share a sentence."""
    names: dict[str, list[str]] = {}
    for facts in catalogued:
        if (why := lacking(facts)) is not None:
            names.setdefault(why, []).append(facts.name)
    return [joined(f"{', '.join(some)}: ", why) for why, some in names.items()]
