"""How long `judge export --as bundle` and `judge status --verify` take on 150,000 judgments, and how large the archive
is. Never asserts.

The runs are those of `tests.benchmarks.report`: by a scripted judge of a hundred answers, which pack well, and by the
control. Beside them stands `judge ratings`, which builds the table that both build again.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from tests.benchmarks.figures import Figure, show
from tests.benchmarks.judge_run import compile_all
from tests.benchmarks.report import CRITERIA, STORIES, ended, write_run


def main() -> int:
    """Measure and print."""
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--stories", type=int, default=STORIES)
    given = made.parse_args()
    compile_all()
    figures: list[Figure] = []
    judgments = given.stories * len(CRITERIA) * 4 * 3
    with tempfile.TemporaryDirectory() as place:
        for judge in ("scripted", "surface"):
            folder = write_run(Path(place) / judge, judge, given.stories)
            ended("run", folder, "--quiet")
            archive = Path(place) / f"{judge}.zip"
            table = ended("ratings", folder, "--format", "csv", "-o", folder / "ratings.csv")
            journal = sum(path.stat().st_size for path in folder.glob("*/journal.sqlite"))
            for name, arguments in (
                ("export", (folder, "--as", "bundle", "-o", archive)),
                ("status", (archive, "--verify")),
            ):
                found = ended(name, *arguments)
                remark = f"{found.cpu_s / table.cpu_s:.1f} times judge ratings; waited for {found.wall_s:.1f} s"
                figures += [
                    Figure(
                        f"{judge}: judge {name}, {judgments:,} judgments, CPU", found.cpu_s, unit="s", remark=remark
                    ),
                    Figure(f"{judge}: its peak resident set", found.peak_mb, unit="MB"),
                ]
            size = archive.stat().st_size
            figures.append(
                Figure(f"{judge}: the archive", size / 1e6, unit="MB", remark=f"journal: {journal / 1e6:.1f} MB")
            )
    show("judge export --as bundle, judge status --verify", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
