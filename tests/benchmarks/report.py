"""How long `judge report` takes on 150,000 judgments, the size of the page, and its memory. Prints; never asserts.

2,083 made-up stories, six criteria, four Eval-Prompts, three repeats: by a scripted judge whose answers are English of
450 characters (a hundred distinct ones, so the parser reads few), and by the control, whose explanations hold many
numbers, which the parser has to weigh. Beside it stands `judge correlate`, which reads the same journal, so that what
the page costs beyond reading can be told.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.figures import Figure, show
from tests.benchmarks.judge_run import Process, compile_all, measured

STORIES, SYSTEMS, ANSWERS = 2083, 10, 100
CRITERIA = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")
ENGLISH = (
    "the story opens with a storm and its hero never learns why because every scene that follows looks away from what "
    "was promised though some images stay clear warm surprising and the ending returns to where it began"
)
WORDS = tuple(ENGLISH.split())


def write_run(folder: Path, judge: str, stories: int) -> Path:
    """A definition with its stories and three known raters; not asked yet."""
    rng = random.Random(1)
    folder.mkdir()
    with (folder / "stories.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(stories):
            prompt, system = divmod(number, SYSTEMS)
            quality = rng.gauss(2.5 + 0.1 * system, 0.8)
            ratings = [
                {"rater": f"w{rater}", "criterion": name, "value": _point(quality, rng)}
                for name in CRITERIA
                for rater in range(3)
            ]
            text = " ".join(rng.choices(WORDS, k=rng.randrange(150, 400)))
            row = {"id": f"{prompt}-{system}", "story_prompt": f"Write of lamp {prompt}.", "system": f"system {system}"}
            stream.write(json.dumps(row | {"text": text, "reference": None, "ratings": ratings}) + "\n")
    if judge == "scripted":
        with (folder / "answers.jsonl").open("w", encoding="utf-8") as stream:
            for _ in range(ANSWERS):
                said = " ".join(rng.choices(WORDS, k=80))
                stream.write(
                    json.dumps({"text": f"Rating: {rng.randrange(1, 6)}\n\nThe reason is that {said}."}) + "\n"
                )
    named = f"scripted/{folder / 'answers.jsonl'}" if judge == "scripted" else judge
    (folder / "run.yaml").write_text(
        f"name: bench\ndataset: stories.jsonl\njudge: {named}\ncriteria: {{set: hanna}}\n"
        "eval_prompts: [ep1, ep2, ep3, ep5]\nrepeats: 3\ngeneration: {temperature: 1.0, seed: 7}\n",
        encoding="utf-8",
    )
    return folder


def _point(quality: float, rng: random.Random) -> int:
    return min(5, max(1, round(quality + rng.gauss(0, 0.9))))


def ended(*arguments: str | Path) -> Process:
    """One `judge ...` in a process of its own."""
    found = measured([sys.executable, "-m", "judge", *map(str, arguments)])
    if found.code:
        raise SystemExit(f"judge {arguments[0]} ended with exit code {found.code}")
    return found


def main() -> int:
    """Measure and print."""
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--stories", type=int, default=STORIES)
    given = made.parse_args()
    compile_all()
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory() as place:
        for judge in ("scripted", "surface"):
            folder = write_run(Path(place) / judge, judge, given.stories)
            ended("run", folder, "--quiet")
            page = folder / "report.html"
            report = ended("report", folder, "-o", page, "--quiet")
            other = ended("correlate", folder, "--format", "csv", "-o", folder / "correlate.csv")
            judgments = given.stories * len(CRITERIA) * 4 * 3
            figures += [
                Figure(f"{judge}: judge report, {judgments:,} judgments", report.wall_s, "<= 60", "s"),
                Figure(
                    f"{judge}: its CPU time", report.cpu_s, unit="s", remark=f"judge correlate: {other.cpu_s:.1f} s"
                ),
                Figure(f"{judge}: over judge correlate, CPU", report.cpu_s / other.cpu_s),
                Figure(f"{judge}: peak resident set", report.peak_mb, unit="MB"),
                Figure(f"{judge}: the page", page.stat().st_size / 1e6, "<= 6", "MB"),
            ]
    show("judge report", figures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
