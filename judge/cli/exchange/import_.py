"""Command `judge import`: imports ratings and answers that other programs wrote. Readers are in `judge.exchange`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judge.cli.exchange.forms import command_of, say, words_of
from judge.exchange.reader.registry import reader_of, readers
from judge.inputs.datasets.locate import released

_TEXT = """Import ratings, comparisons and answers made elsewhere, as result folders. What a FILE is, is seen in it:

FILE may also be a file set that judge data list names, such as hanna_scores. Judges' ratings outside the scale of
--criteria count as missing; errors, refusals and blocked answers are counted, and are no ratings. Importing again
replaces what was imported, and adds to a run only what it lacks.

Example: judge import results.json --column story=vars.id --criteria hanna --rescale 0-1

Example: judge import samples_rate_*.jsonl --column story=doc.id --column people=target --scale 1-5

Example: judge import scores.csv --dataset mans_roc --criteria overall -o runs/scores

Example: judge import wide.xlsx --column story=id --column ratings.Coherence=coh --column judge==gpt-4

Example: judge import results.jsonl -o runs/hanna-api

Example: judge import hanna_scores -o runs/hanna-scores

Example: judge import annotations_gpt4.jsonl --judge gpt4 -o runs/ttcw-gpt4"""


def _import(parts: Sequence[str], output: Path | None, named: str | None, said: Mapping[str, Any]) -> None:
    files = [file for part in parts for file in released(part)]
    reader = reader_of(files, named)
    more = f" and {len(files) - 1} more" if len(files) > 1 else ""
    say(f"{files[0]}{more}: taken for {reader.name}, {reader.text}")
    reader.read(files, words_of(readers(), reader.name, said), output, say)


app = command_of(
    "import",
    _TEXT,
    "FILE...",
    readers(),
    _import,
    output="result folder to write; default: runs/FILE; of a batch: the run",
    chooses="form of the files, where it cannot be seen",
)
