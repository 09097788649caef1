"""The price table: ours, overlaid by the user's own. Never guesses a price."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import yaml

from judge.config_folder import config_folder
from judge.errors import SpecError
from judge.shipped import package_file


@dataclass(frozen=True, slots=True)
class Price:
    """Dollars for a million tokens. `cached` is for prompt tokens from the provider's cache; None = as `input`.

    `batch` is what a batch API takes of the live price (0.5 = half); None = not known.
    """

    input: float
    output: float
    cached: float | None = None
    batch: float | None = None

    def cost(self, prompt_tokens: int, completion_tokens: int, cached_tokens: int = 0) -> float:
        """Dollars for these tokens; cached tokens are part of the prompt tokens."""
        cached = self.input if self.cached is None else self.cached
        fresh = prompt_tokens - cached_tokens
        return (fresh * self.input + cached_tokens * cached + completion_tokens * self.output) / 1e6


def user_price_file() -> Path:
    """Where the user's own table lies, whether it exists or not."""
    return config_folder() / "prices.yaml"


def load_prices(judge: str) -> Price | None:
    """The price of a judge written `provider/model`, or None where no table names it."""
    table = _read(package_file("plan", "prices.yaml"))
    if user_price_file().is_file():
        table |= _read(user_price_file())
    if judge in table:
        return table[judge]
    for name, price in table.items():
        if re.fullmatch(re.escape(name) + r"-\d{4}(-?\d{2}){0,2}", judge):
            return price
    return None


def _read(file: Path) -> dict[str, Price]:
    try:
        data = yaml.safe_load(file.read_text(encoding="utf-8")) or {}
        return {
            str(name): Price(
                float(entry["input"]),
                float(entry["output"]),
                _optional(entry.get("cached")),
                _optional(entry.get("batch")),
            )
            for name, entry in data.items()
        }
    except (yaml.YAMLError, KeyError, TypeError, ValueError, AttributeError, UnicodeDecodeError) as error:
        raise SpecError(
            f"{file}: not a price table ({error})", hint="each line: provider/model: {input: 1.0, output: 2.0}"
        ) from error


def _optional(value: object) -> float | None:
    return None if value is None else float(str(value))
