"""How long `judge check` takes from a table of 10,000 rows to its page, with texts and without. Prints; never asserts.

Made-up ratings of 10,000 stories by a judge and three people, five systems, ten stories a prompt; texts of 20 to 60
words. Beside the wall clock stands the CPU time, which other work on the machine moves less.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.figures import Figure, show
from tests.benchmarks.judge_run import compile_all, measured
from tests.benchmarks.report import WORDS

ROWS, SYSTEMS, STORIES = 10_000, 5, 10


def write_table(path: Path, rows: int, *, texts: bool) -> Path:
    """A wide table of one judge and three people."""
    rng = random.Random(1)
    lines = [f"id,prompt,model,{'story,' if texts else ''}gpt4,human_1,human_2,human_3"]
    for number in range(rows):
        quality = rng.gauss(3, 1)
        given = ",".join(str(min(5, max(1, round(quality + rng.gauss(0, 0.8))))) for _ in range(4))
        text = f"{' '.join(rng.choices(WORDS, k=rng.randrange(20, 60)))} {number}.," if texts else ""
        lines.append(f"s{number},p{number // STORIES},m{number % SYSTEMS},{text}{given}")
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def main() -> int:
    """Measure and print."""
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--rows", type=int, default=ROWS)
    given = made.parse_args()
    compile_all()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as place:
        for texts in (False, True):
            table = write_table(Path(place) / f"texts-{texts}.csv", given.rows, texts=texts)
            page = table.with_suffix(".html")
            found = measured([sys.executable, "-m", "judge", "check", str(table), "-o", str(page), "--quiet"])
            if found.code:
                raise SystemExit(f"judge check ended with exit code {found.code}")
            name = f"{given.rows:,} rows {'with' if texts else 'without'} texts"
            figures += [
                Figure(f"{name}: to the page", found.wall_s, "<= 10", "s"),
                Figure(f"{name}: CPU time", found.cpu_s, unit="s"),
                Figure(f"{name}: peak resident set", found.peak_mb, unit="MB"),
                Figure(f"{name}: the page", page.stat().st_size / 1e6, "<= 6", "MB"),
            ]
    show("judge check", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
