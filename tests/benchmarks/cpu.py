"""CPU per judgment and peak memory of `judge run`. Prints; never asserts."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.benchmarks import options
from tests.benchmarks.figures import Figure, median, show, spread
from tests.benchmarks.judge_run import Process, compile_all, measured, workplace, write_run
from tests.benchmarks.target import Target, open_target
from tests.benchmarks.throughput import record_body

FEW, MANY = 600, 6_000
SMALL, LARGE = 10_000, 200_000
CRITERIA = 6  # of the set `hanna`: fewer stories on disk for as many queries


def cpu(target: Target, folder: Path, given: argparse.Namespace, body: Path) -> list[Figure]:
    """Marginal CPU of the program, with bare aiohttp's beside it."""
    judge, bare = [], []
    client = [sys.executable, "-m", "tests.benchmarks.bare_client", target.url, str(body)]
    for number in range(given.rounds):
        used: list[Process] = []
        for count in (FEW, MANY):
            used.append(write_run(folder / f"cpu-{count}-{number}", count, target.url, given).finish())
            used.append(measured([*client, str(count), "64"]))
        judge.append((used[2].cpu_s - used[0].cpu_s) * 1000 / (MANY - FEW))
        bare.append((used[3].cpu_s - used[1].cpu_s) * 1000 / (MANY - FEW))
        if any(each.code for each in used):
            return [Figure("CPU per judgment", None, remark=f"exit codes {[each.code for each in used]}")]
    return [
        Figure("CPU per judgment, marginal", median(judge), "<= 0.40", "ms", f"aim 0.25; {spread(judge, 3)}"),
        Figure("the same of bare aiohttp", median(bare), unit="ms", remark=spread(bare, 3)),
    ]


def memory(target: Target, folder: Path, given: argparse.Namespace) -> list[Figure]:
    """Peak resident set at two sizes of a run, all six criteria of `hanna`, 256 connections."""
    peaks: list[float] = []
    figures = []
    for queries in (SMALL, int(LARGE * given.scale)):
        stories = -(-queries // CRITERIA)
        target.reset()
        run = write_run(folder / f"memory-{queries}", stories, target.url, given, criteria="hanna", concurrency=256)
        process = run.finish()
        stored = run.answers()
        peaks.append(process.peak_mb)
        figures.append(
            Figure(
                f"peak resident set, {stories * CRITERIA:,} queries",
                process.peak_mb,
                "<= 150" if queries == SMALL else "",
                "MB",
                f"{stored:,} stored in {process.wall_s:.1f} s, exit code {process.code}"
                + ("; aim 100" if queries == SMALL else ""),
            )
        )
    return [*figures, Figure("large over small", peaks[1] / peaks[0], "<= 1.3")]


def main() -> int:
    """Measure and print."""
    made = options.parser(__doc__, rounds=3)
    made.add_argument("--scale", type=float, default=1.0, help="share of the 200,000 queries, for a quick look")
    made.add_argument("--only", choices=["cpu", "memory"], help="only this half")
    given = options.check(made.parse_args())
    compile_all()
    figures: list[Figure] = []
    with workplace(given) as folder, open_target(given, latency_ms=0) as target:
        body = record_body(folder, given)
        if given.only != "memory":
            figures += cpu(target, folder, given, body)
        if given.only != "cpu":
            figures += memory(target, folder, given)
    show(f"CPU and memory on {given.server}, 0 ms", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
