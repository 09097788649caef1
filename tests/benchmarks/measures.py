"""Speed of string measures on pairs of 500 words, and, asked for, what SmolLM2 says of MANS-ROC (four minutes).

`python -m tests.benchmarks.measures [--likelihood]`; the second needs JUDGE_DATA and the environment of test-measures.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from judge.base.records import Story
from judge.inputs.datasets import open_dataset
from judge.lab.measures import Undefined, named, of_set, rouge
from judge.lab.measures.session import measured
from tests.benchmarks.figures import Figure, show

PAIRS, WORDS, REFERENCES = 1000, 500, 200


def pairs() -> list[Story]:
    """Stories of 500 words in a row out of the demo's, with one of 200 references each."""
    words = [word for story in open_dataset("demo").stories() for word in story.text.split()]
    drawn = random.Random(1)

    def text() -> str:
        start = drawn.randrange(len(words))
        return " ".join((words[start:] + words)[:WORDS])

    references = [text() for _ in range(REFERENCES)]
    return [Story(str(i), "A light at sea.", "x", text(), drawn.choice(references)) for i in range(PAIRS)]


def speed() -> list[Figure]:
    """CPU seconds of all string measures, of ROUGE, and of the cache."""
    stories, wanted = pairs(), of_set("all")
    rouge.rouge_scores([("a text", "a text")])
    with tempfile.TemporaryDirectory() as folder:
        seconds = []
        for _ in range(2):
            began = time.process_time()
            found = measured(stories, wanted, cache=Path(folder), skip=True)
            seconds.append(time.process_time() - began)
    began = time.process_time()
    rouge.rouge_scores([(story.text, story.reference or "") for story in stories])
    alone = time.process_time() - began
    remark = f"{len(found.measures)} measures of {PAIRS} pairs of {WORDS} words"
    return [
        Figure("all string measures", seconds[0], "<= 20", "CPU s", remark),
        Figure("ROUGE, all 24 scores", alone, "<= 4", "CPU s"),
        Figure("the same from the cache", seconds[1], "<= 1", "CPU s"),
    ]


def likelihood() -> list[Figure]:
    """Pearson's r of SmolLM2's numbers with people on MANS-ROC."""
    stories = list(open_dataset("mans_roc").stories())
    people = [float(np.mean([rating.value for rating in story.ratings])) for story in stories]
    found = measured(stories, named(["mean-log-p", "perplexity"]), models={"lm": "local/smollm2"})
    figures = []
    for name, sign, wanted in (("mean-log-p", 1, 0.2999), ("perplexity", -1, 0.2487)):
        values = [np.nan if isinstance(value, Undefined) else sign * value for value in found.by_measure[name]]
        r = float(np.corrcoef(values, people)[0, 1])
        figures.append(Figure(f"{name}: distance from {wanted}", abs(r - wanted), "<= 0.003", "", f"r {r:.4f}"))
    return figures


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--likelihood", action="store_true", help="also SmolLM2 on MANS-ROC")
    chosen = parser.parse_args()
    show("Measures", speed())
    if chosen.likelihood and os.environ.get("JUDGE_DATA"):
        show("Measures: SmolLM2 on MANS-ROC", likelihood())
    return 0


if __name__ == "__main__":
    sys.exit(main())
