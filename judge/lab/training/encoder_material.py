"""Training data of an encoder: questions, lists of stories ordered by human preferences, and rated stories. A list is
one story and those to which people preferred it, for one question, and thus implies exactly their comparisons. Ratings
are scaled to 0 to 1 by the limits of the human scale."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from judge.backends.trained.model import Kind, query_text
from judge.base.arrays import Codes
from judge.base.records import Story
from judge.inputs.criteria import load_criteria, shipped_criteria
from judge.lab.training.material import Material, Preferences, Ratings

Mask = NDArray[np.bool_]
# The query and a story's text.
Pair = tuple[str, str]

_OVERALL = ("overall", "overall quality")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A query, the preferred story's text and then the others', and the group held out together."""

    query: str
    texts: tuple[str, ...]
    group: str


@dataclass(frozen=True, slots=True)
class Rated:
    """A query, a story's text, its rating scaled to 0 to 1, and the group held out together."""

    query: str
    text: str
    value: float
    group: str


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A question on which an encoder is trained: one criterion of one dataset. `material` is an index of the dataset.
    `stories` are indices of those that people judged; `pairs` those of first and second stories, empty for ratings."""

    material: int
    kind: Kind
    about: Preferences | Ratings
    asked: str
    stories: Codes
    pairs: tuple[Codes, Codes] = (np.empty(0, np.int64), np.empty(0, np.int64))

    @property
    def criterion(self) -> str:
        return self.about.criterion


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """All training data of an encoder, by question; `groups` are by dataset and story, each held out together."""

    questions: tuple[Question, ...]
    ranked: tuple[tuple[Ranked, ...], ...]
    rated: tuple[tuple[Rated, ...], ...]
    groups: tuple[tuple[str, ...], ...]

    def names(self) -> list[str]:
        """Sorted names of all groups with a story that some question is about."""
        return sorted({self.groups[q.material][k] for q in self.questions for k in q.stories})

    def within(self, groups: set[str]) -> Lesson:
        """The part of the data in these groups."""
        return self._only(lambda group: group in groups)

    def without(self, groups: set[str]) -> Lesson:
        """The data without these groups. Perturbed stories stay in, unless they belong to one of them."""
        return self._only(lambda group: group not in groups)

    def _only(self, wanted: Callable[[str], bool]) -> Lesson:
        ranked = tuple(tuple(ranking for ranking in units if wanted(ranking.group)) for units in self.ranked)
        rated = tuple(tuple(story for story in units if wanted(story.group)) for units in self.rated)
        return Lesson(self.questions, ranked, rated, self.groups)


def lesson(
    materials: Sequence[Material],
    usable: Sequence[Mask],
    worse: Sequence[Sequence[tuple[Story, Story]]],
    criteria: str | None,
) -> Lesson:
    """The training data from the materials; `usable` marks stories that have words. `worse` are pairs of original and
    perturbed story, added to the preferences on every criterion. `criteria` names a set with definitions; None = the
    shipped set that has most of the criteria."""
    definitions = _definitions(materials, criteria)
    groups = _held_together(materials)
    questions: list[Question] = []
    ranked: list[tuple[Ranked, ...]] = []
    rated: list[tuple[Rated, ...]] = []
    for m, material in enumerate(materials):
        for preference in material.preferences:
            question = _preference(m, material, usable[m], preference, definitions)
            questions.append(question)
            ranked.append(tuple(_lists(material, question, preference, usable[m], worse[m], groups[m])))
            rated.append(())
        for rating in material.ratings:
            asked = _asked(rating.criterion, definitions)
            rated_stories = np.flatnonzero(usable[m] & ~np.isnan(rating.people))
            questions.append(Question(m, "rating", rating, asked, rated_stories))
            ranked.append(())
            rated.append(tuple(_ratings(material, questions[-1], rating, groups[m])))
    return Lesson(tuple(questions), tuple(ranked), tuple(rated), tuple(map(tuple, groups)))


def texts(material: Material, asked: str, places: Sequence[int] | Codes) -> list[Pair]:
    """(query, story text) for the question `asked` about the stories at these indices."""
    stories = [material.stories[k] for k in places]
    return [(query_text(asked, story.story_prompt), story.text) for story in stories]


def _preference(
    m: int, material: Material, usable: Mask, preference: Preferences, definitions: Mapping[str, str]
) -> Question:
    position = {story.id: k for k, story in enumerate(material.stories)}
    row = np.array([position[str(story)] for story in preference.pairs.stories.index], dtype=np.int64)
    a, b = row[preference.pairs.a], row[preference.pairs.b]
    overall = preference.criterion.casefold() in _OVERALL
    asked = "preference" if overall else f"preference: {_asked(preference.criterion, definitions)}"
    stories = np.unique(np.concatenate([a, b]))
    return Question(m, "preference", preference, asked, stories[usable[stories]], (a, b))


def _lists(
    material: Material,
    question: Question,
    preference: Preferences,
    usable: Mask,
    worse: Sequence[tuple[Story, Story]],
    groups: Sequence[str],
) -> Iterator[Ranked]:
    net = np.nan_to_num(preference.side.net)
    losers: dict[int, list[int]] = {}
    for a, b, lead in zip(*question.pairs, net, strict=True):
        if lead and usable[a] and usable[b]:
            won, lost = (int(a), int(b)) if lead > 0 else (int(b), int(a))
            losers.setdefault(won, []).append(lost)
    for won, beaten in sorted(losers.items()):
        (query, first), *others = texts(material, question.asked, [won, *beaten])
        yield Ranked(query, (first, *(text for _, text in others)), groups[won])
    group_of = dict(zip(map(_key, material.stories), groups, strict=True))
    origins: dict[str, tuple[Story, list[str]]] = {}
    for origin, perturbed in worse:
        origins.setdefault(origin.id, (origin, []))[1].append(perturbed.text)
    for origin, perturbed_texts in origins.values():
        query = query_text(question.asked, origin.story_prompt)
        group = group_of.get(_key(origin), f"perturbed {_key(origin)}")
        yield Ranked(query, (origin.text, *perturbed_texts), group)


def _ratings(material: Material, question: Question, rating: Ratings, groups: Sequence[str]) -> Iterator[Rated]:
    for k, (query, text) in zip(question.stories, texts(material, question.asked, question.stories), strict=True):
        value = (rating.people[k] - rating.low) / (rating.high - rating.low)
        yield Rated(query, text, float(np.clip(value, 0, 1)), groups[k])


def _key(story: Story) -> str:
    return " ".join(story.story_prompt.casefold().split()) or f"story {story.id}"


def _held_together(materials: Sequence[Material]) -> list[list[str]]:
    """All stories for a story-prompt, in any dataset, are in one group; groups with a compared pair are merged."""
    keys = [
        [_key(story) if story.story_prompt.strip() else f"{m} {_key(story)}" for story in material.stories]
        for m, material in enumerate(materials)
    ]
    number = {name: k for k, name in enumerate(sorted({key for own in keys for key in own}))}
    ends: list[tuple[int, int]] = [(0, 0)]
    for material, own in zip(materials, keys, strict=True):
        node = {story.id: number[key] for story, key in zip(material.stories, own, strict=True)}
        for preference in material.preferences:
            at = [node[str(story)] for story in preference.pairs.stories.index]
            ends += [(at[a], at[b]) for a, b in zip(preference.pairs.a, preference.pairs.b, strict=True)]
    rows, columns = np.array(ends).T
    shape = (len(number), len(number))
    joined = connected_components(coo_array((np.ones(rows.size), (rows, columns)), shape=shape), directed=False)[1]
    return [[f"{joined[number[key]]:06d}" for key in own] for own in keys]


def _asked(criterion: str, definitions: Mapping[str, str]) -> str:
    definition = definitions.get(criterion.casefold())
    return criterion if definition is None else f"{criterion}: {definition}"


def _definitions(materials: Sequence[Material], criteria: str | None) -> dict[str, str]:
    """By lower-case name; None = the shipped set that has most of the criteria."""
    if criteria is not None:
        return _of_set(criteria)
    wanted = {preference.criterion.casefold() for m in materials for preference in m.preferences}
    wanted |= {rating.criterion.casefold() for m in materials for rating in m.ratings}
    best: dict[str, str] = {}
    for name in shipped_criteria():
        definitions = _of_set(name)
        if len(wanted & set(definitions)) > len(wanted & set(best)):
            best = definitions
    return best


def _of_set(name: str) -> dict[str, str]:
    return {
        criterion.name.casefold(): " ".join(criterion.definition.split()) for criterion in load_criteria(name).criteria
    }
