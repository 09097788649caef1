"""The forms of ratings and results for other programs: each is written by a module of its own."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from judge.analysis.options.alternatives import Nothing
from judge.analysis.preference.sides import Side, datasets
from judge.analysis.preference.sides import read as read_preferences
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.base.credentials.providers import JudgeName
from judge.base.errors import SpecError, unknown
from judge.base.files import write_output, write_whole, writing
from judge.exchange.dataset_folder import (
    GiveAway,
    HubWords,
    JudgeWords,
    NumbersWords,
    Output,
    PeopleWords,
    RecordsWords,
    empty_folder,
    folders_of,
    needed,
    tables_of,
    write_hub,
    write_irw,
)
from judge.exchange.exported_numbers import TAU, Measured, Measurement, entries, metrics_json, without_card
from judge.exchange.reader import Say
from judge.ratings.preferences_table.journaled import PreferencesTable
from judge.ratings.ratings_table import RatingsTable, read
from judge.version import __version__

# Export to Every Eval Ever (EvalEval Coalition), schema 0.3.0: a record for each judge, with its agreement with human
# ratings as results.

SCHEMA = "0.3.0"
_EARLIEST = 315532800.0  # 1980-01-01, where nothing is known of when
_SETTINGS = ("temperature", "top_p", "max_tokens")


@dataclass(frozen=True, slots=True)
class Records:
    """Files in the format Every Eval Ever, their number of results, and of undefined values left out."""

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
    """Write a record in the format Every Eval Ever for each judge, with its agreement with human ratings. `when` is in
    seconds since 1970; None is the start of the run's last session, so that equal runs give equal files."""
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
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
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
    named = JudgeName.of(judge)
    parts = named.model.split("/") if "/" in named.model else [named.provider, named.model] if named.model else []
    developer, model = (parts[-2], parts[-1]) if len(parts) > 1 else ("unspecified", judge)
    identity = f"{_part(developer)}/{_part(model)}"
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


# Export of preferences for TRL's trainers: one JSON line per pair, with prompt, chosen and rejected. Ties are left
# out.


@dataclass(frozen=True, slots=True)
class TrlFile:
    """A file for TRL's trainers, and the pairs without a line: ties (`even`), or a story without text."""

    path: Path
    lines: int
    even: int
    without_text: int


def write_trl(path: Path, table: PreferencesTable, judge: str | None = None) -> TrlFile:
    """Write people's or a judge's preferences for TRL (prompt, chosen, rejected), one line per pair of stories. A
    pair's preference combines all its repeats and orders. Raises SpecError where the table lacks the judge or has no
    comparisons."""
    sides = [
        side
        for _, dataset_sides in datasets(table)
        for side in dataset_sides
        if side.kind != "implied" and side.judge == judge
    ]
    if not sides:
        judges = sorted(str(name) for name in table.frame.loc[table.frame["source"] == "judge", "judge"].unique())
        if judge is not None:
            raise SpecError(unknown("judge", judge, judges))
        raise SpecError("the results hold no comparisons of stories", hint="judge data list names datasets with pairs")
    lines: list[bytes] = []
    even = without = 0
    for side in sides:
        for line in _lines(side):
            if line is None:
                without += 1
            else:
                lines.append(line)
        even += int((side.net == 0).sum())
    write_output(path, b"".join(lines))
    return TrlFile(path, len(lines), even, without)


def _lines(side: Side) -> Iterator[bytes | None]:
    """A JSON line for each pair that is not a tie; None where a story has no text."""
    pairs, net = side.pairs, side.net
    texts, prompts = pairs.stories["text"].to_numpy(), pairs.stories["story_prompt"].to_numpy()
    names = pairs.stories.index.to_numpy()
    for k in np.flatnonzero(np.nan_to_num(net)):
        won, lost = (pairs.a[k], pairs.b[k]) if net[k] > 0 else (pairs.b[k], pairs.a[k])
        if not (isinstance(texts[won], str) and texts[won] and isinstance(texts[lost], str) and texts[lost]):
            yield None
            continue
        yield orjson.dumps(
            {
                "prompt": str(prompts[won]),
                "chosen": texts[won],
                "rejected": texts[lost],
                "criterion": side.criterion,
                "dataset": pairs.dataset,
                "chosen_story": str(names[won]),
                "rejected_story": str(names[lost]),
            },
            option=orjson.OPT_APPEND_NEWLINE,
        )


