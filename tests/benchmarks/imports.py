"""How long `judge import` takes on a million ratings of 100,000 stories, long and wide, CSV and Parquet, and how much
memory. Prints; never asserts."""

from __future__ import annotations

import argparse
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from tests.benchmarks.figures import Figure, show
from tests.benchmarks.judge_run import compile_all, measured
from tests.benchmarks.report import WORDS

STORIES, SYSTEMS, EACH = 100_000, 8, 10
CRITERIA, WHO = ("Plot", "Style"), ("gpt-4", "llama-3", "ann", "bob", "cem")


def long_table(stories: int, *, texts: bool) -> pd.DataFrame:
    """A row a rating, by two judges and three people on two criteria."""
    ratings, rng = np.random.default_rng(1).integers(1, 6, EACH * stories), random.Random(1)
    story = np.arange(stories).repeat(EACH)
    who = np.tile(np.array(WHO), stories * len(CRITERIA))
    judged = np.isin(who, WHO[:2])
    columns = {
        "story": [f"story-{number:06d}" for number in story],
        "system": [f"m{number % SYSTEMS}" for number in story],
        "story_prompt": [f"Write about the lamp number {number // SYSTEMS} on the stairs." for number in story],
        "criterion": np.tile(np.repeat(CRITERIA, len(WHO)), stories),
        "judge": np.where(judged, who, None),
        "rater": np.where(judged, None, who),
        "rating": ratings,
    }
    told = [" ".join(rng.choices(WORDS, k=60)) for _ in range(stories)] if texts else []
    return pd.DataFrame(columns | ({"text": np.repeat(told, EACH)} if texts else {}))


def tables(stories: int) -> dict[str, pd.DataFrame]:
    """Name -> a table that is imported without an option."""
    plain, told = long_table(stories, texts=False), long_table(stories, texts=True)
    raters = plain.assign(rater=plain["judge"].fillna(plain["rater"])).drop(columns="judge")
    raters = raters.rename(columns={"story": "id", "rating": "score"})
    wide = plain[plain["criterion"] == CRITERIA[0]].assign(who=lambda frame: frame["judge"].fillna(frame["rater"]))
    wide = wide.pivot_table(index=["story", "system", "story_prompt"], columns="who", values="rating").reset_index()
    return {"long": plain, "with texts": told, "judges among raters": raters, "wide": wide}


def write_tables(folder: Path, stories: int) -> None:
    for name, frame in tables(stories).items():
        frame.to_csv(folder / f"{name}.csv", index=False)
        frame.to_parquet(folder / f"{name}.parquet", index=False)


def main() -> int:
    """Measure and print."""
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--stories", type=int, default=STORIES)
    made.add_argument("--write", type=Path, help="folder to write the tables to, and nothing else")
    given = made.parse_args()
    if given.write is not None:
        write_tables(given.write, given.stories)
        return 0
    compile_all()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as place:
        # In a process of its own: a child's peak counts what its parent holds when it starts.
        words = [sys.executable, "-m", "tests.benchmarks.imports", "--write", place, "--stories", str(given.stories)]
        subprocess.run(words, check=True)
        for path in sorted(Path(place).iterdir()):
            found = measured([sys.executable, "-m", "judge", "import", str(path), "-o", f"{path}.run"])
            if found.code:
                raise SystemExit(f"judge import ended with exit code {found.code}")
            figures += [
                Figure(f"{path.name}: CPU time", found.cpu_s, "<= 30", "s"),
                Figure(f"{path.name}: peak resident set", found.peak_mb, "<= 600", "MB"),
            ]
    show("judge import", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
