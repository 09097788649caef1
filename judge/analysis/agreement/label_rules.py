"""Labels of stories derived from human ratings, by a criterion with two values or a rule with a threshold."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from judge.base.errors import SpecError, unknown_value
from judge.base.wording import Advice
from judge.ratings.rating_matrix import RatingMatrix

_RULE = re.compile(r"^(?P<name>.+?)\s*(?P<sign>>=|<=|>|<)\s*(?P<number>[+-]?\d+(?:\.\d+)?)$")
_SAME = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Labels:
    """Binary labels of the n stories of a dataset.

    Attributes
    ----------
    text : str
        The rule in full, e.g. ``Overall > 4``.
    criterion : int
        Index of the human criterion that the rule uses.
    holds, rated : array of bool, shape (n,)
        Whether a story has the label, and whether people rated it. `holds` is false for unrated stories.
    by_rule : bool
        Whether the label was obtained by comparing the mean rating with a threshold.
    """

    text: str
    criterion: int
    holds: NDArray[np.bool_]
    rated: NDArray[np.bool_]
    by_rule: bool


def criterion_of(words: str) -> str:
    """Name of the human criterion in a rule such as ``Overall > 4``; text without a rule is itself the name."""
    rule = _RULE.match(words.strip())
    return (rule["name"] if rule else words).strip()


def labels(matrix: RatingMatrix, words: str, option: str = "labels") -> Labels:
    """Labels from a rule (``Overall > 4``), or from a criterion whose mean ratings have two values.

    Without a rule, stories with the higher value have the label. A threshold is compared with the mean over raters;
    values within 1e-9 count as equal. `option` names the option that holds `words`, for error messages.

    Raises
    ------
    SpecError
        People did not rate the criterion, or there is no rule and the mean ratings do not have exactly two values.
    """
    given = {option: words}
    match, name = _RULE.match(words.strip()), criterion_of(words)
    places = {criterion.casefold(): j for j, criterion in enumerate(matrix.criteria)}
    if not places:
        raise SpecError(Advice(f"{{{option}!r}}: no person rated the stories of {{}}", matrix.dataset, **given))
    if name.casefold() not in places:
        raise unknown_value(option, name, matrix.criteria)
    j = places[name.casefold()]
    mean, title = matrix.people[j], matrix.criteria[j]
    rated = ~np.isnan(mean)
    if match:
        threshold = float(match["number"])
        above, below = mean > threshold + _SAME, mean < threshold - _SAME
        holds = {">": above, "<": below, ">=": rated & ~below, "<=": rated & ~above}[match["sign"]]
        text = f"{title} {match['sign']} {threshold:g}"
        return Labels(text, j, np.asarray(holds & rated, dtype=bool), rated, by_rule=True)
    values = np.unique(np.round(mean[rated], 9))
    if values.size != 2:
        wrong = f"people's means of {title} have {values.size} values on {matrix.dataset}, not 2"
        rule = {option: f"{title} > {_middle(values):g}"}
        raise SpecError(
            Advice(f"{{{option}!r}}: {{}}", wrong, **given),
            hint=Advice(f"say which stories have the label, e.g. {{{option}}}", **rule),
        )
    holds = rated & (np.abs(mean - values[1]) < _SAME)
    return Labels(f"{title} = {values[1]:g}", j, np.asarray(holds, dtype=bool), rated, by_rule=False)


def _middle(values: NDArray[np.float64]) -> float:
    return round(float(np.median(values)), 1) if values.size else 0.0
