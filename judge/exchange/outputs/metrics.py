"""metrics.json: a name, and beneath it value, interval, count and unit. For dashboards that compare runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from judge.exchange.outputs.measured import Measurement


def metrics_json(found: Sequence[Measurement]) -> bytes:
    """The file. An undefined number is null with its reason; an interval that was not made is not there."""
    made: dict[str, dict[str, Any]] = {}
    for one in found:
        name, number = one.name.rstrip("/"), 2
        while name in made:  # two runs of one judge
            name, number = f"{one.name}#{number}", number + 1
        made[name] = _plain(one)
    return orjson.dumps(made, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _plain(one: Measurement) -> dict[str, Any]:
    estimate = one.estimate
    plain: dict[str, Any] = {"value": estimate.value}
    if estimate.low is not None and estimate.high is not None:
        plain |= {"low": estimate.low, "high": estimate.high, "level": 0.95}
    plain |= {"n": estimate.n, "unit": one.unit}
    return plain | ({"reason": str(estimate.reason)} if estimate.reason else {})
