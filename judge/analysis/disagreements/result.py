"""Result types of the search for disagreements: stories with all their ratings and explanations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields

import pandas as pd

from judge.analysis.options.signed import Signed
from judge.analysis.options.table_options import DisagreementsOptions
from judge.base.records import Scale


@dataclass(frozen=True, slots=True)
class RaterRating:
    """One person's rating; `rater` is None where it is not known who gave it."""

    rater: str | None
    rating: float | None


@dataclass(frozen=True, slots=True)
class PeopleSide:
    """Human ratings of a story on one criterion, with their mean in points.

    `z` is the standardised mean. It is None where the human ratings are only shown and not compared.
    """

    criterion: str
    mean: float | None
    z: float | None
    ratings: tuple[RaterRating, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """One answer of a judge, with its rating, status, flags and explanation.

    `repeat` is its number, None for an imported mean.
    """

    repeat: int | None
    rating: float | None
    status: str | None
    flags: str | None
    explanation: str | None


@dataclass(frozen=True, slots=True)
class JudgeSide:
    """A judge's answers on a story with one Eval-Prompt.

    `mean` is the mean rating in points, and `z` is the standardised mean.
    """

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
    rank : int
        Position in the list; 1 = largest difference.
    system, story_prompt : str or None
        The system that wrote the story, and its story-prompt, where known.
    judge, eval_prompt : str or None
        None where several judges or Eval-Prompts are compared.
    difference, raw : float
        Difference in standard deviations, and in points. It is judge minus people, or highest minus lowest where
        several ratings are compared.
    people : PeopleSide or None
        None where people did not rate the criterion.
    sides : tuple of JudgeSide
        A single judge's answers, or the answers that are compared with each other.
    text : str
        The text of the story.
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
        """The story with its difference and ratings as plain lists and mappings, as stored in files."""
        return asdict(self, dict_factory=_plain)


COLUMNS = tuple(field.name for field in fields(Disagreement))


@dataclass(frozen=True, slots=True, eq=False)
class Disagreements(Signed):
    """The list of stories on which ratings differ most, largest difference first.

    `stories` is the number of stories compared, `datasets` are the names of their datasets. `notes` say what was left
    out and why. `labels` maps (dataset, criterion in lower case) to the scale of criteria with labels.
    """

    rows: tuple[Disagreement, ...]
    stories: int
    datasets: tuple[str, ...]
    options: DisagreementsOptions
    labels: Mapping[tuple[str, str], Scale]

    def scale_of(self, row: Disagreement) -> Scale | None:
        """The scale of a row's ratings if they are codes of labels, else None."""
        return self.labels.get((row.dataset, row.criterion.casefold()))

    @property
    def frame(self) -> pd.DataFrame:
        """A frame with one row per story on which ratings differ, and with `signature` and `notes` in its `attrs`.

        The column `people` holds the human ratings and `sides` the judges' answers, both as mappings.
        """
        return self.signed([row.record for row in self.rows])


def _plain(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in pairs}
