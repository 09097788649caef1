"""How long `judge --help` takes, and how long `judge run` takes to its first request. Prints; never asserts."""

from __future__ import annotations

import subprocess
import time

from tests.benchmarks import options
from tests.benchmarks.figures import Figure, median, show, spread
from tests.benchmarks.judge_run import Run, compile_all, measured, wait, workplace, write_run
from tests.benchmarks.target import Target, open_target

STORIES = 1_000


def first_request(target: Target, run: Run) -> float:
    """Milliseconds from starting the process to the first request that the server sees."""
    target.reset()
    began = time.time()
    process: subprocess.Popen[bytes] = run.start()
    # Our server notes the time itself; another has to be watched closely, and the watching costs it a little.
    pause = 0.05 if "first_request_unix" in target.stats() else 0.001
    while target.stats()["requests"] == 0 and process.poll() is None and time.time() < began + 30:
        time.sleep(pause)
    seen = time.time()
    if process.returncode is None:
        process.kill()
        wait(process, began)
    return ((target.stats().get("first_request_unix") or seen) - began) * 1000


def main() -> int:
    """Measure and print."""
    given = options.check(options.parser(__doc__, rounds=10).parse_args())
    compile_all()
    with workplace(given) as folder, open_target(given, latency_ms=200) as target:
        measured([*given.command, "--help"])
        helps = [measured([*given.command, "--help"]) for _ in range(given.rounds)]
        write_run(folder / "warm", 10, target.url, given).finish()
        starts = [
            first_request(target, write_run(folder / f"first-{number}", STORIES, target.url, given))
            for number in range(given.rounds)
        ]
    walls = [each.wall_s * 1000 for each in helps]
    codes = {each.code for each in helps}
    show(
        f"Start-up, median of {given.rounds}",
        [
            Figure(
                "judge --help, warm",
                median(walls),
                "<= 150",
                "ms",
                f"aim 100; {spread(walls, 0)}" + (f"; exit codes {codes}" if codes != {0} else ""),
            ),
            Figure(
                f"judge run to first request, {STORIES:,} stories",
                median(starts),
                "<= 1000",
                "ms",
                f"aim 500; {spread(starts, 0)}",
            ),
        ],
    )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
