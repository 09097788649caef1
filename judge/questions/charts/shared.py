"""Signs of groups in a figure: each has its own colour, marker and dash, so that colour is not needed to recognise it.

Colours: Okabe & Ito, Color Universal Design (2008), distinguishable with the common colour vision deficiencies.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from judge.base.estimate import Estimate

# Positions of grouped rows in a chart: the rows of one judge are adjacent, with a gap before the next judge's.


def places(groups: Sequence[Hashable], gap: float) -> list[float]:
    """Top of each row, in units of rows; `groups` has one entry for each."""
    tops: list[float] = []
    for i, group in enumerate(groups):
        tops.append(tops[-1] + 1 + (gap if group != groups[i - 1] else 0.0) if i else 0.0)
    return tops


# Texts that all charts use: numbers with intervals, counts, short names, reasons for empty cells.


def worded(estimate: Estimate, *, factor: float = 100, digits: int = 1) -> str:
    """An estimate times `factor` as text, e.g. `28.3 [25.1, 31.4]`, or the reason why it is undefined."""
    if estimate.value is None:
        return estimate.reason or "undefined"
    text = f"{factor * estimate.value:.{digits}f}"
    if estimate.low is not None and estimate.high is not None:
        text += f" [{factor * estimate.low:.{digits}f}, {factor * estimate.high:.{digits}f}]"
    return text.replace("-", "−")


def worded_difference(
    over: Estimate, first: Estimate, second: Estimate, *, factor: float = 100, digits: int = 1
) -> str:
    """A difference with its sign, as that of its two sides as they are printed (rounded), so that who subtracts one
    from the other finds it. The interval stays that of the difference.
    """
    if over.value is None:
        return worded(over)
    value = over.value
    if first.value is not None and second.value is not None:
        printed = round(factor * first.value, digits) - round(factor * second.value, digits)
        # Where the difference is of other stories than its sides, no rounding explains the distance.
        if abs(printed - factor * value) < 1.5 * 10**-digits:
            value = (round(printed, digits) + 0.0) / factor
    text = worded(replace(over, value=value), factor=factor, digits=digits)
    return f"+{text}" if value >= 0 else text


def height(statistic: str, value: Estimate, stories: int, criteria: Sequence[str]) -> str:
    """A correlation in words, with its stories and criteria; without a final period."""
    over = f"mean of {len(criteria)} criteria" if len(criteria) > 1 else criteria[0]
    return f"{statistic} x100 {worded(value)} over {stories:,} stories, {over}"


def counted(numbers: Sequence[int], unit: str) -> str:
    """Sample sizes as text, e.g. `n = 960 stories`, or a range if they differ."""
    positive = [number for number in numbers if number]
    if not positive:
        return f"no {unit}"
    low, high = min(positive), max(positive)
    return f"n = {low:,} {unit}" if low == high else f"n = {low:,} to {high:,} {unit}"


def meaning(short: Sequence[str], names: Sequence[str]) -> str:
    """Caption sentence that explains abbreviated names, with a leading blank; empty without any."""
    pairs = [f"{a} {b}" for a, b in zip(short, names, strict=True) if a != b]
    return f" {', '.join(pairs)}." if pairs else ""


def undefined(cells: Sequence[Estimate]) -> str:
    """Caption sentence that says why some of the estimates are undefined; empty if all are defined."""
    reasons = list(dict.fromkeys(cell.reason for cell in cells if not cell.defined and cell.reason))
    if not reasons:
        return ""
    why = f" ({'; '.join(reasons)})" if len(reasons) < 3 else ", for the reasons in the table"
    return f" Some values do not exist{why}."


@dataclass(frozen=True, slots=True)
class Sign:
    """Colour, marker and dash of one group; markers are `filled` with the colour, or with white."""

    colour: str
    marker: str
    filled: bool = True
    dash: str | tuple[int, tuple[float, ...]] = "solid"

    @property
    def face(self) -> str:
        """Colour inside the marker."""
        return self.colour if self.filled else "white"


PEOPLE = Sign("#000000", "D")
CONTROL = Sign("#444444", "s", filled=False)
JUDGE = Sign("#0072B2", "o")

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILLION, PURPLE = (
    "#000000",
    "#E69F00",
    "#56B4E9",
    "#009E73",
    "#F0E442",
    "#0072B2",
    "#D55E00",
    "#CC79A7",
)

# Groups beyond these are refused: nobody tells more apart.
SIGNS = (
    Sign(BLUE, "o"),
    Sign(VERMILLION, "s", filled=False),
    Sign(GREEN, "^"),
    Sign(PURPLE, "v", filled=False),
    Sign(ORANGE, "P"),
    Sign(SKY, "X"),
    Sign(BLACK, "d", filled=False),
    Sign("#7F7F7F", "*"),
    Sign(BLUE, "<", filled=False),
    Sign(VERMILLION, ">"),
)

# Points of no group, and of groups beyond those that have signs.
OTHERS = Sign("#b8b8b8", ".")
