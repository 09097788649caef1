"""Runs judge on one place that holds a key, and searches everything that was written or printed for it."""

from __future__ import annotations

import base64
import contextlib
import io
import os
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock
from urllib.parse import quote

import yaml

from judge.base import redaction
from judge.cli.main import main
from tests.credentials.echo_server import EchoServer
from tests.credentials.places import Place

STORY = '{"id": "a", "story_prompt": "A storm", "system": "m", "text": "The sea rose and the keeper lit the lamp."}\n'
LEAST = 12
"""Characters of a key in a row that give it away."""


def leaks(place: Place, folder: Path, server: EchoServer) -> list[str]:
    """Where the key stands after `judge run` on the place: files, stdout, stderr; and what else went wrong."""
    given = _write(place, folder, server.url)
    server.start(place.reply)
    words = ["run", str(given), "--set", "max_attempts=1", *place.words]
    code, out, error = _judge(words, place, folder)
    found = [name for name, text in (("stdout", out), ("stderr", error)) if holds(text, place.key)]
    found += [name for name, text in written(folder, given.parent) if holds(text, place.key)]
    if code not in (0, 1, 2, 3) or "Traceback" in error:
        found.append(f"exit code {code}: {error[-300:]}")
    if place.refused and (code == 0 or server.received):
        found.append(f"exit code {code} after {len(server.received)} requests: the definition was not refused")
    return found


def holds(text: str, key: str) -> bool:
    """Whether a text holds a key, or enough of it, as it stands or encoded. Shares no code with what is tested."""
    low = text.lower()
    encoded = [base64.b64encode(b"x" * n + key.encode()).decode()[n + 1 : -5] for n in range(3)]
    for form in (key, quote(key, safe=""), *encoded, *(e.replace("+", "-").replace("/", "_") for e in encoded)):
        least = min(LEAST, len(form))
        # The first characters of a provider's keys are the same for everybody.
        start = 6 if form == key and len(key) > 2 * LEAST else 0
        if any(form[i : i + least].lower() in low for i in range(start, len(form) - least + 1)):
            return True
    return False


def written(folder: Path, given: Path) -> Iterator[tuple[str, str]]:
    """Every file but those that were given, as text; of databases each row too, since pages part long texts."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or (path.parent == given and path.name in ("run.yaml", "stories.jsonl", "mine.jinja")):
            continue
        yield str(path.relative_to(folder)), path.read_bytes().decode("utf-8", "replace")
        if path.suffix == ".sqlite":
            with contextlib.closing(sqlite3.connect(path)) as db:
                for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
                    yield f"{path.name}: {table}", str(db.execute(f"SELECT * FROM {table}").fetchall())


def _write(place: Place, folder: Path, url: str) -> Path:
    run = folder / "run"
    run.mkdir(parents=True)
    (run / "stories.jsonl").write_text(STORY, encoding="utf-8")
    usual = {
        "name": "planted",
        "dataset": "stories.jsonl",
        "judge": "openai/mock",
        "criteria": {"set": "hanna", "only": ["Coherence"]},
        "eval_prompts": "ep1",
        "base_url": url,
    }
    if place.prompt is not None:
        (run / "mine.jinja").write_text(place.prompt, encoding="utf-8")
        usual["eval_prompts"] = "mine.jinja"
    text = yaml.safe_dump(usual | place.definition) if place.text is None else place.text
    (run / "run.yaml").write_text(text, encoding="utf-8")
    return run / "run.yaml"


def _judge(words: list[str], place: Place, folder: Path) -> tuple[object, str, str]:
    """Exit code, stdout and stderr of one command in this process."""
    out, error, code = io.StringIO(), io.StringIO(), 0
    kept = {k: v for k, v in os.environ.items() if not k.endswith(("_KEY", "_TOKEN", "_BASE_URL"))}
    environment = {**kept, "JUDGE_HOME": str(folder / "home"), "NO_PROXY": "127.0.0.1", **place.environment}
    argv, hook = [*sys.argv[:1], *words], sys.excepthook
    with (
        mock.patch.dict(os.environ, environment, clear=True),
        mock.patch.object(sys, "argv", argv),
        # As in a process of its own: earlier places' keys are not known.
        mock.patch.object(redaction, "_remembered", set()),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(error),
    ):
        try:
            main(words)
        except SystemExit as left:
            code = left.code  # type: ignore[assignment]
        except Exception as crash:  # noqa: BLE001  a bug, which is to be reported with its place
            sys.excepthook(type(crash), crash, crash.__traceback__)
            code = -1
        finally:
            sys.excepthook = hook
    return code, out.getvalue(), error.getvalue()
