"""How long `judge correlate` takes on 152,064 ratings, and how much memory on ten million. Prints; never asserts.

The first is the size of HANNA's released ratings (5 judges x 4 Eval-Prompts x 6 criteria x 1,056 stories, and three
positions of people), here drawn at random, so that nothing has to be downloaded; the second is drawn by DuckDB into
Parquet.
"""

from __future__ import annotations

import csv
import itertools
import sys
import tempfile
from pathlib import Path

import numpy as np

from judge.ratings.ratings_table import COLUMNS
from tests.benchmarks.figures import Figure, show
from tests.benchmarks.judge_run import compile_all, measured

CRITERIA = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")
SYSTEMS, PROMPTS, JUDGES, EVAL_PROMPTS, RATERS = 11, 96, 5, 4, 3
MILLIONS = 10_000_000


def write_small(folder: Path) -> int:
    """A result folder of imported means of three repeats, 13 levels as in the released file; returns its ratings."""
    rng = np.random.default_rng(1)
    quality = rng.normal(3, 0.7, (SYSTEMS, PROMPTS))
    rows = 0
    with (folder / "imported.csv").open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(COLUMNS)
        for s, p, criterion in itertools.product(range(SYSTEMS), range(PROMPTS), CRITERIA):
            place = ["random", f"s{s}-{p}", f"prompt {p}", f"system {s}", criterion]
            for r in range(RATERS):
                value = int(np.clip(round(quality[s, p] + rng.normal()), 1, 5))
                writer.writerow(["bench", None, *place, None, "rater", f"w{r}", None, value, "ok", "", None])
            for j, e in itertools.product(range(JUDGES), range(EVAL_PROMPTS)):
                value = np.clip(np.round(3 * (quality[s, p] + rng.normal(0, 0.8))) / 3, 1, 5)
                end = ["judge", None, 0, value, "imported", "", None]
                writer.writerow(["bench", f"openai/m{j}", *place, f"ep{e + 1}", *end])
            rows += RATERS + JUDGES * EVAL_PROMPTS
    return rows


def write_large(folder: Path, ratings: int) -> int:
    """A Parquet file of about so many ratings: 20 judges x 4 Eval-Prompts x 6 criteria x 3 repeats, and people."""
    import duckdb

    stories = ratings // (20 * 4 * 6 * 3 + 6 * RATERS)
    with duckdb.connect() as db:
        db.execute("SET enable_progress_bar = false; SET memory_limit = '2GB'; SELECT setseed(0.5)")
        db.execute(
            """
            CREATE VIEW places AS
            SELECT 'big' AS dataset, 'story ' || i AS story, 'prompt ' || (i // 10) AS story_prompt,
                'system ' || (i % 10) AS system, criterion, 1.5 + 2 * ((i * 7919) % 1000) / 1000 AS quality
            FROM range(getvariable('stories')) s(i), (SELECT unnest(getvariable('criteria')) AS criterion)
            """
        )
        db.execute("SET VARIABLE stories = ?", [stories])
        db.execute("SET VARIABLE criteria = ?", [list(CRITERIA)])
        db.execute(
            f"""
            COPY (
                SELECT 'bench' AS run, 'openai/m' || j AS judge, dataset, story, story_prompt, system, criterion,
                    'ep' || e AS eval_prompt, 'judge' AS source, NULL::VARCHAR AS rater, r AS repeat,
                    greatest(1, least(5, round(quality + 2 * random() - 1))) AS rating, 'ok' AS status, '' AS flags,
                    NULL::VARCHAR AS explanation
                FROM range(20) a(j), range(1, 5) b(e), range(3) c(r), places
                UNION ALL
                SELECT 'bench', NULL, dataset, story, story_prompt, system, criterion, NULL, 'rater', 'w' || w, NULL,
                    greatest(1, least(5, round(quality + 2 * random() - 1))), 'ok', '', NULL
                FROM places, range({RATERS}) d(w)
            ) TO '{folder / "imported.parquet"}' (FORMAT parquet)
            """
        )
        return int(db.execute(f"SELECT count(*) FROM '{folder / 'imported.parquet'}'").fetchone()[0])  # type: ignore[index]


def correlated(folder: Path, *options: str) -> tuple[float, float]:
    """Wall seconds and peak memory in GB of one `judge correlate` in a process of its own."""
    command = [sys.executable, "-m", "judge", "correlate", str(folder), "--drop-system", "system 0", *options]
    ended = measured([*command, "--format", "csv", "-o", str(folder / "out.csv")])
    if ended.code:
        raise SystemExit(f"judge correlate ended with exit code {ended.code}")
    return ended.wall_s, ended.peak_mb / 1024


def main() -> int:
    """Measure and print."""
    compile_all()
    with tempfile.TemporaryDirectory(prefix="judge-tables-") as place:
        small, large = Path(place) / "small", Path(place) / "large"
        small.mkdir()
        large.mkdir()
        ratings = write_small(small)
        correlated(small, "--resamples", "10")
        inputs = min(correlated(small, "--resamples", "2000") for _ in range(3))
        both = correlated(small, "--ci", "boot-both", "--resamples", "10000")
        rows = write_large(large, MILLIONS)
        memory = correlated(large, "--resamples", "200")
    show(
        "judge correlate, whole command",
        [
            Figure(f"{ratings:,} ratings, boot-inputs/2,000", inputs[0], "<= 5", "s", "best of three"),
            Figure(f"{ratings:,} ratings, boot-both/10,000", both[0], "<= 30", "s"),
            Figure(f"{rows:,} ratings in Parquet, peak memory", memory[1], "<= 2", "GB", f"{memory[0]:.0f} s"),
        ],
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
