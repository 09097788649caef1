"""The chart of rating distributions: a row for people and each judge, a column for each criterion.

Bars are shares of a row's ratings, all to one scale; people's stand as a line in every judge's histogram.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from judge.analysis.raters import Raters

if TYPE_CHECKING:
    from judge.analysis.distributions import Distribution
    from judge.analysis.distributions import Distributions as Counted

Kind = Literal["people", "judge", "control"]
"""Whose ratings: people's are grey, a judge's blue, a control's hatched."""


@dataclass(frozen=True, slots=True)
class Histogram:
    """Histogram of ratings: `counts` at the `points` of the scale; `asked` also counts requests that gave no rating.

    Without points or ratings `reason` says why; `words` are the points' labels, where ratings are labels.
    """

    points: tuple[float, ...]
    counts: tuple[int, ...]
    asked: int
    reason: str = ""
    words: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the points: their labels, or their numbers."""
        return self.words or tuple(f"{point:g}" for point in self.points)

    @property
    def n(self) -> int:
        """Number of ratings."""
        return sum(self.counts)

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of each point, 0 to 1; all 0 where nobody rated."""
        return tuple(count / self.n if self.n else 0.0 for count in self.counts)

    @property
    def size(self) -> str:
        """`n = 144`, or `n = 144 of 151` where repeats gave no rating."""
        return f"n = {self.n:,}" if self.n == self.asked else f"n = {self.n:,} of {self.asked:,}"


@dataclass(frozen=True, slots=True)
class HistogramRow:
    """Row of one rater: its name, Eval-Prompt, and a histogram for each criterion; rows of one name form a `group`."""

    name: str
    label: str
    kind: Kind
    cells: tuple[Histogram, ...]
    group: str = ""

    @property
    def words(self) -> str:
        """Name and Eval-Prompt."""
        return ", ".join(part for part in (self.name, self.label) if part)


@dataclass(frozen=True, slots=True)
class Distributions:
    """Specification of a chart of histograms, `rows` x `criteria`; people's row is first."""

    title: str
    criteria: tuple[str, ...]
    short: tuple[str, ...]
    rows: tuple[HistogramRow, ...]
    caption: str
    signature: str

    @property
    def alt(self) -> str:
        """Alternative text of the picture, for screen readers."""
        return f"{len(self.rows)} rows by {len(self.criteria)} criteria; each histogram counts the scale's points."

    @property
    def top(self) -> float:
        """The largest share of all histograms, which the longest bar stands for."""
        return (
            max((share for row in self.rows for histogram in row.cells for share in histogram.shares), default=0.0)
            or 1.0
        )

    def people(self, criterion: int) -> Histogram | None:
        """People's histogram of a criterion, which stands behind every judge's."""
        histogram = next((row.cells[criterion] for row in self.rows if row.kind == "people"), None)
        return histogram if histogram and histogram.n else None

    def tip(self, row: int, criterion: int, point: int) -> str:
        """Description of one bar in words."""
        histogram = self.rows[row].cells[criterion]
        where = f"{self.rows[row].words}, {self.criteria[criterion]}"
        count = histogram.counts[point]
        share = 100 * count / histogram.n
        return f"{where}: {histogram.names[point]} in {count:,} of {histogram.n:,} ratings, {share:.1f} %"


def distributions(counts: Counted, raters: Raters | None = None) -> Distributions:
    """Chart of the rating distributions of one dataset."""
    raters = raters or Raters()
    rows = tuple(_row(row, counts.criteria, raters) for row in counts.rows)
    size = f"{counts.stories:,} stories"
    text = f"Share of ratings in %, {counts.dataset}, {size}; all panels to one scale, n counts ratings."
    between = any(distribution.between for row in counts.rows for distribution in row)
    text += _codes(rows)
    return Distributions(
        title=f"How often each rating was given, {counts.dataset}",
        criteria=counts.criteria,
        short=counts.short,
        rows=rows,
        caption=text + caption_sentences(rows, raters, between=between) + raters.sentence,
        signature=counts.signature,
    )


def _codes(rows: Sequence[HistogramRow]) -> str:
    """Key from the points of a scale to its labels, for pictures that have no room for the words."""
    sets = dict.fromkeys(
        (histogram.points, histogram.words) for row in rows for histogram in row.cells if histogram.words
    )
    scales = ["; ".join(f"{point:g} {word}" for point, word in zip(*histogram, strict=True)) for histogram in sets]
    return f" Labels: {'. '.join(scales)}." if scales else ""


def caption_sentences(rows: Sequence[HistogramRow], raters: Raters, *, between: bool) -> str:
    """The sentences of a caption on lines, hatching and omitted repeats."""
    text = ""
    if any(row.kind == "people" for row in rows) and len(rows) > 1:
        text += f" The line: {raters.noun}."
    if any(row.kind == "control" for row in rows):
        text += " Hatched: a control, no language model."
    if any(histogram.n < histogram.asked for row in rows for histogram in row.cells):
        text += " “n of m”: repeats without a rating are left out."
    if between:
        text += " Ratings between two points count at the nearer one."
    return text


def _row(row: Sequence[Distribution], criteria: Sequence[str], raters: Raters) -> HistogramRow:
    first = row[0]
    by_criterion = {distribution.criterion.casefold(): distribution for distribution in row}
    kind: Kind = "people" if first.run is None else "control" if first.control else "judge"
    return HistogramRow(
        name=raters.name if first.run is None else first.judge,
        label=first.eval_prompt or "",
        kind=kind,
        cells=tuple(_histogram(by_criterion.get(name.casefold()), first.run is None) for name in criteria),
        group=first.run or "",
    )


def _histogram(distribution: Distribution | None, is_people: bool) -> Histogram:
    if distribution is None:
        return Histogram((), (), 0, "not rated" if is_people else "not requested")
    reason = "" if distribution.n else f"{distribution.asked} requested, none has a rating"
    return Histogram(distribution.points, distribution.counts, distribution.asked, reason, distribution.words)
