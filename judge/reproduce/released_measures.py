"""Automatic measures that studies released or printed, against those of `judge measures` on the texts.

HANNA's score file has 72 columns for 1,056 stories, recomputed on texts on this machine: all with the annotations'
file, the 96 human stories without it. OpenMEVA's Table 11 prints correlations with human ratings; those of three string
measures are recomputed from MANS."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from judge.base.estimate import Estimate
from judge.base.files import package_file
from judge.base.fingerprint import fingerprint_file
from judge.base.late_pattern import late
from judge.base.printing.tables import Column, Table, plain
from judge.base.records import Story
from judge.base.wording import Advice, joined
from judge.exchange.released import measure_columns
from judge.inputs.datasets.locate import find, need
from judge.inputs.datasets.sources import FILES, OTHER_FILES
from judge.inputs.datasets.studies.hanna import ScoreFile, read_human_stories, read_score_file
from judge.inputs.datasets.studies.openmeva import read_stories
from judge.inputs.text_features import SCORE_FILE_FEATURES
from judge.lab.measures import Undefined, Value, measures_by_name, named
from judge.lab.measures.session import UNAVAILABLE, Measured, measured, reason
from judge.reproduce.cell import STUDIES
from judge.version import __version__

# Largest difference of a released number, which has ten digits, from ours.
EQUAL = 1e-9

# Decimals of Table 11.
DIGITS = 4

_SIDES = {"Recall": "recall", "Precision": "precision", "F-Score": "f"}
_ROUGE = late(r"ROUGE-(1|2|3|4|L|W-1\.2|S\*|SU\*) (Recall|Precision|F-Score) ")
_ONE_TO_ONE = {"BLEU ": "bleu-hanna", "chrF ": "chrf-hanna", "CIDEr ": "cider-hanna"}
_BY_MODEL = {
    "BERTScore": Advice("bertscore-f and its relatives, with {model}", model="encoder=PATH"),
    "BARTScore": Advice("bartscore-hs and its relatives, with {model}", model="seq2seq=PATH"),
    "InfoLM": Advice("infolm-fisher-rao, with {model}", model="mlm=PATH"),
}
_ABSENT = {"METEOR": "METEOR 1.5", "DepthScore": "BaryScore, DepthScore", "BaryScore": "BaryScore, DepthScore"}


def hanna() -> Table:
    """On how many stories each of HANNA's 72 measures equals this program's. Raises DataError without the file."""
    path = need(OTHER_FILES["hanna_scores"][0], "hanna_scores")
    scores = read_score_file(path)
    stories, places, notes = _hanna_stories()
    columns = {column: _measure_of(column) for column in measure_columns(scores)}
    wanted = named([name for name in columns.values() if name is not None])
    columns_measured = measured(stories, wanted, skip=True)
    rows = [_row(column, name, scores, columns_measured, places) for column, name in columns.items()]
    done = sum(row["equal"] == row["stories"] for row in rows if row["stories"])
    notes = [f"{done} of {len(rows)} columns are equal in all stories that are at hand, to {EQUAL:g}", *notes]
    return Table(
        f"{STUDIES['hanna'].title}: released measures",
        plain(
            "column",
            "measure",
            "stories",
            "equal",
            Column("largest", "largest difference", digits=12),
            Column("why", "why not", wrap=60),
        ),
        rows,
        f"hanna_scores:{fingerprint_file(path)}|{_packages(columns_measured)}v{__version__}",
        notes,
    )


def _hanna_stories() -> tuple[list[Story], list[tuple[str, int]], list[str]]:
    """Stories whose texts are here, their (system, index) in the score file, and notes."""
    annotations = find(FILES["hanna"][0])
    if annotations is not None:
        from judge.inputs.datasets import open_dataset

        stories = list(open_dataset("hanna").stories())
        counts: dict[str, int] = {}
        places = []
        for story in stories:
            counts[story.system] = counts.get(story.system, -1) + 1
            places.append((story.system, counts[story.system]))
        return stories, places, ["on all stories of the study's annotations"]
    human = read_human_stories(need(FILES["hanna_llm"][0], "hanna_llm"))
    note = (
        "on the 96 human stories, which are their own references: the texts of the other systems come with "
        "judge data fetch hanna"
    )
    return human, [("Human", at) for at in range(len(human))], [note]


def _measure_of(column: str) -> str | None:
    """The measure that recomputes a column, or None."""
    for beginning, name in _ONE_TO_ONE.items():
        if column.startswith(beginning):
            return name
    own = next((name for name, known_as in SCORE_FILE_FEATURES.items() if known_as == column), None)
    if own is not None:
        return f"{own}-hanna"
    match = _ROUGE.match(column)
    if match is None:
        return None
    kind = match[1].lower().replace("*", "")
    return f"rouge-{kind}-{_SIDES[match[2]]}-hanna"


def _row(
    column: str, name: str | None, scores: ScoreFile, computed: Measured, places: Sequence[tuple[str, int]]
) -> dict[str, Any]:
    values = computed.by_measure.get(name or "")
    if name is None or values is None:
        why = computed.skipped[name] if name is not None else _why(column)
        return {"column": column, "measure": name, "stories": None, "equal": None, "largest": None, "why": why}
    released = scores.column(column)
    differences = [
        abs(value - released[system][at])
        for value, (system, at) in zip(values, places, strict=True)
        if not isinstance(value, Undefined)
    ]
    return {
        "column": column,
        "measure": name,
        "stories": len(values),
        "equal": sum(difference <= EQUAL for difference in differences),
        "largest": max(differences, default=None),
        "why": None,
    }


def _why(column: str) -> str:
    for beginning, words in _BY_MODEL.items():
        if column.startswith(beginning):
            return joined("judge measures: ", words, "; the study's model is not at hand")
    for beginning, absent in _ABSENT.items():
        if column.startswith(beginning):
            return reason(absent)
    first = re.split(r"[- ]", column)[0]
    first = "ROUGE-WE" if column.startswith("ROUGE-WE") else first
    return reason(next(name for name in UNAVAILABLE if first in name))


def openmeva() -> Table:
    """OpenMEVA's Table 11: correlations as printed, by the study's recipe, and corrected."""
    paths = {name: need(FILES[name][0], name) for name in ("mans_roc", "mans_wp")}
    file = package_file("reproduce", "published_data", "openmeva_measures.csv")
    with file.open(encoding="utf-8", newline="") as stream:
        printed = list(csv.DictReader(stream))
    inputs = {name: _mans(path, printed) for name, path in paths.items()}
    rows = [
        _cell(row, name, measures, people)
        for row in printed
        for name, (measures, people) in inputs.items()
        if row[name]
    ]
    checked = [row for row in rows if row["as_published"].defined]
    match = sum(_matches(row) for row in checked)
    packages = _packages(inputs["mans_roc"][0])
    files = "|".join(f"{name}:{fingerprint_file(path)}" for name, path in paths.items())
    return Table(
        f"{STUDIES['openmeva'].title}: Table 11, Pearson's r with people",
        [
            Column("row", "measure", wrap=24),
            Column("set", "set"),
            Column("published", "print", digits=DIGITS),
            Column("as_published", "as published", digits=DIGITS),
            Column("corrected", "corrected", digits=DIGITS),
            Column("why", "how", wrap=60),
        ],
        rows,
        f"{files}|r:pearson|{packages}v{__version__}",
        [
            f"{match} of {len(checked)} recomputed cells print the same {DIGITS} decimals",
            "corrected: sacrebleu's BLEU, ROUGE-1.5.5's ROUGE-L, and METEOR without the mistake that matches twice",
        ],
    )


def off(table: Table) -> bool:
    """Whether a recomputed cell of `openmeva` differs from print."""
    return any(row["as_published"].defined and not _matches(row) for row in table.rows)


def _mans(path: Path, printed: Sequence[Mapping[str, str]]) -> tuple[Measured, list[float]]:
    stories = list(read_stories(path))
    names = [row[kind] for row in printed for kind in ("measure", "corrected") if row[kind]]
    there = measures_by_name()
    people = [float(np.mean([rating.value for rating in story.ratings])) for story in stories]
    return measured(stories, [there[name] for name in names], skip=True), people


def _cell(row: Mapping[str, str], name: str, computed: Measured, people: Sequence[float]) -> dict[str, Any]:
    lacking = computed.skipped.get(row["measure"])
    how = f"{row['measure']}; corrected: {row['corrected']}" if row["measure"] else f"needs {row['needs']}"
    return {
        "row": row["row"],
        "set": name,
        "published": float(row[name]),
        "as_published": _correlation(computed.by_measure.get(row["measure"]), people, lacking or row["needs"]),
        "corrected": _correlation(computed.by_measure.get(row["corrected"]), people, lacking or row["needs"]),
        "why": f"needs {lacking}" if lacking else how,
    }


def _correlation(values: Sequence[Value] | None, people: Sequence[float], lacking: str) -> Estimate:
    if values is None:
        return Estimate.undefined(f"needs {lacking}")
    pairs = [(value, rating) for value, rating in zip(values, people, strict=True) if not isinstance(value, Undefined)]
    return Estimate(float(np.corrcoef(np.array(pairs).T)[0, 1]), n=len(pairs))


def _matches(row: Mapping[str, Any]) -> bool:
    return bool(abs(row["as_published"].value - row["published"]) <= 0.5 * 10**-DIGITS + 1e-9)


def _packages(computed: Measured) -> str:
    return "".join(f"{name}:{number}|" for name, number in sorted(computed.versions.items()))
