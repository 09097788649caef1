"""Writes judge/asking/plan/prices.json from the package genai-prices (MIT), which the program itself does not need.

python -m pip install --no-deps --target FOLDER genai-prices==VERSION
PYTHONPATH=FOLDER python -m tests.price_snapshot VERSION DATE
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import orjson

TARGET = Path(__file__).resolve().parents[1] / "judge" / "asking" / "plan" / "prices.json"

# id in the catalogue -> hosts of its endpoints. Where the models are the maker's own, which nobody else serves under
# this name, their price also holds behind a gateway.
PROVIDERS = {
    "openai": (["api.openai.com"], True),
    "anthropic": (["api.anthropic.com"], True),
    "google": (["generativelanguage.googleapis.com"], True),
    "deepseek": (["api.deepseek.com"], False),
    "mistral": (["api.mistral.ai"], False),
    "groq": (["api.groq.com"], False),
    "together": (["api.together.xyz", "api.together.ai"], False),
    "moonshotai": (["api.moonshot.ai"], False),
    "x-ai": (["api.x.ai"], True),
}
# Models that answer no chat request with text, or whose price depends on more than text tokens.
_OTHER = re.compile(
    "audio|image|live|realtime|tts|transcribe|whisper|embed|moderation|ocr|voice|voxtral|search|robotics|guard|deep-research|omni|banana|vision"
)
# Google resells others' models, and OpenAI gives away weights that many serve: those are not theirs alone.
_OWN = {
    "google": "gemini",
    "openai": ("gpt-3", "gpt-4", "gpt-5", "gpt-6", "o1", "o3", "o4", "chatgpt", "davinci", "babbage"),
}
_KEYS = {"input_mtok": "input", "cache_read_mtok": "cached", "cache_write_mtok": "written", "output_mtok": "output"}


def main() -> None:
    """Write the file."""
    version, date = sys.argv[1:]
    sys.modules.setdefault("httpx2", types.ModuleType("httpx2"))  # imported by the package, used for updates only
    catalogue = import_module("genai_prices.data").providers
    providers = {
        provider.id: {
            "name": provider.name,
            "source": provider.pricing_urls[0],
            "hosts": PROVIDERS[provider.id][0],
            "own": PROVIDERS[provider.id][1],
            "models": dict(_models(provider)),
        }
        for provider in catalogue
        if provider.id in PROVIDERS
    }
    lines = [f'{{"catalogue": "genai-prices {version}", "licence": "MIT, see prices_licence.txt", "date": "{date}",']
    lines.append('"providers": {')
    for number, (name, provider) in enumerate(providers.items()):
        models = provider.pop("models")
        head = orjson.dumps(provider).decode()[:-1]
        lines.append(f'"{name}": {head}, "models": {{')
        rows = [f"  {orjson.dumps(key).decode()}: {orjson.dumps(value).decode()}" for key, value in models.items()]
        lines.append(",\n".join(rows))
        lines.append("}}" + ("," if number < len(providers) - 1 else ""))
    TARGET.write_text("\n".join([*lines, "}}"]) + "\n", encoding="utf-8")


def _models(provider: Any) -> Iterator[tuple[str, Any]]:
    """(name, its prices): a list where they change on a date, the first without `from`."""
    found: dict[str, Any] = {}
    for model in provider.models:
        if _OTHER.search(model.id.lower()) or not model.id.startswith(_OWN.get(provider.id, "")):
            continue
        steps = list(_steps(model))
        if steps:
            for name in _names(model.match, model.id):
                found.setdefault(name, steps[0] if len(steps) == 1 else steps)
    # As another name may say more exactly which model it is, the model's own name wins.
    for model in provider.models:
        if model.id in found:
            steps = list(_steps(model))
            found[model.id] = steps[0] if len(steps) == 1 else steps
    yield from sorted(found.items())


def _names(match: Any, model: str) -> list[str]:
    """The names that the catalogue lists in full, and the model's own."""
    names = {model}
    for clause in getattr(match, "or_", [match]):
        name = getattr(clause, "equals", None)
        if name and not _OTHER.search(name.lower()):
            names.add(name)
    return sorted(names)


def _steps(model: Any) -> Iterator[dict[str, Any]]:
    conditions = model.prices if isinstance(model.prices, list) else [None]
    steps: list[tuple[str | None, dict[str, Any]]] = []
    hours: dict[str, Any] = {}
    for one in conditions:
        constraint, prices = (None, model.prices) if one is None else (one.constraint, one.prices)
        found = _numbers(prices)
        if "input" not in found or "output" not in found:
            return
        if hasattr(constraint, "start_time"):
            hours = max(hours, found, key=lambda prices: float(prices.get("input", 0.0)))
        else:
            steps.append((None if constraint is None else constraint.start_date.isoformat(), found))
    if hours and hours["input"] > steps[-1][1]["input"]:
        steps[-1] = (
            steps[-1][0],
            hours | {"note": "of the hours that cost most; at other hours the provider charges less"},
        )
    for number, (start, numbers) in enumerate(steps):
        end = steps[number + 1][0] if number + 1 < len(steps) else None
        yield ({"from": start} if start else {}) | numbers | _batch(model, end)


def _batch(model: Any, end: str | None) -> dict[str, Any]:
    """The batch API's own prices, as they are at the end of a step of the live ones."""
    found = [
        (variant.constraint.start_date.isoformat() if variant.constraint else "", variant)
        for variant in model.price_variants or ()
        if variant.when == {"processing": "batch"}
    ]
    latest = max((pair for pair in found if end is None or pair[0] < end), key=lambda pair: pair[0], default=None)
    return {} if latest is None else {"batch": _numbers(latest[1].prices)}


def _numbers(prices: Any) -> dict[str, Any]:
    """Dollars for a million tokens; of prices by length of prompt the lowest step, and where it ends."""
    found: dict[str, Any] = {}
    for key, name in _KEYS.items():
        value = getattr(prices, key, None)
        if value is None:
            continue
        if hasattr(value, "base"):
            found["up_to"] = min(tier.start for tier in value.tiers)
            value = value.base
        found[name] = float(value)
    return found


if __name__ == "__main__":
    main()
