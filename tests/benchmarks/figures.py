"""Prints benchmark figures beside their bars. Never rounds a figure across its bar."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figure:
    """One row: what was measured, how it came out, the bar (">= 0.97", "<= 0.40", "0"), and remarks.

    `value` None = could not be measured; the remark says why.
    """

    what: str
    value: float | None
    bar: str = ""
    unit: str = ""
    remark: str = ""

    def verdict(self) -> str:
        """met, MISSED, or empty where there is no bar or no value."""
        if not self.bar or self.value is None:
            return ""
        sign, _, number = self.bar.rpartition(" ")
        limit = float(number)
        met = self.value >= limit if sign == ">=" else self.value <= limit if sign == "<=" else self.value == limit
        return "met" if met else "MISSED"


def show(title: str, figures: Sequence[Figure]) -> None:
    """Print a table, with the machine in its heading."""
    load = os.getloadavg()[0]
    print(f"\n{title}  [{os.cpu_count()} cores, load {load:.1f}, Python {platform.python_version()}]")
    rows = [("figure", "value", "bar", "", "remark")]
    rows += [(f.what, _written(f), f.bar, f.verdict(), f.remark) for f in figures]
    widths = [max(len(row[i]) for row in rows) for i in range(4)]
    for row in rows:
        print(
            "  ".join(
                [
                    row[0].ljust(widths[0]),
                    row[1].rjust(widths[1]),
                    row[2].ljust(widths[2]),
                    row[3].ljust(widths[3]),
                    row[4],
                ]
            ).rstrip()
        )


def median(values: Sequence[float]) -> float:
    """Median of rounds."""
    return statistics.median(values)


def spread(values: Sequence[float], digits: int = 2) -> str:
    """Lowest and highest of the rounds, as a remark."""
    return f"rounds {min(values):.{digits}f}..{max(values):.{digits}f}"


def _written(figure: Figure) -> str:
    if figure.value is None:
        return "n/a"
    value = figure.value
    text = f"{value:.0f}" if value == int(value) or abs(value) >= 1000 else f"{value:.3f}"
    return f"{text} {figure.unit}".rstrip()
