"""Stories by a small real model, from the request to the report: every command of docs/generating_stories.md, timed.

    python -m tests.benchmarks.generate                    # ten story-prompts, two stories each
    python -m tests.benchmarks.generate --prompts 1 --tokens 24 --writer openai/mock --base-url URL

The model that writes also rates, in an Eval-Prompt that asks for reasons; the control stands beside it in every table.
Needs `local/smollm2` (extra `local`), and for `judge explain` the extra `explain` (`--embedding tfidf` needs no model).
A command that fails is shown with its words, and the rest goes on.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import orjson
import yaml

from judge.asking.execution.preparation import open_story_prompts
from tests.benchmarks.figures import Figure, show


def main() -> None:
    """Write the definitions, run every command, print a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompts", type=int, default=10)
    parser.add_argument("--each", type=int, default=2)
    parser.add_argument("--tokens", type=int, default=120)
    parser.add_argument("--dataset", default="demo")
    parser.add_argument("--writer", default="local/smollm2")
    parser.add_argument("--judge", default="local/smollm2")
    parser.add_argument("--embedding", default="tfidf", help="folder of an embedding model, or tfidf")
    parser.add_argument("--base-url")
    parser.add_argument("-o", "--output", type=Path, help="folder to keep everything in")
    said = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = said.output or Path(name)
        _define(folder, said)
        figures = [_timed(words.format(embedding=said.embedding), folder) for words in COMMANDS]
    show("Stories from the request to the report", figures)


COMMANDS = (
    "data generate gen --quiet",
    "data stories gen -o run/stories.jsonl --set cut=true",
    "run run --quiet",
    "rank run",
    "systems run",
    "stress make run/stories.jsonl -o stressed/stories.jsonl --perturbation typos",
    "run stressed --quiet",
    "stress report stressed",
    "explain run --model {embedding}",
    "report run -o report.html",
)
"""In the order of docs/generating_stories.md; `rank` reads the preferences that the ratings imply."""


def _define(folder: Path, said: argparse.Namespace) -> None:
    wanted = list(open_story_prompts(said.dataset).read())[: said.prompts]
    for name in ("gen", "run", "stressed"):
        (folder / name).mkdir(parents=True)
    prompts = [{"id": one.id, "story_prompt": one.text} for one in wanted]
    (folder / "gen" / "prompts.jsonl").write_bytes(
        b"".join(orjson.dumps(one, option=orjson.OPT_APPEND_NEWLINE) for one in prompts)
    )
    gen = {
        "story_prompts": "prompts.jsonl",
        "writer": said.writer,
        "writer_prompts": ["story"],
        "stories_each": said.each,
        "words": [40, 80],
        "generation": {"temperature": 0.8, "max_tokens": said.tokens, "seed": 1},
        **({"base_url": said.base_url} if said.base_url else {}),
    }
    rate = {
        "dataset": "stories.jsonl",
        "judge": said.judge,
        "criteria": {"set": "hanna", "only": ["Coherence", "Engagement"]},
        "eval_prompts": ["ep2"],
        "generation": {"temperature": 0.7, "max_tokens": 60, "seed": 1},
    }
    for name, data in (("gen/generate.yaml", gen), ("run/run.yaml", rate), ("stressed/run.yaml", rate)):
        (folder / name).write_text(yaml.safe_dump(data), encoding="utf-8")


def _timed(words: str, folder: Path) -> Figure:
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "judge", *words.split()], cwd=folder, capture_output=True, text=True, check=False
    )
    seconds = time.perf_counter() - began
    sys.stderr.write(f"judge {words}: {seconds:.1f} s\n")
    if done.returncode:
        sys.stderr.write(f"judge {words}: exit code {done.returncode}\n{done.stderr}\n")
    ended = "" if not done.returncode else f" (exit code {done.returncode})"
    return Figure(f"judge {words}{ended}", seconds, unit="s")


if __name__ == "__main__":
    main()
