"""Options of `judge stress make`: which stories to change, how, and how strongly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from judge.base.errors import OptionError, SpecError, unknown
from judge.inputs.perturbations.perturbation import CATALOGUE, MADE, Facts

PerturbationSet = Literal["openmeva", "discrimination", "invariance", "attack", "degenerate", "all"]
SETS: tuple[str, ...] = get_args(PerturbationSet)
# Not among OpenMEVA's; `sentence-shuffle` is not either, but is what its negative stories of quality control are.
_OURS = ("word-shuffle", "truncate-end", "truncate-half", "wrong-story", "markdown", "uppercase")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A perturbation and the requested strengths, lowest first."""

    facts: Facts
    strengths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MakeOptions:
    """Settings with which the perturbed stories of one dataset are generated.

    `systems` () = all. `references`: change the reference stories, one for each story-prompt, instead. `limit` counts
    stories, None = all. `tagger` is spaCy's model, None = the default. `top` is the scale's highest point as injections
    insert it. `rewriter` paraphrases sentences; `encoder` compares meanings (None = words are compared);
    `back_translations` is a file in OpenMEVA's format. `grammar` is a classifier's folder (None = no filter),
    `grammar_label` the index of its label for grammatical sentences."""

    wanted: tuple[Wanted, ...]
    systems: tuple[str, ...] = ()
    references: bool = False
    limit: int | None = None
    seed: int = 1
    tagger: str | None = None
    grammar: str | None = None
    grammar_label: int = 1
    top: str = "5"
    rewriter: str | None = None
    base_url: tuple[str, ...] = ()
    encoder: str | None = None
    back_translations: Path | None = None

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise OptionError("limit", self.limit, "must be 1 or more")
        if not self.top.strip():
            raise OptionError("top", self.top, "must say how the highest point is written, e.g. 5")
        _check_rewording(self)
        if self.references and self.systems:
            raise OptionError("system", self.systems[0], "has no effect where the reference stories are changed")


def _check_rewording(options: MakeOptions) -> None:
    """Raise OptionError where an option about paraphrases would have no effect."""
    if options.rewriter is not None and options.back_translations is not None:
        raise OptionError("rewriter", options.rewriter, "has no effect beside a file of back-translations")
    for name, value in (("base_url", ", ".join(options.base_url)), ("encoder", options.encoder)):
        if value and options.rewriter is None:
            raise OptionError(name, value, "has no effect without a rewriter")
    named = options.rewriter or options.back_translations
    if named is not None and not any("rewriter" in entry.facts.needs for entry in options.wanted):
        name = "rewriter" if options.rewriter else "back_translations"
        raise OptionError(name, str(named), "has no effect: no requested perturbation needs paraphrases")


def of_set(name: str) -> list[str]:
    """Perturbations of ``all``, ``openmeva`` or a kind of test that this program can make, in the catalogue's order."""
    if name not in SETS:
        raise OptionError("set", name, allowed=SETS)
    there = [facts for facts in CATALOGUE.values() if facts.name in MADE]
    if name == "openmeva":
        return [
            entry.name for entry in there if entry.test in ("discrimination", "invariance") and entry.name not in _OURS
        ]
    return [entry.name for entry in there if name in ("all", entry.test)]


def wanted(names: Sequence[str], strengths: Sequence[int]) -> tuple[Wanted, ...]:
    """Perturbations by name, in the catalogue's order, with those requested strengths that exist; none = left out.
    Raises SpecError for an unknown name or strength."""
    for name in names:
        if name not in CATALOGUE or name not in MADE:
            raise SpecError(unknown("perturbation", name, MADE), hint="judge stress list")
    chosen = []
    for facts in CATALOGUE.values():
        if facts.name in names:
            some = tuple(sorted({strength for strength in strengths if strength in facts.strengths}))
            if some:
                chosen.append(Wanted(facts, some))
    lost = [strength for strength in strengths if not any(strength in each.strengths for each in chosen)]
    if lost or not chosen:
        has = sorted({strength for name in names for strength in CATALOGUE[name].strengths})
        raise OptionError("strength", (lost or list(strengths))[0], allowed=[str(strength) for strength in has])
    return tuple(chosen)


def recorded(options: MakeOptions) -> Mapping[str, object]:
    """The options as plain data, for the facts file."""
    return {
        "perturbations": {entry.facts.name: list(entry.strengths) for entry in options.wanted},
        "systems": list(options.systems),
        "references": options.references,
        "limit": options.limit,
        "seed": options.seed,
        "top": options.top,
        "rewriter": options.rewriter,
        "encoder": options.encoder,
        "back_translations": options.back_translations.name if options.back_translations else None,
    }
