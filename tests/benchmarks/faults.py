"""A run on a server that fails in four ways at once, and one whose failures stay. Prints; never asserts."""

from __future__ import annotations

import argparse
from pathlib import Path

from tests.benchmarks import options
from tests.benchmarks.figures import Figure, show
from tests.benchmarks.judge_run import compile_all, workplace, write_run
from tests.benchmarks.target import open_target

STORIES = 1_000
FAULTS = {"p429": 0.05, "p500": 0.05, "pgarbage": 0.01, "phang": 0.01, "hang_s": 60.0, "retry_after": 1}


def passing(given: argparse.Namespace, folder: Path) -> list[Figure]:
    """Faults drawn for each request: another attempt may succeed."""
    with open_target(given, latency_ms=50.0, seed=given.seed, **FAULTS) as target:
        run = write_run(folder / "passing", STORIES, target.url, given, attempt_timeout=20.0)
        process = run.finish()
        stats = target.stats()
    faults = stats.get("faults") or {name: stats[name] for name in ("f429", "f500", "fgarbage", "fhang")}
    return [
        Figure("lost", STORIES - run.answers(), "= 0"),
        Figure("requests over N", stats["requests"] / STORIES, "<= 1.16", remark=f"served {faults}"),
        Figure("wall", process.wall_s, "<= 45", "s", "attempt timeout 20 s, 50 ms latency"),
        Figure("exit code", process.code, "= 0"),
        Figure("requests for what was answered", stats["repeats_after_answer"], "= 0"),
        Figure("clients gone while waiting", stats["disconnects"], remark="hangs cut by the attempt timeout"),
    ]


def permanent(given: argparse.Namespace, folder: Path) -> list[Figure]:
    """Faults by prompt that no retry heals; then the server is mended and `judge run --retry` asks again."""
    with open_target(given, latency_ms=0.0, p500=0.03, fault_mode="sticky", seed=given.seed) as target:
        run = write_run(folder / "permanent", STORIES, target.url, given, max_attempts=3)
        first = run.finish()
        missing = STORIES - run.answers()
        target.configure(p500=0.0)
        again = run.finish()
        still = STORIES - run.answers()
        retried = run.ask("run", "--retry", "--quiet")
        left = STORIES - run.answers()
        repeats = target.stats()["repeats_after_answer"]
    return [
        Figure("permanent failures: missing after the run", missing, remark=f"{first.wall_s:.1f} s"),
        Figure("permanent failures: exit code", first.code, "= 3"),
        Figure("run again: missing", still, f"= {missing}", remark=f"exit code {again.code}; only --retry asks again"),
        Figure("judge run --retry: missing", left, "= 0", remark=f"exit code {retried.code}"),
        Figure("judge run --retry: requests for what was answered", repeats, "= 0"),
    ]


def main() -> int:
    """Measure and print."""
    made = options.parser(__doc__, rounds=1)
    made.add_argument("--seed", type=int, default=0, help="of the fault draws")
    given = options.check(made.parse_args())
    compile_all()
    with workplace(given) as folder:
        figures = passing(given, folder) + permanent(given, folder)
    show(f"Faults on {given.server}: N = {STORIES:,}, 64 connections, seed {given.seed}", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
