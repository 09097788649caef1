"""Result of the search for disagreements: stories with all their ratings and explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import pandas as pd

from judge.analysis.options.signed import Signed
from judge.analysis.options.table_options import DisagreementsOptions
from judge.records import Scale


@dataclass(frozen=True, slots=True)
class RaterRating:
    """One person's rating; `rater` is None where it is not known who gave it."""

    rater: str | None
    rating: float | None


@dataclass(frozen=True, slots=True)
class PeopleSide:
    """People's ratings of a story on the criterion; `z` is None where the ratings are only shown and not compared."""

    criterion: str
    mean: float | None
    z: float | None
    ratings: tuple[RaterRating, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """One answer of a judge; `repeat` is None for an imported mean."""

    repeat: int | None
    rating: float | None
    status: str | None
    flags: str | None
    explanation: str | None


@dataclass(frozen=True, slots=True)
class JudgeSide:
    """A judge's answers on a story with one Eval-Prompt."""

    run: str
    judge: str
    eval_prompt: str
    mean: float | None
    z: float | None
    repeats: tuple[Repeat, ...]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One story and the difference between its ratings.

    Attributes
    ----------
    judge, eval_prompt : str or None
        None where several of them are compared.
    difference, raw : float
        Judge minus people or, between several, highest minus lowest: in standard deviations, and in points.
    people : PeopleSide or None
        None where people did not rate the criterion.
    sides : tuple of JudgeSide
        One, or those that are compared with each other.
    """

    rank: int
    dataset: str
    judge: str | None
    eval_prompt: str | None
    criterion: str
    story: str
    system: str | None
    story_prompt: str | None
    difference: float
    raw: float
    people: PeopleSide | None
    sides: tuple[JudgeSide, ...]
    text: str

    @property
    def record(self) -> dict[str, object]:
        """The row as plain lists and mappings, the form in which files store it."""
        return asdict(self, dict_factory=_plain)


COLUMNS = tuple(field.name for field in fields(Disagreement))


@dataclass(frozen=True, slots=True, eq=False)
class Disagreements(Signed):
    """The list of disagreements, largest difference first.

    `stories` counts those that were compared, `datasets` are their names. `notes` are sentences on these rows: what was
    left out and why; `labels` are scales of criteria with labels by (dataset, criterion in small letters).
    """

    rows: tuple[Disagreement, ...]
    stories: int
    datasets: tuple[str, ...]
    options: DisagreementsOptions
    labels: Mapping[tuple[str, str], Scale]

    def scale_of(self, row: Disagreement) -> Scale | None:
        """The scale of a row's ratings where these are codes of labels."""
        return self.labels.get((row.dataset, row.criterion.casefold()))

    @property
    def frame(self) -> pd.DataFrame:
        """A frame with one row per disagreement, `people` and `sides` as mappings, and `signature` and `notes` in its
        `attrs`.
        """
        return self.signed([row.record for row in self.rows])


def _plain(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in pairs}