def _hub(runs: Sequence[str], output: Path | None, words: HubWords, say: Say) -> None:
    path = needed(output)
    ratings, stories = write_hub(path, tables_of(folders_of(runs), words.choices), words.choices)
    say(f"{path}: {ratings} ratings, {stories} stories")
    say(words.choices.words)


def _irw(runs: Sequence[str], output: Path | None, words: PeopleWords, say: Say) -> None:
    written = write_irw(needed(output), tables_of(folders_of(runs), GiveAway(people=words.people)))
    for path, rows in written.files:
        say(f"{path}: {rows} responses")
    if written.unrated:
        say(f"· {written.unrated} rows without a rating are left out: the standard has no missing responses")
    if written.nominal:
        say(f"· labels without an order are of another standard and left out: {', '.join(written.nominal)}")


def _metrics(runs: Sequence[str], output: Path | None, words: NumbersWords, say: Say) -> None:
    path = output or Path("metrics.json")
    measurements = _measured(runs, words)[1].measurements
    write_output(path, metrics_json(measurements))
    undefined = sum(not measurement.estimate.defined for measurement in measurements)
    say(f"{path}: {len(measurements)} numbers, {undefined} of them undefined")


def _eee(runs: Sequence[str], output: Path | None, words: RecordsWords, say: Say) -> None:
    folder = needed(output)
    table, measured = _measured(runs, words)
    written = write_records(folder, table, measured, organization=words.organization, when=time.time())
    for path in written.files:
        say(str(path))
    left = f"; {written.undefined} undefined numbers are left out, the schema has no place for them"
    say(f"{written.results} results{left if written.undefined else ''}")


def _bibtex(runs: Sequence[str], output: Path | None, _words: Nothing, say: Say) -> None:
    path = output or Path("references.bib")
    facts = read(folders_of(runs), explanations=False).facts
    text = entries(facts)
    write_output(path, text)
    say(f"{path}: {text.count('@')} works")
    if unknown := without_card(facts):
        say(f"· no card is known of {', '.join(unknown)}: add what its provider asks to be cited")


def _trl(runs: Sequence[str], output: Path | None, words: JudgeWords, say: Say) -> None:
    written = write_trl(output or Path("preferences.jsonl"), read_preferences(runs), words.judge)
    say(f"{written.path}: {written.lines} pairs")
    left = [(written.even, "are even"), (written.without_text, "have a story without a text")]
    reasons = [f"{count} {why}" for count, why in left if count]
    if reasons:
        say(f"· left out: {', '.join(reasons)}")


def _measured(runs: Sequence[str], words: NumbersWords) -> tuple[RatingsTable, Measured]:
    table = read(folders_of(runs), parser=words.parser, explanations=False)
    return table, Measured.of(table, words.resamples, words.seed)


OUTPUTS = (
    Output("hub", "ratings and stories as a Hugging Face dataset folder: Parquet, card, BibTeX", HubWords, _hub),
    Output("irw", "ratings as long CSV in the Item Response Warehouse's standard", PeopleWords, _irw),
    Output("eee", "agreement with people as records of Every Eval Ever (schema 0.3.0)", RecordsWords, _eee),
    Output("metrics", "main numbers as metrics.json, each with value, interval, n and unit", NumbersWords, _metrics),
    Output("bibtex", "BibTeX of the program, datasets' studies and models' cards", Nothing, _bibtex),
    Output("trl", "preferences of pairs as prompt, chosen, rejected, for trainers of reward models", JudgeWords, _trl),
)
