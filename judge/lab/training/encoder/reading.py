"""Training data of an encoder: questions, lists of stories ordered by human preferences, and rated stories.

A list consists of one story and the stories to which people preferred it, for one question. The list thus implies
exactly the comparisons that people made. Ratings are scaled to 0 to 1 by the limits of the human rating scale.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from judge.backends.trained.model import Kind, query_text
from judge.base.records import Story
from judge.inputs.criteria.criteria_set import load_criteria, shipped_criteria
from judge.lab.training.material import Material, Preferences, Ratings

Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]
# The query and a story's text.
Pair = tuple[str, str]

_OVERALL = ("overall", "overall quality")


@dataclass(frozen=True, slots=True)
class Ranked:
    """A training list: a query, the text of the preferred story followed by the texts of the stories to which it was
    preferred, and the group of stories that is held out together in cross-validation.
    """

    query: str
    texts: tuple[str, ...]
    group: str


@dataclass(frozen=True, slots=True)
class Rated:
    """A training example: a query, a story's text, its rating scaled to 0 to 1, and the group of stories that is held
    out together in cross-validation.
    """

    query: str
    text: str
    value: float
    group: str


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """A question on which an encoder is trained: one criterion of one dataset.

    Attributes
    ----------
    material : int
        Index of the dataset among the training materials.
    kind : str
        Whether people gave preferences or ratings.
    about : Preferences or Ratings
        People's preferences or ratings on the criterion.
    asked : str
        Text of the question.
    stories : array of int
        Indices of the stories that people judged on the criterion.
    pairs : tuple of two arrays of int
        Indices of the first and second stories of the compared pairs; empty for ratings.
    """

    material: int
    kind: Kind
    about: Preferences | Ratings
    asked: str
    stories: Codes
    pairs: tuple[Codes, Codes] = (np.empty(0, np.int64), np.empty(0, np.int64))

    @property
    def criterion(self) -> str:
        """Name of the criterion that the question is about."""
        return self.about.criterion


@dataclass(frozen=True, slots=True, eq=False)
class Lesson:
    """All training data of an encoder.

    Attributes
    ----------
    questions : tuple of Question
        The questions, each about one criterion of one dataset.
    ranked, rated : tuple of tuples
        For each question, its lists (a preferred story with the stories to which it was preferred) or its rated
        stories.
    groups : tuple of tuples of str
        For each dataset, the group of each story. A group is held out together in cross-validation.
    """

    questions: tuple[Question, ...]
    ranked: tuple[tuple[Ranked, ...], ...]
    rated: tuple[tuple[Rated, ...], ...]
    groups: tuple[tuple[str, ...], ...]

    def names(self) -> list[str]:
        """Sorted names of all groups (stories held out together in cross-validation) with a story that some question is
        about.
        """
        return sorted({self.groups[q.material][k] for q in self.questions for k in q.stories})

    def within(self, groups: set[str]) -> Lesson:
        """The part of the training data that belongs to the given groups (stories held out together in
        cross-validation).
        """
        return self._only(lambda group: group in groups)

    def without(self, groups: set[str]) -> Lesson:
        """The training data without the given groups (stories held out together in cross-validation). Perturbed stories
        stay in, unless they belong to one of these groups.
        """
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
    """The training data of an encoder, made from the materials of one or more datasets. `usable` marks the stories of
    each dataset that have words. `worse` are pairs of original and perturbed story for each dataset, which are added to
    the preferences on every criterion. `criteria` names a criteria set with definitions; None = the shipped set that
    has most of the criteria.
    """
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
    """Pairs of query and story text that the model reads, for the question `asked` about the stories at the given
    indices.
    """
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
    """Name of each story's group, one list per dataset; groups are held out together in cross-validation. All stories
    for a story-prompt, in any dataset, are in one group. Two groups are merged if people compared a story of one with a
    story of the other.
    """
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
    """Definitions of criteria by name (in lower case): those of the named criteria set or, if `criteria` is None, of
    the shipped set that has most of the criteria.
    """
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
