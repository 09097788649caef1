"""CPU of six criteria in one answer beside six answers: asking, reading, and both, per judgment. Prints; never asserts.

Each size of run is asked by ep1 (one criterion an answer) and by joint1 (six), then `judge coverage` reads it for the
first time. The figures are those of the larger run less those of the smaller one.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from tests.benchmarks import options
from tests.benchmarks.figures import Figure, median, show, spread
from tests.benchmarks.judge_run import compile_all, workplace, write_run
from tests.benchmarks.target import Target, open_target

FEW, MANY, CRITERIA = 200, 1_400, 6
JUDGMENTS = (MANY - FEW) * CRITERIA


def cpu(target: Target, folder: Path, given: argparse.Namespace, prompt: str) -> tuple[float, float, int]:
    """Milliseconds a judgment of asking and of reading, and the answers stored for the larger run."""
    asking, reading, stored = [], [], 0
    for stories in (FEW, MANY):
        run = write_run(
            folder / f"{prompt}-{stories}", stories, target.url, given, criteria="hanna", eval_prompts=[prompt]
        )
        asking.append(run.finish().cpu_s)
        reading.append(run.ask("coverage").cpu_s)
        stored = run.answers()
    each = 1000 / JUDGMENTS
    return (asking[1] - asking[0]) * each, (reading[1] - reading[0]) * each, stored


def main() -> int:
    """Measure and print."""
    given = options.check(options.parser(__doc__, rounds=3).parse_args())
    compile_all()
    found: dict[str, list[tuple[float, float, int]]] = {"ep1": [], "joint1": []}
    with workplace(given) as folder, open_target(given, latency_ms=0, style="joint") as target:
        for number in range(given.rounds):
            for prompt, figures in found.items():
                figures.append(cpu(target, folder / str(number), given, prompt))
    lines = []
    for place, name in enumerate(("asking", "reading")):
        one, several = ([each[place] for each in found[prompt]] for prompt in found)
        lines += [
            Figure(f"{name}, one criterion an answer", median(one), unit="ms", remark=spread(one, 4)),
            Figure(f"{name}, six in one answer", median(several), unit="ms", remark=spread(several, 4)),
        ]
    whole = [[each[0] + each[1] for each in figures] for figures in found.values()]
    ratios = [several / one for one, several in zip(*whole, strict=True)]
    lines.append(Figure("both, six in one over one by one", median(ratios), "<= 1", remark=spread(ratios, 3)))
    calls = found["ep1"][0][2] / found["joint1"][0][2]
    lines.append(Figure("calls, one by one over six in one", calls, ">= 6"))
    show(f"Several criteria in one answer, CPU per judgment on {given.server}", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
