"""CPU seconds of `judge summary` and `judge diagnose --layout criteria` on 1,000 criteria. Prints; never asserts.

30 stories (3 systems x 10 story-prompts), one judge and three people, drawn at random. The summary is measured a second
time too, from what the first one kept. `--criteria 125` measures another size, `--scores FOLDER` HANNA's released
ratings as `judge import hanna-scores -o FOLDER` writes them.
"""

from __future__ import annotations

import argparse
import csv
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np

from judge.ratings.ratings_table import COLUMNS
from tests.benchmarks.figures import Figure, show
from tests.benchmarks.judge_run import compile_all, measured

SYSTEMS, PROMPTS, PEOPLE = 3, 10, 3


def write(folder: Path, criteria: int) -> Path:
    """A result folder of imported single ratings; returns it."""
    folder.mkdir(parents=True)
    rng = np.random.default_rng(1)
    quality = rng.normal(3, 0.7, (SYSTEMS, PROMPTS))
    with (folder / "imported.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for c, (s, p) in ((c, place) for c in range(criteria) for place in np.ndindex(SYSTEMS, PROMPTS)):
            place = ["random", f"s{s}-{p}", f"prompt {p}", f"system {s}", f"criterion {c:04d}"]
            given = np.clip(np.round(quality[s, p] + rng.normal(0, [1] * PEOPLE + [0.8])), 1, 5).astype(int)
            for person in range(PEOPLE):
                end = [None, "rater", f"w{person}", None, given[person], "ok", "", None]
                writer.writerow(["bench", None, *place, *end])
            writer.writerow(["bench", "openai/m", *place, "ep1", "judge", None, 0, given[-1], "imported", "", None])
    return folder


def cpu_s(*words: str) -> float:
    """CPU seconds of one command in a process of its own."""
    ended = measured([sys.executable, "-m", "judge", *words])
    if ended.code:
        raise SystemExit(f"judge {words[0]} ended with exit code {ended.code}")
    return ended.cpu_s


def summaries(folder: Path, rounds: int) -> tuple[float, float]:
    """CPU seconds of the first summary and of the next, best of several rounds."""
    found = []
    for _ in range(rounds):
        shutil.rmtree(folder / "derived", ignore_errors=True)
        found.append([cpu_s("summary", str(folder), "-o", str(folder / "out.csv")) for _ in range(2)])
    first, second = np.min(found, axis=0)
    return float(first), float(second)


def main() -> int:
    """Measure and print."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--criteria", type=int, default=1_000)
    made.add_argument("--rounds", type=int, default=3)
    made.add_argument("--scores", type=Path, help="result folder of judge import hanna-scores")
    given = made.parse_args()
    compile_all()
    figures = []
    with tempfile.TemporaryDirectory(prefix="judge-criteria-") as place:
        folder = write(Path(place) / "run", given.criteria)
        name = f"{given.criteria:,} criteria"
        first, second = summaries(folder, given.rounds)
        words = ("diagnose", str(folder), "--layout", "criteria", "-o", str(folder / "out.csv"))
        diagnosed = min(cpu_s(*words) for _ in range(given.rounds))
        figures += [
            Figure(f"{name}: judge summary", first, "<= 10", "CPU s"),
            Figure(f"{name}: judge summary, kept", second, "<= 1.5", "CPU s"),
            Figure(f"{name}: judge diagnose --layout criteria", diagnosed, "<= 10", "CPU s"),
        ]
        if given.scores is not None:
            copy = Path(shutil.copytree(given.scores, Path(place) / "scores"))
            first, second = summaries(copy, given.rounds)
            figures += [
                Figure("HANNA's scores: judge summary", first, "<= 6", "CPU s"),
                Figure("HANNA's scores: judge summary, kept", second, "<= 1.5", "CPU s"),
            ]
    show(f"many criteria, best of {given.rounds}", figures)
    return 0


if __name__ == "__main__":
    sys.exit(main())
