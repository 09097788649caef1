"""kill -9 at seeded random points, then the same command again: what is asked twice? Prints; never asserts."""

from __future__ import annotations

import argparse
import os
import random
import signal
import time
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import options
from tests.benchmarks.figures import Figure, median, show
from tests.benchmarks.judge_run import LABEL, Run, compile_all, wait, workplace, write_run
from tests.benchmarks.target import Target, open_target
from tests.server.loopback import LoopbackServer

STORIES, CONNECTIONS, LATENCY_MS, WINDOW_S = 2_000, 64, 20.0, 0.05


@dataclass(frozen=True, slots=True)
class Kill:
    """One kill and its resumption, in requests. `unsaved` = answered by the server, not committed at the kill.

    `oldest_ms` is how long before the kill the first of the unsaved was answered; `busiest` the most answers that the
    server gave in any 50 ms before the kill. Both None where the server keeps no list of arrivals.
    """

    answered: int
    committed: int
    in_flight: int
    unsaved: int
    repeats_of_committed: int
    asked_again: int
    complete: bool
    equal: bool
    oldest_ms: float | None = None
    busiest: int | None = None


def table(run: Run) -> list[str]:
    """The ratings table's lines, sorted; empty where the command fails, which equals no table."""
    path = run.definition.parent / "ratings.csv"
    process = run.ask("ratings", "--format", "csv", "-o", str(path))
    return sorted(path.read_text(encoding="utf-8").splitlines()) if process.code == 0 else []


def kill_at(target: Target, run: Run, point: int, linger_s: float, expected: list[str]) -> Kill:
    """Start, kill by process id once the server has answered `point` requests and a little longer, start again."""
    target.reset()
    began = time.time()
    process = run.start()
    while target.stats()["answered"] < point and process.poll() is None:
        time.sleep(0.002)
    time.sleep(linger_s)
    killed = time.monotonic()
    if process.poll() is None:
        os.kill(process.pid, signal.SIGKILL)
        wait(process, began)
    while (before := target.stats())["in_flight"]:
        time.sleep(0.005)
    committed = run.committed()
    resumed = run.finish()
    after = target.stats()
    requests = after["requests"] - before["requests"]
    oldest_ms, most = None, None
    if isinstance(target, LoopbackServer):
        arrivals = target.arrivals()
        first, second = arrivals[: before["requests"]], [label for label, _, _ in arrivals[before["requests"] :]]
        answered = {label: at for label, _, at in first if at is not None}
        repeats = sum(label in committed for label in second)
        again = sum(label in {label for label, _, _ in first} for label in second)
        in_flight = sum(at is None for _, _, at in first)
        lost = [at for label, at in answered.items() if label not in committed]
        unsaved = len(lost)
        oldest_ms = (killed - min(lost)) * 1000 if lost else 0.0
        most = busiest(sorted(answered.values()))
    else:  # by counts alone: without faults every request beyond the missing ones repeats a committed answer
        repeats = requests - (STORIES - len(committed))
        again = after["requests"] - STORIES
        in_flight = before["requests"] - before["answered"]
        unsaved = before["answered"] - len(committed)
    lines = table(run)
    return Kill(
        answered=before["answered"],
        committed=len(committed),
        in_flight=in_flight,
        unsaved=unsaved,
        repeats_of_committed=repeats,
        asked_again=again,
        complete=resumed.code == 0 and run.answers() == STORIES,
        equal=bool(lines) and lines == expected,
        oldest_ms=oldest_ms,
        busiest=most,
    )


def busiest(times: list[float]) -> int:
    """The most of sorted moments that lie within one commit window."""
    first, most = 0, 0
    for last, moment in enumerate(times):
        while moment - times[first] > WINDOW_S:
            first += 1
        most = max(most, last - first + 1)
    return most


def uninterrupted(target: Target, run: Run) -> tuple[list[str], float]:
    """The table of a run that nobody disturbed, and its requests per second."""
    target.reset()
    run.finish()
    stats = target.stats()
    return table(run), stats["answered"] / stats["span_s"]


def measure(given: argparse.Namespace, folder: Path) -> list[Figure]:
    """All kills."""
    draw = random.Random(given.seed)
    labels = {"label": LABEL} if given.server == "loopback" else {}
    with open_target(given, latency_ms=LATENCY_MS, **labels) as target:
        expected, rate = uninterrupted(target, write_run(folder / "whole", STORIES, target.url, given))
        kills = []
        for number in range(given.rounds):
            point, linger = draw.randrange(1, int(STORIES * 0.95)), draw.uniform(0, WINDOW_S)
            run = write_run(folder / f"kill-{number}", STORIES, target.url, given, concurrency=CONNECTIONS)
            kills.append(kill_at(target, run, point, linger, expected))
    window = rate * WINDOW_S
    for kill in kills:
        print(kill)
    beyond = [kill.asked_again - kill.in_flight for kill in kills]
    ages = [kill.oldest_ms for kill in kills if kill.oldest_ms is not None]
    peaks = [kill.busiest for kill in kills if kill.busiest is not None]
    seen = f"the oldest {max(ages):.0f} ms before its kill" if ages else ""
    return [
        Figure("kills that hit a running process", sum(kill.answered < STORIES for kill in kills), f"= {given.rounds}"),
        Figure("repeats of committed answers", sum(kill.repeats_of_committed for kill in kills), "= 0"),
        Figure(
            "asked again beyond those in flight, worst kill",
            max(beyond),
            f"<= {window:.0f}",
            remark=f"one commit window of 50 ms at {rate:.0f} req/s; median {median(beyond):.0f}",
        ),
        # Answers come in bursts of the connections, so the mean rate understates what one window can hold.
        Figure(
            "the same against each kill's busiest 50 ms, excess",
            max(more - peak for more, peak in zip(beyond, peaks, strict=True)) if peaks else None,
            "<= 0",
            remark=f"busiest 50 ms: {min(peaks)}..{max(peaks)} answers" if peaks else "needs our own server",
        ),
        Figure("answered but not committed, worst kill", max(kill.unsaved for kill in kills), remark=seen),
        Figure("runs complete after the second start", sum(kill.complete for kill in kills), f"= {given.rounds}"),
        Figure(
            "ratings tables equal to the uninterrupted run's",
            sum(kill.equal for kill in kills),
            f"= {given.rounds}",
            remark=f"{len(expected)} lines, sorted" if expected else "judge ratings failed",
        ),
    ]


def main() -> int:
    """Measure and print."""
    made = options.parser(__doc__, rounds=10)
    made.add_argument("--seed", type=int, default=1, help="of the points at which it kills")
    given = options.check(made.parse_args())
    compile_all()
    with workplace(given) as folder:
        figures = measure(given, folder)
    show(f"kill -9 on {given.server}: N = {STORIES:,}, {CONNECTIONS} connections, {LATENCY_MS:g} ms", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
