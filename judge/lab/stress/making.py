"""Perturbed versions of one story: the edits of each version, or the reason why there is no version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from judge.base.records import Story
from judge.inputs.perturbations.edit import Edit, applied, in_order
from judge.inputs.perturbations.english.tokens import protected
from judge.inputs.perturbations.made import maker
from judge.inputs.perturbations.perturbation import Facts, Material, Unfit
from judge.inputs.perturbations.seeding import rng_of
from judge.inputs.perturbations.story_name import story_name
from judge.lab.stress.options import Wanted

SAME = "the result equals the original story"
NO_MORE = "no more edits possible than at a lower strength"
BROKEN = "an edit would cut a placeholder"


@dataclass(frozen=True, slots=True)
class Perturbed:
    """The result of one perturbation of a story at one strength: the edits and the new story, or the reason why there
    is no new story. `reason` is None where there is one, and `story` is None where there is none.
    """

    facts: Facts
    strength: int
    edits: tuple[Edit, ...]
    story: Story | None
    reason: str | None


def untouched(story: Story) -> Story:
    """The unchanged story under an identifier that marks it as unchanged (`ID@none`), with the ratings by people."""
    return replace(story, id=story_name(story.id))


def versions(material: Material, wanted: Sequence[Wanted], seed: int) -> Iterator[Perturbed]:
    """Yield the result of every requested perturbation of a story at each requested strength, lowest strength first.
    `material` holds the story and what perturbations need: its tagged words, other stories, and paraphrases.
    """
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
    """Whether an edit begins or ends in the middle of a placeholder of the text, such as a name in square brackets."""
    return any(piece.start < end < piece.end for piece in protected(text) for end in (edit.start, edit.end))
