"""A whole stress test of a small model: SmolLM2 on human stories of MANS-ROC, every change that needs no rewriter.

`python -m tests.benchmarks.stress_judge -o FOLDER [--origins 100] [--stories FILE]`; needs the extra `local` with its
model's package, and JUDGE_DATA and the extra `stress` with a tagger, or a FILE that `judge stress make` wrote
elsewhere. The folder then holds the stories, the run, `report.txt`, `report.json` and `stress.png`; a second call goes
on where the first stopped. It prints what it took, and what was noticed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

from judge.cli.main import main as judge
from tests.benchmarks.figures import Figure, show

_RUN = """
name: stress
judge: local/smollm2
dataset: {stories}
criteria: {{set: hanna, only: [Coherence]}}
eval_prompts: [ep1]
repeats: 1
structured: choice
scoring: logprobs
generation: {{temperature: 0, max_tokens: 4}}
concurrency: {concurrency}
attempt_timeout: 3600
engine: {{dtype: {dtype}, batch_size: {batch}}}
"""


def whole(asked: argparse.Namespace) -> list[Figure]:
    """Stories, run, report and picture, with the time that the run took."""
    folder: Path = asked.output
    folder.mkdir(parents=True, exist_ok=True)
    stories = folder / "stress.jsonl"
    if not stories.exists():
        _stories(stories, asked.stories, asked.origins)
    run = _RUN.format(
        stories=stories.resolve(), concurrency=8 * asked.batch_size, dtype=asked.dtype, batch=asked.batch_size
    )
    (folder / "run.yaml").write_text(run, encoding="utf-8")
    began, busy = time.perf_counter(), time.process_time()
    done("run", folder)
    wall, cpu = time.perf_counter() - began, time.process_time() - busy
    done("stress", "report", folder, "-o", folder / "report.txt")
    done("stress", "report", folder, "--set", "long=true", "--format", "json", "-o", folder / "report.json")
    done("stress", "report", folder, "-o", folder / "stress.png")
    asked_for = sum(1 for _ in stories.open(encoding="utf-8"))
    return [
        Figure("stories asked about", asked_for, remark="untouched and changed"),
        Figure("wall", wall, unit="s", remark=f"{asked_for / wall:.1f} answers a second, where none was there before"),
        Figure("CPU", cpu, unit="s"),
        *(_noticed(row) for row in rows_of(folder / "report.json") if not str(row["judge"]).startswith("control")),
    ]


def _noticed(row: dict[str, Any]) -> Figure:
    value = row.get("detection")
    return Figure(f"{row['perturbation']} {row['strength']}", value, "", "detection", f"{row['pairs']} pairs")


def rows_of(path: Path) -> list[dict[str, Any]]:
    """The rows of a table that was written as JSON."""
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["rows"]
    return rows


def _stories(path: Path, made: Path | None, origins: int) -> None:
    """The first origins' stories, out of a file made before or made now."""
    if made is None:
        done("stress", "make", "mans_roc", "--references", "--set", "all", "--limit", origins, "-o", path, "--quiet")
        return
    with made.open(encoding="utf-8") as file, path.open("w", encoding="utf-8") as kept:
        names: set[str] = set()
        for line in file:
            names.add(json.loads(line)["id"].rpartition("@")[0])
            if len(names) > origins:
                break
            kept.write(line)


def done(*words: object) -> None:
    """One command, which has to go well."""
    try:
        judge([str(word) for word in words])
    except SystemExit as stop:
        if stop.code:
            raise


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder for stories, run, report and picture")
    parser.add_argument("--origins", type=int, default=100, help="human stories to change")
    parser.add_argument("--stories", type=Path, help="a file of judge stress make, where it cannot be made here")
    parser.add_argument("--dtype", default="float32", help="bfloat16 is three times as quick where the CPU has it")
    parser.add_argument("--batch-size", type=int, default=32)
    asked = parser.parse_args()
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    show(f"Stress test: SmolLM2, Coherence, {asked.origins} stories of MANS-ROC", whole(asked))
    return 0


if __name__ == "__main__":
    sys.exit(main())
