"""Prices of models: a public catalogue's snapshot, which the user's table overrides. A model in neither has none."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import orjson
import yaml

from judge.base import yaml_file
from judge.base.credentials.providers import PROTOCOLS, JudgeName, addresses_of
from judge.base.errors import SpecError, unknown
from judge.base.files import config_folder, package_file
from judge.base.late_pattern import late
from judge.base.printing.text_layout import dollars
from judge.base.records import Response

# Hosts whose documentation promises the cost of each answer in its `usage`.
_REPORTING = frozenset({"openrouter.ai"})

# Keys of `engine` that change the price, with the values at which it is the listed one.
_USUAL: Mapping[str, tuple[Any, ...]] = {
    "service_tier": (None, "auto", "default", "standard_only"),
    "serviceTier": (None, "standard"),
    "speed": (None, "standard"),
    "inference_geo": (None, "global"),
}

_NUMBERS = ("input", "output", "cached", "written")
_KEYS = (*_NUMBERS, "batch", "date", "source")
# A dated version of a model, such as gpt-4o-2024-08-06, costs what the name without the date does.
_DATE = late(r"-\d{4}(-?\d{2}){0,2}")


@dataclass(frozen=True, slots=True)
class Price:
    """Price in dollars per million tokens. `cached` and `written` are for prompt tokens from and to the provider's
    cache (None = as `input`), `batch` for its batch API (None = not known). It holds for prompts of at most `up_to`
    tokens (None = any); reports print `note`."""

    input: float
    output: float
    cached: float | None = None
    written: float | None = None
    batch: Price | None = None
    up_to: int | None = field(default=None, compare=False)
    date: str | None = field(default=None, compare=False)
    source: str | None = field(default=None, compare=False)
    note: str | None = field(default=None, compare=False)

    def cost(
        self, prompt_tokens: float, completion_tokens: float, cached_tokens: float = 0, written_tokens: float = 0
    ) -> float:
        """Cost in dollars. Cached and written tokens are part of the prompt tokens."""
        cached = self.input if self.cached is None else self.cached
        written = self.input if self.written is None else self.written
        fresh = prompt_tokens - cached_tokens - written_tokens
        prompt = fresh * self.input + cached_tokens * cached + written_tokens * written
        return (prompt + completion_tokens * self.output) / 1e6

    def of(self, response: Response) -> float:
        """Cost in dollars of the call that returned a response."""
        return self.cost(
            response.prompt_tokens or 0,
            response.completion_tokens or 0,
            response.cached_tokens or 0,
            response.cache_write_tokens or 0,
        )

    def words(self) -> str:
        """The price with its date and source, as text for reports."""
        named = ((self.cached, "from the cache"), (self.written, "written into it"))
        cached = ", ".join(f"{dollars(price)} {words}" for price, words in named if price is not None)
        cached = f" ({cached})" if cached else ""
        text = f"{dollars(self.input)} for a million prompt tokens{cached} and {dollars(self.output)} for a million "
        text += "answer tokens"
        if self.date:
            text += f" as of {self.date}"
        return text + "".join(f"; {part}" for part in (self.source, self.note) if part)

    def facts(self) -> dict[str, Any]:
        """The price in the form of the user's price table."""
        numbers: dict[str, Any] = {key: value for key in _NUMBERS if (value := getattr(self, key)) is not None}
        if self.batch is not None:
            numbers["batch"] = {key: value for key in _NUMBERS if (value := getattr(self.batch, key)) is not None}
        return numbers | {key: value for key in ("date", "source") if (value := getattr(self, key)) is not None}


def user_price_file() -> Path:
    """Path of the user's own price table, whether or not it exists."""
    return config_folder() / "prices.yaml"


def _told(path: Path) -> str:
    # In a report too: where a user's home lies is nobody's business.
    return f"~/{path.relative_to(Path.home())}" if path.is_relative_to(Path.home()) else str(path)


def shipped_table() -> str:
    data = _snapshot()
    return f"prices of {data['catalogue']} as of {data['date']}"


def how_to_price(judge: str) -> str:
    """Instruction for users: which line to add to which file, so that the judge has a price."""
    line = f"'{judge}: {{input: X, output: Y}}' (dollars for a million tokens)"
    return f"add the line {line} to {_told(user_price_file())}"


def load_prices(
    judge: str,
    base_url: Sequence[str] = (),
    engine: Mapping[str, Any] | None = None,
    *,
    on: date | None = None,
) -> Price | None:
    """The price of `provider/model` at these addresses on a day (None = today), or None. The user's own table comes
    first, at any address. The shipped table has the provider's price there; at an unknown host, only for models that
    nobody but their maker can serve; none where `engine` (such as another service tier) changes it."""
    own = _user_table()
    if judge in own:
        return own[judge]
    dated = next((price for name, price in own.items() if _is_dated(judge, name)), None)
    return dated or _shipped(judge, base_url, engine or {}, on or datetime.now(UTC).date())


