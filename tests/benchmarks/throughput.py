"""Throughput of `judge run` beside bare aiohttp, on one server, in interleaved rounds. Prints; never asserts."""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from tests.benchmarks import options
from tests.benchmarks.figures import Figure, median, show, spread
from tests.benchmarks.judge_run import Run, compile_all, measured, workplace, write_run
from tests.benchmarks.target import Target, open_target
from tests.server.loopback import LoopbackServer

CASES = ((64, 200.0, 2_000, 0.97), (256, 200.0, 10_000, 0.90), (256, 0.0, 10_000, 0.50))
"""Connections, latency in ms, requests, bar."""


@dataclass(frozen=True, slots=True)
class Round:
    """One round: requests per second, CPU in ms per request, bytes per body, seconds from last commit to exit."""

    rate: float
    cpu_ms: float
    body: float
    tail_s: float = 0.0
    note: str = ""


def record_body(folder: Path, given: argparse.Namespace) -> Path:
    """One request body as the program sends it; also warms caches. Always asked of our own server, which records."""
    with LoopbackServer(ttl=60, record=1) as server:
        process = write_run(folder / "body", 1, server.url, given).finish()
        bodies = server.requests()
    if not bodies:
        raise SystemExit(f"error: the program sent no request (exit code {process.code})")
    path = folder / "body.json"
    path.write_text(json.dumps(bodies[0]), encoding="utf-8")
    return path


def judge_round(target: Target, run: Run, count: int) -> Round:
    """A whole run; its time is from the first request that the server saw to the last commit."""
    target.reset()
    process = run.finish()
    stats = target.stats()
    first, last_commit = run.span()
    first = stats.get("first_request_unix") or first
    stored = run.answers()
    note = "" if process.code == 0 and stored == count else f"exit code {process.code}, {stored} of {count} stored"
    return Round(
        rate=stored / (last_commit - first),
        cpu_ms=process.cpu_s * 1000 / count,
        body=stats.get("body_bytes", 0) / count,
        tail_s=process.ended - last_commit,
        note=note,
    )


def bare_round(target: Target, body: Path, count: int, connections: int) -> Round:
    """The same requests by bare aiohttp; its time is from the first request to the last answer."""
    target.reset()
    script = [sys.executable, "-m", "tests.benchmarks.bare_client", target.url, str(body), str(count), str(connections)]
    process = measured(script)
    stats = target.stats()
    note = "" if process.code == 0 else f"exit code {process.code}"
    return Round(
        rate=stats["answered"] / stats["span_s"],
        cpu_ms=process.cpu_s * 1000 / count,
        body=stats.get("body_bytes", 0) / count,
        note=note,
    )


def case(
    given: argparse.Namespace, folder: Path, body: Path, connections: int, latency: float, count: int, bar: float
) -> list[Figure]:
    """All rounds of one case."""
    judge, bare = [], []
    with open_target(given, latency_ms=latency) as target:
        for number in range(given.rounds):
            bare.append(bare_round(target, body, count, connections))
            place = folder / f"c{connections}-{latency:g}ms-{number}"
            judge.append(
                judge_round(target, write_run(place, count, target.url, given, concurrency=connections), count)
            )
            time.sleep(0.2)
    name = f"{connections} connections, {latency:g} ms, N = {count:,}"
    rates, bare_rates = [each.rate for each in judge], [each.rate for each in bare]
    pairs = [mine / other for mine, other in zip(rates, bare_rates, strict=True)]
    tail = median([each.tail_s for each in judge])
    remarks = [f"{spread(pairs)} paired"]
    if judge[0].body:
        remarks.append(f"bodies {judge[0].body:.0f} and {bare[0].body:.0f} bytes")
    remarks += [each.note for each in (*judge, *bare) if each.note]
    return [
        Figure(f"{name}: bare aiohttp", median(bare_rates), unit="req/s", remark=spread(bare_rates, 0)),
        Figure(
            f"{name}: judge run",
            median(rates),
            unit="req/s",
            remark=f"{spread(rates, 0)}; exits {tail:.2f} s after the last commit",
        ),
        Figure(
            f"{name}: ratio of medians", median(rates) / median(bare_rates), f">= {bar:.2f}", remark="; ".join(remarks)
        ),
        Figure(
            f"{name}: CPU, whole process",
            median([each.cpu_ms for each in judge]),
            unit="ms/req",
            remark=f"bare {median([each.cpu_ms for each in bare]):.3f}",
        ),
    ]


def main() -> int:
    """Measure and print."""
    made = options.parser(__doc__, rounds=3)
    made.add_argument("--scale", type=float, default=1.0, help="share of the requests, for a quick look")
    given = options.check(made.parse_args())
    compile_all()
    figures: list[Figure] = []
    with workplace(given) as folder:
        body = record_body(folder, given)
        for connections, latency, count, bar in CASES:
            figures += case(given, folder, body, connections, latency, max(connections, int(count * given.scale)), bar)
    show(f"Throughput on {given.server}, median of {given.rounds} rounds", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
