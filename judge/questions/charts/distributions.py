"""Chart of rating distributions: a row for people and one for each judge, a column for each criterion.

Bars are shares of a row's ratings, on the same scale in all histograms; people's are a line in every judge's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from judge.analysis.raters import Raters

if TYPE_CHECKING:
    from judge.analysis.distributions import Distribution
    from judge.analysis.distributions import Distributions as Counted

# Whose ratings: people's are grey, a judge's blue, a control's hatched.
Kind = Literal["people", "judge", "control"]


@dataclass(frozen=True, slots=True)
class Histogram:
    """Number of ratings at each of the `points` of the scale. `asked` counts ratings requested, with or without
    success. `reason` says why there are no points or ratings; `words` are the labels of the points.
    """

    points: tuple[float, ...]
    counts: tuple[int, ...]
    asked: int
    reason: str = ""
    words: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """Labels of the points, or their numbers."""
        return self.words or tuple(f"{point:g}" for point in self.points)

    @property
    def n(self) -> int:
        return sum(self.counts)

    @property
    def shares(self) -> tuple[float, ...]:
        """Share of ratings at each point, from 0 to 1; all 0 without ratings."""
        return tuple(count / self.n if self.n else 0.0 for count in self.counts)

    @property
    def size(self) -> str:
        """`n = 144`, or `n = 144 of 151` if some repeats gave no rating."""
        return f"n = {self.n:,}" if self.n == self.asked else f"n = {self.n:,} of {self.asked:,}"


@dataclass(frozen=True, slots=True)
class HistogramRow:
    """A histogram for each criterion, of a judge (with `label`, its Eval-Prompt) or people (no `group`, the run)."""

    name: str
    label: str
    kind: Kind
    cells: tuple[Histogram, ...]
    group: str = ""

    @property
    def words(self) -> str:
        return ", ".join(part for part in (self.name, self.label) if part)


@dataclass(frozen=True, slots=True)
class Distributions:
    """Specification of a chart of histograms, `rows` x `criteria`; people come first."""

    title: str
    criteria: tuple[str, ...]
    short: tuple[str, ...]
    rows: tuple[HistogramRow, ...]
    caption: str
    signature: str

    @property
    def alt(self) -> str:
        return f"{len(self.rows)} rows by {len(self.criteria)} criteria; each histogram counts the scale's points."

    @property
    def top(self) -> float:
        """Largest share at one point in the chart: the longest bar."""
        return (
            max((share for row in self.rows for histogram in row.cells for share in histogram.shares), default=0.0)
            or 1.0
        )

    def people(self, criterion: int) -> Histogram | None:
        """Histogram of human ratings on a criterion (an index); None without ratings."""
        histogram = next((row.cells[criterion] for row in self.rows if row.kind == "people"), None)
        return histogram if histogram and histogram.n else None

    def tip(self, row: int, criterion: int, point: int) -> str:
        """Tooltip of one bar: who gave this rating, and how often."""
        histogram = self.rows[row].cells[criterion]
        where = f"{self.rows[row].words}, {self.criteria[criterion]}"
        count = histogram.counts[point]
        share = 100 * count / histogram.n
        return f"{where}: {histogram.names[point]} in {count:,} of {histogram.n:,} ratings, {share:.1f} %"


def distributions(counts: Counted, raters: Raters | None = None) -> Distributions:
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
    """Labels of the points, because the chart has room only for numbers."""
    sets = dict.fromkeys(
        (histogram.points, histogram.words) for row in rows for histogram in row.cells if histogram.words
    )
    scales = ["; ".join(f"{point:g} {word}" for point, word in zip(*histogram, strict=True)) for histogram in sets]
    return f" Labels: {'. '.join(scales)}." if scales else ""


def caption_sentences(rows: Sequence[HistogramRow], raters: Raters, *, between: bool) -> str:
    """Sentences on the line for people, the hatching and the repeats left out, as far as the chart has them, and with
    `between` on ratings between two points.
    """
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
