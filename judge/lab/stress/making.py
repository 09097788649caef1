"""Perturbed versions of one story: the edits of each version, or the reason why there is no version."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Literal, get_args

import orjson

from judge.base.errors import OptionError, SpecError, unknown
from judge.base.printing.tables import Column, Table, plain
from judge.base.records import Story
from judge.base.wording import Advice, joined
from judge.inputs.datasets import locate
from judge.inputs.perturbations import parse
from judge.inputs.perturbations.perturbation import (
    CATALOGUE,
    MADE,
    Edit,
    Facts,
    Material,
    Test,
    Unfit,
    applied,
    in_order,
    maker,
    rng_of,
    story_name,
)
from judge.inputs.perturbations.sentences import protected
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


# Options of `judge stress make`: which stories to change, how, and how strongly.

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
    """Perturbations of one of the `SETS` that this program can make, in the catalogue's order."""
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
            raise SpecError(unknown("perturbation", name, [*SETS, *MADE]), hint="judge stress list")
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


SAME = "the result equals the original story"
NO_MORE = "no more edits possible than at a lower strength"
BROKEN = "an edit would cut a placeholder"


@dataclass(frozen=True, slots=True)
class Perturbed:
    """One perturbation of a story at one strength; `reason` is None where there is a story, and `story` where not."""

    facts: Facts
    strength: int
    edits: tuple[Edit, ...]
    story: Story | None
    reason: str | None


def untouched(story: Story) -> Story:
    """The unchanged story under an id that marks it as unchanged (`ID@none`), with the ratings by people."""
    return replace(story, id=story_name(story.id))


def versions(material: Material, wanted: Sequence[Wanted], seed: int) -> Iterator[Perturbed]:
    """The result of every perturbation at each requested strength, lowest strength first."""
    for entry in wanted:
        before: frozenset[Edit] = frozenset()
        for strength in entry.strengths:
            version = _version(material, entry.facts, strength, seed, before)
            before = before | frozenset(version.edits)
            yield version


def _version(material: Material, facts: Facts, strength: int, seed: int, before: frozenset[Edit]) -> Perturbed:
    story = material.story
    change = maker(facts.name)(material, strength, rng_of(seed, facts.name, story.id))
    reason = change.reason if isinstance(change, Unfit) else None
    edits = () if isinstance(change, Unfit) else in_order(change)
    if reason is None and before and frozenset(edits) <= before:
        reason = NO_MORE
    if reason is None and any(_breaks(edit, story.text) for edit in edits):
        reason = BROKEN
    if reason is not None:
        return Perturbed(facts, strength, (), None, reason)
    text = applied(story.text, edits)
    if text == story.text:
        return Perturbed(facts, strength, (), None, SAME)
    name = story_name(story.id, facts.name, strength)
    return Perturbed(facts, strength, edits, replace(story, id=name, text=text, ratings=()), None)


def _breaks(edit: Edit, text: str) -> bool:
    # A placeholder is, for example, a name in square brackets.
    return any(piece.start < end < piece.end for piece in protected(text) for end in (edit.start, edit.end))


# Coverage of perturbations: the number of stories that each perturbation could change, and the reasons why it could
# not change the others.


@dataclass(slots=True)
class CoverageRow:
    """Coverage of one perturbation at one strength. `made_count` counts stories that it changed, `edits` those in them,
    and `reasons` stories not changed, by reason."""

    perturbation: str
    test: str
    strength: int
    made_count: int = 0
    edits: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass(slots=True)
class Coverage:
    """A row for each perturbation and strength, and the number of original stories."""

    rows: Sequence[CoverageRow]
    stories: int = 0

    @classmethod
    def of(cls, wanted: Sequence[Wanted]) -> Coverage:
        """An empty coverage with a row for each perturbation and strength."""
        return cls([CoverageRow(entry.facts.name, entry.facts.test, s) for entry in wanted for s in entry.strengths])

    def add(self, versions: Sequence[Perturbed]) -> None:
        """Count the versions of one story, which are in the order of the rows."""
        self.stories += 1
        for row, version in zip(self.rows, versions, strict=True):
            if version.reason is None:
                row.made_count += 1
                row.edits += len(version.edits)
            else:
                row.reasons[version.reason] += 1


def coverage_tables(coverage: Coverage, signature: str, notes: Sequence[str]) -> list[Table]:
    """How many stories each perturbation changed, and why it did not change others."""
    rows = [
        {
            "perturbation": row.perturbation,
            "test": row.test,
            "strength": row.strength,
            "made": row.made_count,
            "stories": coverage.stories,
            "edits": row.edits / row.made_count if row.made_count else None,
            "reasons": "; ".join(f"{why} ({count})" for why, count in row.reasons.most_common()) or "-",
        }
        for row in coverage.rows
    ]
    columns = [
        *plain("perturbation", "test", "strength", "made"),
        Column("stories", "of stories"),
        Column("edits", "edits a story", digits=1),
        Column("reasons", "why not", wrap=60),
    ]
    return [Table("Perturbed stories", columns, rows, signature, notes)]


# The facts file `NAME.facts.jsonl` that belongs to a file of perturbed stories: the settings, the edits of each
# story, and counts of stories that could not be perturbed.

FORM = 1


def write_head(stream: BinaryIO, made_of: Mapping[str, Any]) -> None:
    """Write the facts file's first line: the settings."""
    _line(stream, {"stress": {"form": FORM, **made_of}})


def write_version(stream: BinaryIO, origin: str, version: Perturbed) -> None:
    """Write the line about one version; nothing where the perturbation did not produce a story."""
    if version.story is not None:
        _line(
            stream,
            {
                "story": version.story.id,
                "origin": origin,
                "perturbation": version.facts.name,
                "test": version.facts.test,
                "strength": version.strength,
                "edits": [list(edit) for edit in version.edits],
            },
        )


def write_end(stream: BinaryIO, coverage: Coverage) -> None:
    """Write the last line: numbers of stories, changed ones and reasons by perturbation."""
    rows = [
        {
            "perturbation": row.perturbation,
            "strength": row.strength,
            "made": row.made_count,
            "reasons": dict(row.reasons.most_common()),
        }
        for row in coverage.rows
    ]
    _line(stream, {"stories": coverage.stories, "left_out": rows})


def _line(stream: BinaryIO, value: Mapping[str, Any]) -> None:
    stream.write(orjson.dumps(value, option=orjson.OPT_APPEND_NEWLINE))
