"""How CPU time and memory grow from 10^4 to 10^7 judgments: plan, tables, export, asking. Prints; never asserts.

Journals are written straight into their place, as a judge's answers would stand there (`second_table.write_run`, 150
judgments a story); each command is a whole process. The exponent between two sizes is the logarithm of the ratio of
their CPU times over that of their judgments; the first table of a size reads all answers and keeps what it read.
`--sizes`, `--asked` and `--only` choose; `--folder` keeps the runs (10^7 judgments: about 6 GB).
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from tests.benchmarks import options
from tests.benchmarks.judge_run import Process, compile_all, measured
from tests.benchmarks.judge_run import write_run as write_definition
from tests.benchmarks.second_table import write_run
from tests.benchmarks.target import open_target

A_STORY = 150
"""Judgments of a story: six criteria, five Eval-Prompts, five repeats."""

COMMANDS = {
    "plan": ("run", "--dry-run", "--quiet"),
    "first table": ("coverage",),
    "coverage": ("coverage",),
    "consistency": ("consistency",),
    "correlate --ci none": ("correlate", "--ci", "none"),
    "correlate": ("correlate",),
    "systems": ("systems",),
    "compare": ("compare",),
    "diagnose": ("diagnose",),
    "summary": ("summary",),
    "ratings -o x.parquet": ("ratings", "-o", "{out}/x.parquet"),
    "export --as bundle": ("export", "--as", "bundle", "-o", "{out}/bundle"),
}
"""What is measured of a run, in this order."""


def command(name: str, folder: Path, out: Path) -> Process:
    """One command on the run in `folder`, with nothing of an earlier output in `out`."""
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir()
    first, *rest = (word.format(out=out) for word in COMMANDS[name])
    return measured([sys.executable, "-m", "judge", first, str(folder), *rest])


def of_one_size(folder: Path, judgments: int, names: list[str]) -> Iterator[tuple[str, Process]]:
    """Each command on a run of about so many judgments, one after the other."""
    # In a process of its own: the kernel counts a parent's memory as its children's before they begin.
    with ProcessPoolExecutor(1, get_context("spawn")) as apart:
        run = apart.submit(write_run, folder, -(-judgments // A_STORY)).result()
    if "first table" in names:
        shutil.rmtree(run / "openai-mock" / "derived", ignore_errors=True)
    for name in names:
        yield name, command(name, run, folder.parent / "out")


def asking(folder: Path, judgments: int, given: argparse.Namespace) -> Process:
    """`judge run` of six criteria against a server whose answers take no time, 256 connections."""
    with open_target(given, latency_ms=0) as target:
        run = write_definition(folder, -(-judgments // 6), target.url, given, criteria="hanna", concurrency=256)
        return run.finish()


def exponent(small: Process, large: Process, ratio: float) -> float:
    """By how much CPU time grows; 1 is in proportion."""
    return math.log(large.cpu_s / small.cpu_s) / math.log(ratio)


def show_row(name: str, sizes: list[int], found: dict[tuple[str, int], Process]) -> None:
    """CPU seconds, MB and the exponent since the size before."""
    cells, before = [], None
    for size in sizes:
        process = found.get((name, size))
        if process is None:
            cells.append("-".rjust(24))
            continue
        text = f"{process.cpu_s:.1f} s {process.peak_mb:.0f} MB"
        if process.code not in (0, 1):
            text += f" exit {process.code}"
        elif before is not None:
            text += f" {exponent(before[1], process, size / before[0]):.2f}"
        cells.append(text.rjust(24))
        before = (size, process)
    print(name.ljust(22), *cells, flush=True)


def main() -> int:
    """Measure and print."""
    made = options.parser(__doc__, rounds=1)
    made.add_argument("--sizes", type=float, nargs="+", default=[1e4, 1e5, 1e6, 1e7], help="judgments")
    made.add_argument("--asked", type=float, nargs="*", default=[1e4, 1e5, 1e6], help="judgments that are asked")
    made.add_argument("--only", nargs="+", choices=COMMANDS, default=list(COMMANDS), help="commands")
    made.add_argument("--folder", type=Path, help="make the runs here and keep them")
    given = options.check(made.parse_args())
    compile_all()
    found: dict[tuple[str, int], Process] = {}
    sizes, asked = [int(size) for size in given.sizes], [int(size) for size in given.asked]
    with tempfile.TemporaryDirectory(prefix="judge-growth-") as place:
        base = given.folder or Path(place)
        for size in sizes:
            for name, process in of_one_size(base / f"{size:.0e}", size, given.only):
                found[name, size] = process
                print(
                    f"  {size:,} {name}: {process.cpu_s:.1f} s, {process.peak_mb:.0f} MB, exit {process.code}",
                    flush=True,
                )
            if given.folder is None:
                shutil.rmtree(base / f"{size:.0e}")
        for size in asked:
            found["asking", size] = asking(Path(place) / f"asked-{size}", size, given)
    print("\ncommand".ljust(23), *(f"{size:,}".rjust(24) for size in sizes))
    for name in given.only:
        show_row(name, sizes, found)
    if asked:
        show_row("asking, 0 ms", asked, {("asking, 0 ms", size): found["asking", size] for size in asked})
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
