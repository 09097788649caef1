"""Runs to look at: stories and answers with markup in them, two judges, made by the program itself."""

from __future__ import annotations

import html
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson

from judge.answers.journal import JournalReader
from judge.base.errors import RunFolderError
from tests.web.conftest import Served

ATTACK = "<script>document.title = 'taken'</script><img src=x onerror=\"document.title='taken'\">"
NASTY = "a/b <b>&\"' ü.1"
CRITERIA = ("Coherence", "Engagement")
SYSTEMS = ("Human", "GPT & Co", "<i>tiny</i>")

_ANSWERS: list[dict[str, Any]] = [
    {"text": f"Rating: 4\n\nExplanation: {ATTACK} and {{{{ 7 * 7 }}}} hold it together."},
    {"text": "I would rate this story a 3. The middle is a Straße too long."},
    {"text": "I cannot put a number on this."},
    {"text": '{"rating": 2, "explanation": "nobody wants anything"}'},
    {"text": "Rating: 9", "finish_reason": "stop"},
    {"text": "Rating: 5 because the opening", "finish_reason": "length"},
    {"text": "4.5", "reasoning": f"Thinking of a 1 first. {ATTACK}"},
]


def stories() -> list[dict[str, Any]]:
    """Nine stories: three story-prompts by three systems; one has a nasty name, one holds an attack."""
    found = []
    for prompt in range(3):
        for number, system in enumerate(SYSTEMS):
            name = NASTY if (prompt, number) == (0, 1) else f"p{prompt}-s{number}"
            text = f"Story {number} of prompt {prompt}. " + "The keeper lit the lamp and waited for the ship. " * (
                4 + prompt
            )
            text += ATTACK if number == 2 else ""
            ratings = [
                {"rater": f"w{rater}", "criterion": criterion, "value": 1 + (prompt + number + rater) % 5}
                for rater in range(2)
                for criterion in CRITERIA
            ]
            found.append(
                {
                    "id": name,
                    "story_prompt": f"Prompt {prompt}: {ATTACK}" if prompt == 1 else f"Prompt {prompt}",
                    "system": system,
                    "text": text,
                    "reference": f"A reference for prompt {prompt}.",
                    "ratings": ratings,
                }
            )
    return found


def define(folder: Path, name: str, **keys: Any) -> Path:
    """Write stories and run.yaml of a run; returns its folder."""
    run = folder / name
    run.mkdir(parents=True)
    (run / "stories.jsonl").write_bytes(b"".join(orjson.dumps(s, option=orjson.OPT_APPEND_NEWLINE) for s in stories()))
    (run / "script.jsonl").write_bytes(b"".join(orjson.dumps(a, option=orjson.OPT_APPEND_NEWLINE) for a in _ANSWERS))
    definition = {
        "name": name,
        "dataset": "stories.jsonl",
        "judge": "surface",
        "criteria": {"set": "hanna", "only": list(CRITERIA)},
        "eval_prompts": ["ep1", "ep2", "ep4"],
        "repeats": 2,
        "generation": {"temperature": 1, "seed": 3},
        **keys,
    }
    (run / "run.yaml").write_bytes(orjson.dumps(definition))  # JSON is YAML
    return run


def start(run: Path, *more: str) -> subprocess.Popen[bytes]:
    """`judge run RUN` as a process of its own."""
    command = [sys.executable, "-m", "judge", "run", str(run), "--quiet", *more]
    return subprocess.Popen(command, cwd=run, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=os.environ)


def finish(process: subprocess.Popen[bytes], *codes: int) -> None:
    """Wait for it and see that it ended with one of these codes (0 where none is named)."""
    said = process.communicate(timeout=120)[1]
    assert process.returncode in (codes or (0,)), said.decode()


def make_run(folder: Path, name: str = "tale") -> Path:
    """A run by two judges, made once and copied: the control, and one that recites answers good and bad."""
    return Path(shutil.copytree(Path(_made().name) / "tale", folder / name))


@cache
def _made() -> TemporaryDirectory[str]:
    folder = TemporaryDirectory()
    finish(start(define(Path(folder.name), "tale"), "--judge", "surface", "--judge", "scripted/script.jsonl"))
    return folder


def scripted(run: Path) -> Path:
    """The result folder of the judge that recites."""
    return next(path for path in run.iterdir() if path.name.startswith("scripted"))


def attempts(journal: Path) -> int:
    """How many attempts a journal holds; 0 while there is none."""
    if not journal.is_file():
        return 0
    try:
        with JournalReader(journal) as reader:
            return reader.last_attempt()
    except RunFolderError:  # it is being made just now
        return 0


def until(what: Callable[[], Any], seconds: float = 180, pause: float = 0.05) -> Any:
    """Ask until the answer is true, and give it; jobs of the background wait for everything else on the machine."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := what():
            return found
        time.sleep(pause)
    raise AssertionError(f"not within {seconds} s")


_PART = re.compile(r'(<div[^>]* data-part="([^"]+)"[^>]*>)<p class="waiting".*?</div>', re.DOTALL)
"""A part of a page that its script fetches."""


def computed(server: Served, path: str) -> str:
    """The page at `path` once nothing in it waits for the background any more."""

    def page() -> str | None:
        status, _, text = server.ask(path)
        assert status == 200, text
        text = _PART.sub(lambda part: f"{part[1]}{server.ask(html.unescape(part[2]))[2]}</div>", text)
        waits = ('class="waiting"', "data-until", "read so far")
        return None if any(one in text for one in waits) else text

    return str(until(page, pause=0.2))
