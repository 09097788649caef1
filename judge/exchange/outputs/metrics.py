"""metrics.json, for dashboards that compare runs: a map from a measurement's name to its value, interval, count and
unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import orjson

from judge.exchange.outputs.measured import Measurement


def metrics_json(measurements: Sequence[Measurement]) -> bytes:
    """Content of metrics.json, as bytes. An undefined number is null and has a reason; an interval that was not
    computed is left out.
    """
    metrics: dict[str, dict[str, Any]] = {}
    for measurement in measurements:
        name, number = measurement.name.rstrip("/"), 2
        while name in metrics:  # two runs of one judge
            name, number = f"{measurement.name}#{number}", number + 1
        metrics[name] = _plain(measurement)
    return orjson.dumps(metrics, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


def _plain(measurement: Measurement) -> dict[str, Any]:
    estimate = measurement.estimate
    plain: dict[str, Any] = {"value": estimate.value}
    if estimate.low is not None and estimate.high is not None:
        plain |= {"low": estimate.low, "high": estimate.high, "level": 0.95}
    plain |= {"n": estimate.n, "unit": measurement.unit}
    return plain | ({"reason": str(estimate.reason)} if estimate.reason else {})
