"""How long tables of a run of short answers take, whole processes, the first and those after it. Prints; never asserts.

A run of 6 criteria x 5 Eval-Prompts x 5 repeats whose short answers come in several forms is written straight into its
journal, as a judge's answers would stand there: 162,000 on 1,080 stories and 1,000,050 on 6,667. Then `judge coverage`,
`judge consistency` and `judge correlate --ci none` follow one another, the first with nothing in `derived/`.
`--folder` keeps the runs, `--only small` measures one of them.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import random
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from judge.asking.execution.preparation import prepare
from judge.asking.plan import make_plan
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder, write_manifest
from tests.benchmarks.figures import Figure, show
from tests.benchmarks.judge_run import Process, compile_all, measured, story_text

CRITERIA = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")
EVAL_PROMPTS = ("ep1", "ep2", "ep3", "ep4", "ep5")
SMALL, LARGE = 1_080, 6_667
"""Stories of the two runs; HANNA has 1,056."""

REPEATS, RATERS, SYSTEMS = 5, 3, 10
TABLES = {
    "judge coverage": ("coverage",),
    "judge consistency": ("consistency",),
    "judge correlate --ci none": ("correlate", "--ci", "none"),
}

FORMS = (
    "{n}",
    "Rating: {n}",
    "{n}/5",
    "**{n}**",
    "Score: {n} out of 5",
    "I would give this story a {n}.",
    "{n} - the {thing} is {word}, and the end {word}.",
    "Rating: {n}\nExplanation: the {thing} is {word}.",
    '{{"rating": {n}}}',
    '{{"rating": {n}, "explanation": "The {thing} is {word}."}}',
    "The {thing} is {word}. {criterion}: {n}",
    "Between {n} and {m}.",
    "I cannot rate this story.",
    "",
)
"""Short answers; the earlier ones are the more frequent."""

THINGS = ("plot", "setting", "voice", "ending", "dialogue", "opening", "pace", "tone")
WORDS = ("clear", "thin", "vivid", "rushed", "plain", "moving", "uneven", "fresh")


def write_run(folder: Path, stories: int) -> Path:
    """A run whose journal holds all answers, in the order in which a run asks; its folder."""
    if (folder / "openai-mock" / "journal.sqlite").is_file():
        return folder
    folder.mkdir(parents=True)
    rng = random.Random(7)
    with (folder / "stories.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(stories):
            quality = rng.gauss(3, 0.8)
            given = [
                {"rater": f"w{r}", "criterion": name, "value": _point(rng, quality)}
                for name in CRITERIA
                for r in range(RATERS)
            ]
            stream.write(json.dumps(_story(number, given)) + "\n")
    spec: dict[str, Any] = {
        "name": "short",
        "dataset": "stories.jsonl",
        "judge": "openai/mock",
        "criteria": "hanna",
        "eval_prompts": list(EVAL_PROMPTS),
        "repeats": REPEATS,
        "generation": {"temperature": 1, "max_tokens": 64},
    }
    (folder / "run.yaml").write_text(json.dumps(spec), encoding="utf-8")
    result = ResultFolder(folder / "openai-mock")
    result.path.mkdir()
    prepare(make_plan(parse_run_spec(spec, "benchmark"), folder=folder), folder, result)
    settings = {"temperature": {"asked": 1, "state": "unknown", "evidence": "nothing is known", "source": "none"}}
    write_manifest(result.manifest, {"judge": "openai/mock", "in_force": {"repeats": REPEATS, "settings": settings}})
    with closing(sqlite3.connect(result.journal)) as db:
        # Keys are in no order: without room for all pages each would be written many times in this one transaction.
        db.execute("PRAGMA cache_size = -6000000")
        db.execute("PRAGMA synchronous = OFF")
        _write_answers(db, stories)
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        db.execute("PRAGMA journal_mode = DELETE")
    return folder


def _story(number: int, ratings: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"story-{number:06d}",
        "story_prompt": f"Write about harbour number {number // SYSTEMS}.",
        "system": f"system-{number % SYSTEMS}",
        "text": story_text(number, 600),
        "reference": "The lamp was lit again, and nobody said who had done it.",
        "ratings": ratings,
    }


def _point(rng: random.Random, quality: float) -> int:
    return min(5, max(1, round(quality + rng.gauss(0, 0.8))))


def _write_answers(db: sqlite3.Connection, stories: int) -> None:
    rng = random.Random(11)
    weights = [12, 10, 6, 4, 6, 4, 6, 8, 6, 8, 6, 1, 1, 0.5]
    db.execute("INSERT INTO sessions (started, executor, ended) VALUES (1.7e9, 'async', 'done')")
    session = db.execute("SELECT max(id) FROM sessions").fetchone()[0]
    started = 1.7e9
    for number in range(stories):
        quality = rng.gauss(3, 0.8)
        queries, attempts, responses = [], [], []
        for name, prompt in ((c, e) for c in CRITERIA for e in EVAL_PROMPTS):
            story = f"story-{number:06d}"
            key = "b2:" + hashlib.blake2b(f"{story}/{name}/{prompt}".encode(), digest_size=16).hexdigest()
            queries.append((key, story, name, prompt, ""))
            for repeat, form in enumerate(rng.choices(FORMS, weights, k=REPEATS)):
                n = _point(rng, quality)
                text = form.format(n=n, m=n % 5 + 1, thing=rng.choice(THINGS), word=rng.choice(WORDS), criterion=name)
                started += 0.01
                attempts.append((key, repeat, started, session))
                responses.append((key, repeat, text, 500, len(text) // 4 + 1, "mock-1"))
        db.executemany("INSERT INTO queries VALUES (?, ?, ?, ?, ?)", queries)
        db.executemany(
            "INSERT INTO attempts (query_key, repeat, outcome, final, started, seconds, session, status)"
            " VALUES (?, ?, 'answered', 1, ?, 0.5, ?, 200)",
            attempts,
        )
        db.executemany("INSERT INTO responses VALUES (?, ?, ?, 'stop', NULL, ?, ?, 0, NULL, ?)", responses)
    db.commit()


def rounds(folder: Path, count: int) -> Iterator[dict[str, Process]]:
    """The tables one after the other, `count` times; nothing derived is there when each round begins."""
    for _ in range(count):
        shutil.rmtree(folder / "openai-mock" / "derived", ignore_errors=True)
        found = {}
        for name, arguments in TABLES.items():
            first, *rest = arguments
            ended = measured([sys.executable, "-m", "judge", first, str(folder), *rest])
            if ended.code:
                raise SystemExit(f"{name} ended with exit code {ended.code}")
            found[name] = ended
        yield found


def main() -> int:
    """Measure and print."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--rounds", type=int, default=3, help="rounds of each size (default 3)")
    made.add_argument("--folder", type=Path, help="make the runs here and keep them")
    made.add_argument("--only", choices=["small", "large"], help="one of the two runs")
    given = made.parse_args()
    compile_all()
    with tempfile.TemporaryDirectory(prefix="judge-second-") as place:
        base = given.folder or Path(place)
        figures = []
        if given.only != "large":
            figures += _small(write_run(base / "small", SMALL), given.rounds)
        if given.only != "small":
            figures += _large(write_run(base / "large", LARGE), given.rounds)
    show(f"tables of short answers, whole processes, best of {given.rounds}", figures)
    return 0


