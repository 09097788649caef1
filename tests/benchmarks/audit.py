"""How long `judge audit sample` takes on 150,000 judgments beside reading them, and how quick an answer is. Prints.

The run is the control judge's, on the packaged stories with as many repeats as it takes. An answer is committed to disk
before the call returns, so its rate is compared with bare SQLite transactions of one row on the same disk.
"""

from __future__ import annotations

import sqlite3
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from judge.explanations.audit.items import Subject
from judge.explanations.audit.store import AuditStore
from tests.benchmarks.figures import Figure, show
from tests.benchmarks.judge_run import compile_all, measured

JUDGMENTS = 150_000
_READ = "from judge.ratings.ratings_table import read; import sys; print(len(read([sys.argv[1]]).frame))"


def write_run(folder: Path, judgments: int) -> int:
    """A run of about so many judgments with explanations; returns their number."""
    repeats = judgments // (48 * 6 * 3)
    (folder / "run.yaml").write_text(
        "name: bench\ndataset: demo\njudge: surface\ncriteria: hanna\neval_prompts: [ep2, ep3, ep4]\n"
        f"repeats: {repeats}\n",
        encoding="utf-8",
    )
    if measured([sys.executable, "-m", "judge", "run", str(folder), "--quiet"]).code:
        raise SystemExit("judge run did not end well")
    return repeats * 48 * 6 * 3


def answers_per_second(path: Path, count: int) -> float:
    """Committed answers a second, one category each."""
    with AuditStore.create(path, [Subject(explanation=f"e{i}") for i in range(count)]) as store:
        store.register("Ada")
        start = time.perf_counter()
        for item in range(1, count + 1):
            store.answer("Ada", item, {"poor_syntax": item % 2}, seconds=1.0)
        return count / (time.perf_counter() - start)


def bare_per_second(path: Path, count: int) -> float:
    """Bare transactions a second of one row, equally durable."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db, db:
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
        db.execute("CREATE TABLE t (i INTEGER PRIMARY KEY, v INTEGER)")
        start = time.perf_counter()
        for item in range(count):
            db.execute("BEGIN IMMEDIATE")
            db.execute("INSERT INTO t VALUES (?, ?)", (item, 1))
            db.execute("COMMIT")
        rate = count / (time.perf_counter() - start)
    db.close()
    return rate


def main() -> int:
    """Measure and print."""
    compile_all()
    with tempfile.TemporaryDirectory(prefix="judge-audit-") as place:
        folder = Path(place) / "run"
        folder.mkdir()
        judgments = write_run(folder, JUDGMENTS)
        read = measured([sys.executable, "-c", _READ, str(folder)])
        words = ["audit", "sample", str(folder), "-n", "100", "--quiet", "-o", str(folder / "a.sqlite")]
        drawn = measured([sys.executable, "-m", "judge", *words])
        if drawn.code or read.code:
            raise SystemExit("judge audit sample did not end well")
        ours, bare = answers_per_second(Path(place) / "b.sqlite", 500), bare_per_second(Path(place) / "c.sqlite", 500)
    show(
        "judge audit",
        [
            Figure(f"sample of 100 from {judgments:,} judgments", drawn.wall_s, unit="s"),
            Figure(
                "beside reading the ratings table", drawn.wall_s / read.wall_s, "<= 1.5", remark=f"{read.wall_s:.0f} s"
            ),
            Figure("peak memory", drawn.peak_mb, "<= 1024", "MB"),
            Figure("committed answers a second", ours, unit="1/s"),
            Figure("beside bare SQLite transactions", ours / bare, remark=f"{bare:.0f}/s"),
        ],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
