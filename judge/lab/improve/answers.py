"""Answers of stages as arrays: ratings by each Eval-Prompt beside people's, on one axis of stories."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import numpy as np

from judge.analysis.inputs.candidates import match
from judge.base.arrays import Codes, Floats, ratio
from judge.base.errors import SpecError
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import read
from judge.stats.estimation.prompt_gain import Part, mean_tau


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """Ratings of n stories on c criteria. `people` and each of `ratings` (by Eval-Prompt) are (c, n), NaN = none;
    `asked` and `rated` count repeats, (c, n); `group` (n,) numbers story-prompts and `system` (n,) systems; `words`
    (n,) are NaN where not known."""

    criteria: tuple[str, ...]
    stories: tuple[str, ...]
    people: Floats
    ratings: Mapping[str, Floats]
    asked: Mapping[str, Codes]
    rated: Mapping[str, Codes]
    group: Codes
    system: Codes
    systems: tuple[str, ...]
    words: Floats

    def score(self, name: str) -> float:
        """Mean over criteria of tau-b with people; NaN where it is undefined."""
        return mean_tau(self.ratings[name], self.people)

    def missing(self, name: str) -> float:
        """Share of requested repeats without a rating."""
        return 1 - float(self.rated[name].sum()) / max(1, int(self.asked[name].sum()))

    def of(self, keep: Sequence[str]) -> Answers:
        """The same of some of the stories."""
        chosen = np.isin(np.array(self.stories, dtype=object), np.array(list(keep), dtype=object))

        def cut(each: Mapping[str, Floats]) -> dict[str, Floats]:
            return {name: values[:, chosen] for name, values in each.items()}

        return Answers(
            self.criteria,
            tuple(story for story, kept in zip(self.stories, chosen, strict=True) if kept),
            self.people[:, chosen],
            cut(self.ratings),
            {name: values[:, chosen] for name, values in self.asked.items()},
            {name: values[:, chosen] for name, values in self.rated.items()},
            self.group[chosen],
            self.system[chosen],
            self.systems,
            self.words[chosen],
        )


def matrix_of(folder: Path) -> RatingMatrix:
    """The ratings in a result folder."""
    return build(read([folder]))[0]


def answers_of(
    folder: Path, criteria: Sequence[str], groups: Mapping[str, int], systems: Sequence[str], against: str | None = None
) -> Answers:
    """Answers in a result folder. `groups` is the number of each story's story-prompt, `systems` all systems' names.

    Raises SpecError where people rated none of the criteria.
    """
    matrix = matrix_of(folder)
    partner = match(matrix, against)
    names = list(dict.fromkeys(cell.eval_prompt for cell in matrix.cells))
    place = {(cell.eval_prompt, cell.criterion): i for i, cell in enumerate(matrix.cells)}
    rated = [
        c for c in criteria if (cell := place.get((names[0], c))) is not None and partner.partner[cell] is not None
    ]
    if not rated:
        raise SpecError(
            str(partner.reason or "people rated none of the run's criteria"), hint="judge people has them rated"
        )
    code = {name: number for number, name in enumerate(systems)}
    people = [matrix.people[partner.partner[place[names[0], c]] or 0] for c in rated]
    rows = {name: [place[name, c] for c in rated] for name in names}
    return Answers(
        tuple(rated),
        tuple(map(str, matrix.stories["story"])),
        np.stack(people),
        {name: matrix.judge[cells] for name, cells in rows.items()},
        {name: matrix.asked[cells] for name, cells in rows.items()},
        {name: matrix.valid[cells] for name, cells in rows.items()},
        np.array([groups.get(str(story), -1) for story in matrix.stories["story"]], dtype=np.int64),
        np.array([code[matrix.systems[s]] for s in matrix.system], dtype=np.int64),
        tuple(systems),
        matrix.stories["words"].to_numpy(dtype=np.float64, na_value=np.nan),
    )


def joined(parts: Sequence[Answers]) -> Answers:
    """Answers about different stories as one, of the Eval-Prompts that all of them have."""
    return reduce(_joined, parts)


def _joined(first: Answers, other: Answers) -> Answers:
    names = [name for name in first.ratings if name in other.ratings]

    def both(a: Mapping[str, Floats] | Mapping[str, Codes], b: Mapping[str, Floats] | Mapping[str, Codes]) -> dict:  # type: ignore[type-arg]
        return {name: np.concatenate([a[name], b[name]], axis=1) for name in names}

    return Answers(
        first.criteria,
        (*first.stories, *other.stories),
        np.concatenate([first.people, other.people], axis=1),
        both(first.ratings, other.ratings),
        both(first.asked, other.asked),
        both(first.rated, other.rated),
        np.concatenate([first.group, other.group]),
        np.concatenate([first.system, other.system]),
        first.systems,
        np.concatenate([first.words, other.words]),
    )


def beside(first: Answers, other: Answers, name: str, called: str) -> Answers:
    """Answers with those of another asking of the same stories: its Eval-Prompt `name` is `called` here."""
    order = {story: number for number, story in enumerate(other.stories)}
    at = [order[story] for story in first.stories]
    return Answers(
        first.criteria,
        first.stories,
        first.people,
        {**first.ratings, called: other.ratings[name][:, at]},
        {**first.asked, called: other.asked[name][:, at]},
        {**first.rated, called: other.rated[name][:, at]},
        first.group,
        first.system,
        first.systems,
        first.words,
    )


def part(answers: Answers, base: Sequence[str], other: str) -> Part:
    """The test part in which `other` is set against the mean of the askings `base`."""
    stacked = np.stack([answers.ratings[name] for name in base])
    return Part(answers.people, stacked, answers.ratings[other], answers.group, answers.system)


def together(answers: Answers, names: Sequence[str]) -> Floats:
    """Mean rating over several askings with equal repeats, (c, n); NaN where one has none."""
    stacked = np.stack([answers.ratings[name] for name in names])
    return np.asarray(ratio(stacked.sum(axis=0), np.full(stacked.shape[1:], len(names))))
