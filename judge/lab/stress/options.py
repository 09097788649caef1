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

    Attributes
    ----------
    wanted : tuple of Wanted
        Perturbations and their strengths, in the order of the catalogue.
    systems : tuple of str
        Only these systems' stories; () = all.
    references : bool
        Change the reference stories, one for each story-prompt, in place of the systems' stories.
    limit : int or None
        Number of stories to change, from the first on; None = all.
    seed : int
        Random seed of the perturbations.
    tagger : str or None
        The spaCy model that tags words; None = the default model.
    top : str
        Highest point of the rating scale, as the text that prompt injections insert.
    rewriter : str or None
        The model that paraphrases sentences; None = no model.
    base_url : tuple of str
        Base URLs of the server of that model, if any are given.
    encoder : str or None
        The sentence encoder that compares the meaning of a sentence with that of its paraphrase; None = their words
        are compared.
    back_translations : Path or None
        File of paraphrases in OpenMEVA's format; None = no file.
    grammar : str or None
        Folder of a sequence classifier that decides whether a sentence is grammatical; None = no story is
        filtered.
    grammar_label : int
        Index of the classifier's label for grammatical sentences.
    """

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
    """Names of the perturbations of a set (``all``, ``openmeva`` or a kind of test) that this program can make, in the
    order of the catalogue.
    """
    if name not in SETS:
        raise OptionError("set", name, allowed=SETS)
    there = [facts for facts in CATALOGUE.values() if facts.name in MADE]
    if name == "openmeva":
        return [
            entry.name for entry in there if entry.test in ("discrimination", "invariance") and entry.name not in _OURS
        ]
    return [entry.name for entry in there if name in ("all", entry.test)]


def wanted(names: Sequence[str], strengths: Sequence[int]) -> tuple[Wanted, ...]:
    """Perturbations chosen by name, in the order of the catalogue. Each one has the requested strengths that exist for
    it; it is left out if there are none. Raises SpecError for an unknown name or strength.
    """
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
