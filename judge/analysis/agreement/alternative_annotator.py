"""The alternative annotator test of every judge and of judges that know nothing, as rows. Never prints.

Refused where people are not known one from another, unless positions pass for them; beside every row stands how far
the people agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from judge.analysis.agreement.null_judges import MEAN, PERMUTED, constant, permuted
from judge.analysis.inputs.bars import Remarks
from judge.analysis.inputs.candidates import Candidate, comparable
from judge.analysis.options.agreement_options import ReplacementOptions
from judge.rating_matrix import Raters, RatingMatrix
from judge.stats.agreement import icc
from judge.stats.agreement.alt_test import PASS, AltTest, alt_test
from judge.stats.agreement.repeat_agreement import agreement
from judge.stats.estimate import Estimate
from judge.wording import Advice, Note

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]
Mask = NDArray[np.bool_]

JUDGE, NULL = "judge", "null"
"""Kinds of rows: a judge's, and of one that knows nothing."""

_WHOLE = 0.98
"""A judge that rated less of people's stories is set beside judges that know nothing on the same stories."""


def tested_rows(matrices: Sequence[RatingMatrix], options: ReplacementOptions) -> tuple[list[dict[str, Any]], Remarks]:
    """A row for every judge cell that can be set beside people, and, below a criterion's, those that know nothing."""
    found, remarks = comparable(matrices, options.against, None)
    people: dict[tuple[str, str], tuple[Raters, str | None, dict[str, Any]]] = {}
    sides: dict[tuple[str, str], list[tuple[Candidate, _Test]]] = {}
    rows: list[dict[str, Any]] = []
    for matrix, one in found:
        key = (matrix.dataset, one.labels["against"])
        if key not in people:
            people[key] = _people(matrix, one.labels["against"], options, remarks)
        raters, reason, agreed = people[key]
        test = _Test(raters, matrix.story_prompt, reason, options)
        rows.append({**one.labels, "kind": JUDGE, **agreed, **test.row(one.sides[0])})
        sides.setdefault(key, []).append((one, test))
    for (dataset, against), judges in sides.items():
        last = max(i for i, row in enumerate(rows) if (row["dataset"], row["against"]) == (dataset, against))
        agreed = people[dataset, against][2]
        rows[last + 1 : last + 1] = [{**row, **agreed} for row in _null_rows(judges)]
    return rows, remarks


class _Test:
    """The alt-test against one criterion's people."""

    def __init__(self, raters: Raters, story_prompt: Codes, reason: str | None, options: ReplacementOptions) -> None:
        self.raters, self.story_prompt, self.reason, self.options = raters, story_prompt, reason, options
        self.names = raters.names or tuple(f"position {i + 1}" for i in range(raters.ratings.shape[1]))

    @property
    def stories(self) -> Mask:
        """Stories that people rated."""
        return np.asarray((~np.isnan(self.raters.ratings)).any(axis=1), dtype=np.bool_)

    def result(self, judge: Floats) -> AltTest:
        """Of one judge; refused where people are not known one from another."""
        options = self.options
        if self.reason:
            nothing = Estimate.undefined(self.reason)
            return AltTest(nothing, nothing, (), 0, options.epsilon)
        given = np.floor(judge + 0.5) if options.measure == "exact" else judge
        return alt_test(
            given,
            self.raters.ratings,
            epsilon=options.epsilon,
            measure=options.measure,
            cluster=self.story_prompt,
        )

    def row(self, judge: Floats) -> dict[str, Any]:
        """What the tables say of a judge."""
        result = self.result(judge)
        stories = [person.stories for person in result.people]
        return {
            "winning_rate": result.winning_rate,
            "advantage": result.advantage,
            "passed": result.passed,
            "p": result.p,
            "clustered_rate": result.clustered_rate,
            "clustered_passed": result.clustered_passed,
            "clustered_p": result.clustered_p,
            "clusters": min((person.clusters for person in result.people), default=None),
            "epsilon": self.options.epsilon,
            "compared": len(result.people),
            "too_few": result.too_few,
            "least_stories": min(stories, default=None),
            "most_stories": max(stories, default=None),
            "names": self.names,
            "result": result,
        }


