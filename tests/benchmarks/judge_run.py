"""Starts the program under measurement and reads what it left. Never measures inside it."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.benchmarks.options import ROOT

LABEL = r"story-[0-9]{6}"
"""Every story says its id in its text, so that the server's list of arrivals can be told apart."""

_SENTENCES = (
    "The lamp on the quay had been out for a week before anyone thought to ask who used to light it. ",
    "Marta counted the boats twice and came to a different number each time, and wrote down both. ",
    "By noon the rain had turned the road into something that only the goats still believed in. ",
    "He kept the letter in his left boot, where it grew soft and lost, one after another, its words. ",
    "Nobody at the table spoke of the chair, and so it stayed where it was, and was dusted on Sundays. ",
)


@dataclass(frozen=True, slots=True)
class Process:
    """How a process went: exit code, wall and CPU seconds, peak resident set in MB, start and end (since 1970)."""

    code: int
    wall_s: float
    cpu_s: float
    peak_mb: float
    started: float
    ended: float


@dataclass(frozen=True, slots=True)
class Run:
    """A run definition in a folder of its own, with the stories it needs."""

    definition: Path
    command: tuple[str, ...]

    def start(self, *more: str) -> subprocess.Popen[bytes]:
        """Start `judge run` on it."""
        return start([*self.command, "run", str(self.definition), "--quiet", *more])

    def finish(self, *more: str) -> Process:
        """Run it to its end."""
        return measured([*self.command, "run", str(self.definition), "--quiet", *more])

    def ask(self, *arguments: str) -> Process:
        """Another command of the program, on this run: `ask("run", "--retry", "--quiet")`."""
        first, *rest = arguments
        return measured([*self.command, first, str(self.definition), *rest])

    @property
    def journal(self) -> Path:
        """The journal, once there is one."""
        found = sorted(self.definition.parent.glob("*/journal.sqlite"))
        return found[0] if found else self.definition.parent / "journal.sqlite"

    def committed(self) -> set[str]:
        """Ids of the stories whose answers are committed."""
        sql = "SELECT q.story FROM responses r JOIN queries q ON q.key = r.query_key"
        return {story for (story,) in self._rows(sql)}

    def answers(self) -> int:
        """How many answers are committed."""
        return int(self._rows("SELECT count(*) FROM responses")[0][0])

    def span(self) -> tuple[float, float]:
        """First request sent and last commit, seconds since 1970, as the journal has them."""
        [(first,)] = self._rows("SELECT min(started) FROM attempts")
        [(last,)] = self._rows("SELECT max(last_commit) FROM sessions")
        return first, last

    def _rows(self, sql: str) -> list[tuple[Any, ...]]:
        if not self.journal.exists():
            return [(0,)] if "count" in sql else []
        with closing(sqlite3.connect(self.journal)) as database:
            return database.execute(sql).fetchall()


def environment() -> dict[str, str]:
    """The environment of measured processes: bytecode is kept, loopback goes round any proxy."""
    kept = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "NO_PROXY": "127.0.0.1", "OPENAI_API_KEY": "none", "PYTHONPATH": str(ROOT)}


def start(command: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start a process in the measuring environment; its errors go to our stderr."""
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment(), cwd=tempfile.gettempdir())


def measured(command: Sequence[str]) -> Process:
    """Run a process to its end."""
    began = time.time()
    return wait(start(command), began)


def wait(process: subprocess.Popen[bytes], began: float) -> Process:
    """Wait for a process and take the kernel's account of it."""
    _, status, usage = os.wait4(process.pid, 0)
    ended = time.time()
    process.returncode = os.waitstatus_to_exitcode(status)
    cpu = usage.ru_utime + usage.ru_stime
    return Process(process.returncode, ended - began, cpu, usage.ru_maxrss / 1024, began, ended)


def compile_all() -> None:
    """Compile the package and everything it imports, so that no figure holds a compiler's time."""
    for name in ("judge", "tests/benchmarks"):
        subprocess.run([sys.executable, "-m", "compileall", "-q", name], check=False, cwd=ROOT, env=environment())


def story_text(number: int, chars: int) -> str:
    """A story of so many characters that says its id once, at the start."""
    body = "".join(_SENTENCES[(number + i) % len(_SENTENCES)] for i in range(chars // 90 + 1))
    return f"story-{number:06d} {body}"[:chars]


def write_run(folder: Path, stories: int, url: str, given: argparse.Namespace, **changes: Any) -> Run:
    """A new folder with stories.jsonl and run.yaml (JSON is YAML); `changes` are keys of run.yaml."""
    folder.mkdir(parents=True)
    data = folder / "stories.jsonl"
    with data.open("w", encoding="utf-8") as stream:
        for number in range(stories):
            line: dict[str, Any] = {
                "id": f"story-{number:06d}",
                "story_prompt": "Write about a harbour in which something is no longer lit.",
                "system": f"system-{number % 5}",
                "text": story_text(number, given.chars),
                "reference": None,
                "ratings": [],
            }
            stream.write(json.dumps(line) + "\n")
    definition = folder / "run.yaml"
    spec = {
        "name": "bench",
        "dataset": str(data),
        "judge": "openai/mock",
        "criteria": "overall",
        "eval_prompts": ["ep1"],
        "repeats": 1,
        "base_url": url,
        "concurrency": 64,
        "generation": {"temperature": 0.7, "max_tokens": 64},
        **changes,
    }
    definition.write_text(json.dumps(spec, indent=1), encoding="utf-8")
    return Run(definition, tuple(given.command))


@contextmanager
def workplace(given: argparse.Namespace) -> Iterator[Path]:
    """A folder to work in, removed at the end unless the options keep it."""
    folder = Path(tempfile.mkdtemp(prefix="judge-bench-")) if given.keep is None else given.keep
    folder.mkdir(parents=True, exist_ok=True)
    try:
        yield folder
    finally:
        if given.keep is None:
            shutil.rmtree(folder)
