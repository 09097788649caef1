"""Export to Every Eval Ever (EvalEval Coalition), schema 0.3.0: a record for each judge, with its agreement with human
ratings as results.

The model of a record is the judge. A result is Kendall's tau-b with human ratings on one criterion under one
Eval-Prompt, with its interval. Undefined values are left out, because the schema cannot express them, and counted.
Files have the paths that the coalition's store requires: data/COLLECTION/DEVELOPER/MODEL/UUID.json, with the UUID
derived from the content.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from judge.asking.run_folder import ResultFolder, read_manifest
from judge.base.errors import SpecError
from judge.base.judge_name import JudgeName
from judge.base.whole_file import write_whole
from judge.exchange.outputs.given_away import empty_folder
from judge.exchange.outputs.measured import TAU, Measured, Measurement
from judge.ratings.ratings_table import RatingsTable
from judge.version import __version__

SCHEMA = "0.3.0"
_EARLIEST = 315532800.0  # 1980-01-01, where nothing is known of when
_SETTINGS = ("temperature", "top_p", "max_tokens")


@dataclass(frozen=True, slots=True)
class Records:
    """Result of an export in the format Every Eval Ever: the files written, the number of results in them, and the
    number of undefined values left out.
    """

    files: tuple[Path, ...]
    results: int
    undefined: int


def write_records(
    folder: Path,
    table: RatingsTable,
    measured: Measured,
    *,
    organization: str = "unknown",
    when: float | None = None,
) -> Records:
    """Write a record in the format Every Eval Ever for each judge of a ratings table, with the judge's agreement with
    human ratings. Returns the files and the numbers of results and of undefined values.

    `when` is the time of the records, in seconds since 1970. None takes the start of the run's last session, so that
    equal runs give equal files.
    """
    empty_folder(folder)
    measurements = [measurement for measurement in measured.measurements if measurement.kind == TAU]
    files: list[Path] = []
    for (dataset, judge), results in _by_judge(
        [measurement for measurement in measurements if measurement.estimate.defined]
    ).items():
        manifest = _manifest(table, judge)
        record = _record(dataset, judge, results, manifest, organization, when or _sitting(manifest))
        text = orjson.dumps(record, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
        developer, model = record["model_info"]["id"].split("/", 1)
        path = folder / "data" / _part(f"storyjudge-{dataset}") / developer / model / f"{_uuid(text)}.json"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
        except OSError as error:
            raise SpecError(f"{path} cannot be written: {error.strerror}") from error
        files.append(path)
    return Records(
        tuple(files),
        sum(measurement.estimate.defined for measurement in measurements),
        sum(not measurement.estimate.defined for measurement in measurements),
    )


def _by_judge(measurements: Sequence[Measurement]) -> dict[tuple[str, str], list[Measurement]]:
    by_judge: dict[tuple[str, str], list[Measurement]] = {}
    for measurement in measurements:
        by_judge.setdefault((measurement.dataset, str(measurement.judge)), []).append(measurement)
    return by_judge


def _record(
    dataset: str,
    judge: str,
    results: Sequence[Measurement],
    manifest: Mapping[str, Any],
    organization: str,
    when: float,
) -> dict[str, Any]:
    identity = _identity(judge)
    return {
        "schema_version": SCHEMA,
        "evaluation_id": f"storyjudge-{dataset}/{identity}/{when:.0f}",
        "retrieved_timestamp": f"{when:.0f}",
        "source_metadata": {
            "source_name": "judge (storyjudge)",
            "source_type": "evaluation_run",
            "source_organization_name": organization,
            "evaluator_relationship": "other",
        },
        "eval_library": {"name": "storyjudge", "version": __version__},
        "model_info": {
            "name": judge,
            "id": identity,
            "additional_details": {"deployment_type": "unknown", "model_availability": "unknown"},
        },
        "evaluation_results": [_result(result, manifest) for result in results],
    }


def _result(measurement: Measurement, manifest: Mapping[str, Any]) -> dict[str, Any]:
    estimate = measurement.estimate
    interval = (
        {
            "confidence_interval": {
                "lower": estimate.low,
                "upper": estimate.high,
                "confidence_level": 0.95,
                "method": str(estimate.method or "bootstrap over story-prompts"),
            }
        }
        if estimate.low is not None and estimate.high is not None
        else {}
    )
    asked = f", Eval-Prompt {measurement.eval_prompt}" if measurement.eval_prompt not in (None, "-") else ""
    result: dict[str, Any] = {
        "evaluation_result_id": measurement.name,
        "evaluation_name": f"agreement with people on {measurement.dataset}: {measurement.criterion}{asked}",
        "source_data": {"dataset_name": measurement.dataset, "source_type": "other"},
        "metric_config": {
            "evaluation_description": "Kendall's tau-b between a judge's ratings of stories and the mean of people's",
            "metric_id": "kendall_tau_b",
            "metric_name": "Kendall's tau-b",
            "metric_kind": "correlation",
            "metric_unit": "correlation",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": -1.0,
            "max_score": 1.0,
        },
        "score_details": {"score": estimate.value, "uncertainty": {**interval, "num_samples": estimate.n}},
    }
    settings = {name: value for name, value in _generation(manifest).items() if isinstance(value, int | float)}
    return result | ({"generation_config": {"generation_args": settings}} if settings else {})


def _identity(judge: str) -> str:
    """DEVELOPER/MODEL of a judge, as folder names: from the model's name on the Hugging Face hub or, without one, from
    the judge's provider and model.
    """
    named = JudgeName.of(judge)
    parts = named.model.split("/") if "/" in named.model else [named.provider, named.model] if named.model else []
    developer, model = (parts[-2], parts[-1]) if len(parts) > 1 else ("unspecified", judge)
    return f"{_part(developer)}/{_part(model)}"


def _part(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-. ") or "unnamed"


def _uuid(content: bytes) -> str:
    """A version 4 UUID whose random part is the content's hash."""
    digits = list(hashlib.sha256(content).hexdigest()[:32])
    digits[12], digits[16] = "4", "89ab"[int(digits[16], 16) % 4]
    text = "".join(digits)
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def _manifest(table: RatingsTable, judge: str) -> dict[str, Any]:
    path = next((fact.path for fact in table.facts if fact.judge == judge), None)
    return read_manifest(ResultFolder(path).manifest) if path is not None else {}


def _generation(manifest: Mapping[str, Any]) -> dict[str, Any]:
    force = (manifest.get("in_force") or {}).get("generation") or {}
    return {name: force[name] for name in _SETTINGS if force.get(name) is not None}


def _sitting(manifest: Mapping[str, Any]) -> float:
    began = [float(sitting["began"]) for sitting in manifest.get("sittings") or () if sitting.get("began")]
    return max(began, default=_EARLIEST)