def _null_rows(judges: Sequence[tuple[Candidate, _Test]]) -> list[dict[str, Any]]:
    """Judges that know nothing, on all stories, and once more on the stories of each judge that lost many of them."""
    test = judges[0][1]
    if test.reason or not test.stories.any():
        return []
    rated, labels = test.stories, judges[0][0].labels
    about = {"kind": NULL, "dataset": labels["dataset"], "criterion": labels["against"]}
    about |= {"run": None, "eval_prompt": None, "against": labels["against"]}
    sets = [("", rated)] if any(_kept(one, rated) >= _WHOLE for one, _ in judges) else []
    for one, _ in judges:
        if 0 < _kept(one, rated) < _WHOLE:
            name = " ".join(str(part) for part in (one.labels["judge"], one.labels["eval_prompt"]) if part)
            sets.append((f", stories of {name}", rated & ~np.isnan(one.sides[0])))
    rows = []
    for of, stories in sets:
        ratings, rng = test.raters.ratings, np.random.default_rng(test.options.seed)
        rows.append({**about, "judge": f"{MEAN}{of}", **test.row(constant(ratings, stories))})
        dealt = [test.row(judge) for judge in permuted(ratings, stories, rng)]
        rows.append({**about, "judge": f"{PERMUTED}{of}", **_mean_row(dealt)})
    return [row for row in rows if row["winning_rate"].defined]


def _kept(one: Candidate, rated: Mask) -> float:
    """Share of the stories that people rated which a judge rated."""
    return float((~np.isnan(one.sides[0][rated])).mean())


def _mean_row(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """One row of several: means of rates, medians of p; it passes where the mean rate does."""
    made = dict(rows[0])
    for name in ("winning_rate", "clustered_rate", "advantage"):
        values = [row[name].value for row in rows]
        if None not in values:
            made[name] = replace(made[name], value=float(np.mean(values)))
    for name in ("p", "clustered_p"):
        values = [row[name] for row in rows]
        made[name] = None if None in values else float(np.median(values))
    for name, rate in (("passed", "winning_rate"), ("clustered_passed", "clustered_rate")):
        made[name] = None if made[rate].value is None else made[rate].value >= PASS
    return made


def _people(
    matrix: RatingMatrix, criterion: str, options: ReplacementOptions, remarks: Remarks
) -> tuple[Raters, str | None, dict[str, Any]]:
    """The raters of a criterion, why they cannot be left out one at a time, and how far they agree."""
    raters = matrix.by_rater(matrix.criteria.index(criterion))
    packed = _packed(raters.ratings)
    equal = agreement(packed, columns="people").flip
    if equal.value is not None:
        equal = replace(equal, value=1 - equal.value)
    names, ratings = (raters.names, raters.ratings) if raters.known else ((), None)
    family = icc.family(packed, columns="people", names=names, raters=ratings)
    forms = {row.form: row.estimate for row in family.rows}
    agreed = {"people_icc": forms["ICC(1,1)"], "people_equal": equal}
    if raters.known:
        return raters, None, agreed
    if not (np.diff(raters.ratings, axis=1) < 0).any():
        reason = f"refused: {raters.reason}, so positions are lowest to highest rating, not persons"
        return raters, reason, agreed
    if not options.positions:
        instead = Advice("{positions} takes first, second, ... rating for persons", positions=True)
        return raters, Note(f"refused: {raters.reason}", instead), agreed
    note = f"{matrix.dataset}: {raters.reason}; first, second, ... rating stand in for persons, who may be several each"
    remarks.notes[note] = None
    return raters, None, agreed


def _packed(ratings: Floats) -> Floats:
    """Each story's ratings moved to the left, as many columns as most stories have ratings; stories with 2 or more.

    Columns are then positions: for agreement among whoever rated, one-way.
    """
    known = ~np.isnan(ratings)
    rows, count = ratings[known.sum(axis=1) >= 2], known.sum(axis=1)
    if not rows.size:
        return np.asarray(rows, dtype=np.float64)
    width = int(np.bincount(count[count >= 2]).argmax())
    order = np.argsort(np.isnan(rows), axis=1, kind="stable")
    return np.asarray(np.take_along_axis(rows, order, axis=1)[:, :width], dtype=np.float64)
