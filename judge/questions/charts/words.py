"""Texts that all charts use: numbers with intervals, counts, short names, reasons for empty cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from judge.base.estimate import Estimate


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