def _small(folder: Path, count: int) -> list[Figure]:
    """The first table without a bar, each later one with its time and beside the first."""
    first, *later = TABLES
    found = list(rounds(folder, count))
    best = {name: min(one[name].wall_s for one in found) for name in TABLES}
    figures = [Figure(f"162,000: {first}, first", best[first], unit="s", remark=_memory(found, first))]
    for name in later:
        figures.append(Figure(f"162,000: {name}", best[name], "<= 1.5", "s", _memory(found, name)))
        figures.append(Figure("    beside the first", best[name] / best[first], "<= 0.333"))
    return figures


def _large(folder: Path, count: int) -> list[Figure]:
    """Time and memory; the bars are those of a second table, the third stands beside it."""
    first, second, third = TABLES
    found = list(rounds(folder, count))
    best = {name: min(one[name].wall_s for one in found) for name in TABLES}
    return [
        Figure(f"1,000,050: {first}, first", best[first], unit="s", remark=_memory(found, first)),
        Figure(f"1,000,050: {second}", best[second], "<= 5", "s"),
        Figure("    peak memory", max(one[second].peak_mb for one in found) / 1024, "<= 1", "GB"),
        Figure(f"1,000,050: {third}", best[third], unit="s", remark=_memory(found, third)),
    ]


def _memory(found: list[dict[str, Process]], name: str) -> str:
    return f"{max(one[name].peak_mb for one in found):.0f} MB"


if __name__ == "__main__":
    sys.exit(main())
