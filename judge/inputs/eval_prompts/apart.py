"""Renders templates that do more than show values (see `judge.inputs.eval_prompts.sandbox`) in one separate process,
with limits on time, memory and length. It starts when the first is compiled, ends with its parent, and is killed if it
takes too long."""

from __future__ import annotations

import atexit
import json
import os
import pickle
import select
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, cast

from judge.base.errors import TemplateError

# For one rendering.
SECONDS = 5.0

# Seconds after which a process that does not say itself that it took too long is killed.
GRACE = 1.0

# Seconds in which the process must be there, on a busy machine.
STARTING = 60.0

# Bytes of the rendering process: a template that builds larger texts fails there, and not in the program itself.
MEMORY = 1 << 30

# Bytes of a rendered text.
LONGEST = 16 << 20

# Bytes that give a message's length: a pipe keeps no borders between messages.
LENGTH = 8


class TooLongError(Exception):
    """Rendering exceeded its time limit; raised in the process that renders."""


class Apart:
    """One template that is rendered in a separate process."""

    filename = None

    def __init__(self, source: str, file: Path, first_line: int, offered: Mapping[str, str]) -> None:
        self._template = {"source": source, "file": str(file), "first_line": first_line, "offered": dict(offered)}
        self._file = file
        self.uses = frozenset(map(str, _ask(file, {"template": self._template, "values": None})["uses"]))
        """The values that it mentions."""

    def render(self, values: dict[str, Any]) -> str:
        """The template's text for these values. Raises TemplateError."""
        return str(_ask(self._file, {"template": self._template, "values": values})["text"])


class _Process:
    def __init__(self) -> None:
        # -P: a folder in which somebody happens to work is no place to import modules from.
        command = [sys.executable, "-P", "-c", "from judge.inputs.eval_prompts.sandbox import serve; serve()"]
        own = str(Path(__file__).resolve().parents[3])
        inherited = os.environ.get("PYTHONPATH")
        path = os.pathsep.join([own, inherited]) if inherited else own
        self.pid = os.getpid()
        self.child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path}
        )
        self.read(time.monotonic() + STARTING)

    def ask(self, asked: dict[str, Any]) -> bytes:
        stream = cast("IO[bytes]", self.child.stdin)
        body = pickle.dumps(asked)
        stream.write(len(body).to_bytes(LENGTH, "big") + body)
        stream.flush()
        return self.read(time.monotonic() + SECONDS + GRACE)

    def read(self, deadline: float) -> bytes:
        # `deadline` is on the monotonic clock.
        length = int.from_bytes(self._bytes(LENGTH, deadline), "big")
        if length > LONGEST + (1 << 16):
            raise EOFError("too long")
        return self._bytes(length, deadline)

    def _bytes(self, count: int, deadline: float) -> bytes:
        stream = cast("IO[bytes]", self.child.stdout)
        content = b""
        while len(content) < count:
            if os.name != "nt" and not select.select([stream], [], [], max(0.0, deadline - time.monotonic()))[0]:
                raise TimeoutError
            piece = os.read(stream.fileno(), count - len(content))
            if not piece:
                raise EOFError
            content += piece
        return content

    def end(self) -> None:
        for stream in (self.child.stdin, self.child.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    continue
        self.child.kill()
        self.child.wait()


_lock = threading.Lock()
_running: list[_Process] = []


def _ask(file: Path, asked: dict[str, Any]) -> dict[str, Any]:
    with _lock:
        try:
            answer: dict[str, Any] = json.loads(_process().ask(asked))
        except TimeoutError:
            _end()
            raise TemplateError(f"{file}: rendering takes longer than {SECONDS:g} s") from None
        except (EOFError, OSError, ValueError):
            _end()
            raise TemplateError(f"{file}: rendering needs more memory or a longer text than any prompt") from None
    if "error" in answer:
        raise TemplateError(str(answer["error"]), hint=answer["hint"])
    return answer


def _process() -> _Process:
    if _running and _running[0].pid != os.getpid():
        _running.clear()  # a fork's: it belongs to the parent
    if not _running:
        _running.append(_Process())
        atexit.register(_end)
    return _running[0]


def _end() -> None:
    while _running:
        process = _running.pop()
        if process.pid == os.getpid():
            process.end()