def reports_cost(base_url: Sequence[str]) -> bool:
    """Whether all these addresses belong to providers that report the cost of each answer."""
    return all(host in _REPORTING for host in _hosts(base_url))


def parse_price(entry: Any, name: str) -> Price:
    """The price in plain data. `name` is the judge, for messages. Raises ValueError with the fault."""
    if not isinstance(entry, Mapping):
        raise ValueError(f"{name} has no input and output")  # noqa: TRY004  one kind of error for the caller
    for key in entry:
        if key not in _KEYS:
            raise ValueError(f"{name}: {unknown('key', str(key), _KEYS)}")
    numbers = {key: _number(entry[key], f"{name}, {key}") for key in _NUMBERS if entry.get(key) is not None}
    for key in ("input", "output"):
        if key not in numbers:
            raise ValueError(f"{name} has no {key}")
    batch = entry.get("batch")
    if isinstance(batch, Mapping):
        numbers["batch"] = parse_price(batch, f"{name}, batch")
    elif batch is not None:
        share = _number(batch, f"{name}, batch")
        numbers["batch"] = Price(**{key: share * numbers[key] for key in _NUMBERS if key in numbers})
    date, source = (None if entry.get(key) is None else str(entry[key]) for key in ("date", "source"))
    return Price(**numbers, date=date, source=source)


def _user_table() -> dict[str, Price]:
    file = user_price_file()
    if not file.is_file():
        return {}
    try:
        data = yaml_file.load(file.read_text(encoding="utf-8")) or {}
        if not isinstance(data, Mapping):
            raise ValueError("it holds no names of judges")  # noqa: TRY004  said with the others below
        table = {str(name): parse_price(entry, str(name)) for name, entry in data.items()}
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise SpecError(
            f"{file}: not a price table ({error})", hint="each line: provider/model: {input: 1.0, output: 2.0}"
        ) from error
    # Without the file's place, which prices carry into manifests and bundles.
    written = datetime.fromtimestamp(file.stat().st_mtime, UTC).date().isoformat()
    return {
        name: replace(price, source=price.source or f"the user's {file.name}", date=price.date or written)
        for name, price in table.items()
    }


def _shipped(judge: str, base_url: Sequence[str], engine: Mapping[str, Any], on: date) -> Price | None:
    provider, model = JudgeName.of(judge)
    if provider not in PROTOCOLS or any(engine.get(key) not in usual for key, usual in _USUAL.items()):
        return None  # another tier has another price
    prices = {_at(host, model.removeprefix("models/"), on) for host in _hosts(base_url, provider)}
    # Addresses with different prices leave no one price to count with.
    return prices.pop() if len(prices) == 1 else None


def _at(host: str, model: str, on: date) -> Price | None:
    data = _snapshot()
    sections = data["providers"].values()
    section_of_host = next((section for section in sections if host in section["hosts"]), None)
    for section in [section_of_host] if section_of_host else [section for section in sections if section["own"]]:
        models = section["models"]
        name = model if model in models else next((name for name in models if _is_dated(model, name)), None)
        if name is not None:
            source = f"{section['name']}'s list ({section['source']}, through {data['catalogue']})"
            if section_of_host is None:
                source += ", not that of the addressed server"  # without its address, which reports leave out
            return _step(models[name], on, data["date"], source)
    return None


def _step(entry: Any, on: date, checked: str, source: str) -> Price:
    # The entry may list several prices, each valid from a certain date on.
    steps = entry if isinstance(entry, list) else [entry]
    now = [step for step in steps if step.get("from", "") <= on.isoformat()][-1]
    numbers = {key: now[key] for key in (*_NUMBERS, "up_to", "note") if key in now}
    batch = now.get("batch")
    if batch is not None:
        # What the list of batch prices leaves out, prompts from the cache say, keeps the price that it has live.
        charged = numbers | {key: batch[key] for key in (*_NUMBERS, "up_to") if key in batch}
        batch = Price(**charged, date=checked, source=source)
    return Price(**numbers, batch=batch, date=checked, source=source)


@cache
def _snapshot() -> dict[str, Any]:
    data: dict[str, Any] = orjson.loads(package_file("asking", "plan", "prices.json").read_bytes())
    return data


def _hosts(base_url: Sequence[str], backend: str = "openai") -> list[str]:
    return [urlsplit(address).hostname or "" for address in addresses_of(base_url, backend)]


def _is_dated(judge: str, name: str) -> bool:
    return judge.startswith(name) and _DATE.fullmatch(judge, len(name)) is not None


def _number(value: Any, name: str) -> Any:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if isinstance(value, bool) or not math.isfinite(number) or number < 0:
        raise ValueError(f"{name} is {value!r}, not a number of dollars")
    return number
