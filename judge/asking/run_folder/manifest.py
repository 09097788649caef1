"""Reads and writes `manifest.json`: the settings requested and in effect. It holds no API key and no answer."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from judge.base.errors import TELLS_INTACT, RunFolderError
from judge.base.files import write_whole
from judge.base.foreign import invalid
from judge.base.redaction import redact_plain
from judge.version import installed

_PACKAGES = ("storyjudge", "aiohttp", "jinja2", "orjson", "pydantic", "numpy", "pandas", "scipy", "openai")


class _Part(BaseModel):
    # Other keys, as other versions of this program write them, are not checked.
    model_config = ConfigDict(strict=True, extra="allow")


class _Sitting(_Part):
    began: float | None = None
    ended: float | None = None
    hours: float | None = None
    executor: str | None = None
    answered: int | None = None
    failed: int | None = None
    retries: int | None = None
    cost: float | None = None
    stopped: str | None = None
    server: list[dict[str, Any]] | None = None
    notices: list[str] | None = None


class _Totals(_Part):
    answered: int | None = None
    failed: dict[str, int] | None = None
    attempts: int | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    cost_basis: str | None = None
    price: dict[str, Any] | None = None
    hours: float | None = None


class _Hashed(_Part):
    eval_prompts: dict[str, str] | None = None
    eval_prompt_sources: dict[str, str] | None = None
    criteria_records: list[dict[str, Any]] | None = None


class _InForce(_Part):
    repeats: int | None = None
    base_url: list[str] | None = None
    engine: dict[str, Any] | None = None
    models: dict[str, int] | None = None
    definition: _Hashed | None = None
    generation: dict[str, float | int | str | list[str] | None] | None = None
    server: dict[str, Any] | None = None
    revision: str | None = None
    structured: str | None = None
    scoring: str | None = None


class _Manifest(_Part):
    judge: str | None = None
    asked: dict[str, Any] | None = None
    in_force: _InForce | None = None
    sittings: list[_Sitting] | None = None
    totals: _Totals | None = None


def environment() -> dict[str, Any]:
    """Versions of this program, Python and packages; platform and command line; git state of the program's checkout."""
    return {
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: installed(name) for name in _PACKAGES},
        "git": _git(),
        "command": [Path(sys.argv[0]).name, *sys.argv[1:]],
    }


def read_manifest(path: Path) -> dict[str, Any]:
    """The manifest; {} if the file does not exist. Raises RunFolderError if it is not valid."""
    try:
        data = orjson.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except orjson.JSONDecodeError as error:
        raise RunFolderError(f"{path} is not valid JSON ({error})", hint=TELLS_INTACT) from error
    if not isinstance(data, dict):
        raise RunFolderError(f"{path} is no manifest: it holds no keys", hint=TELLS_INTACT)
    try:
        _Manifest.model_validate(data)
    except ValidationError as error:
        raise RunFolderError(f"{path} {invalid(error)}", hint=TELLS_INTACT) from error
    return data


def write_manifest(path: Path, manifest: dict[str, Any]) -> None:
    """Write the manifest atomically, with API keys removed."""
    text = orjson.dumps(redact_plain(manifest), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    try:
        write_whole(path, text, durable=True, follow=False)
    except OSError as error:
        raise RunFolderError(
            f"{path} cannot be written: {error.strerror}", hint="check disk and permissions"
        ) from error


def _git() -> dict[str, Any] | None:
    checkout = Path(__file__).resolve().parents[3]
    if not (checkout / ".git").exists():
        return None
    try:
        revision = _git_output(checkout, "rev-parse", "HEAD")
        status = _git_output(checkout, "status", "--porcelain", "--untracked-files=no")
    except (OSError, subprocess.SubprocessError):
        return None
    return {"revision": revision, "dirty": bool(status)}


def _git_output(checkout: Path, *arguments: str) -> str:
    # Only in the program's own checkout: another's git configuration could start programs.
    command = ["git", "-C", str(checkout), "-c", "core.fsmonitor=false", "--no-optional-locks", *arguments]
    own = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    done = subprocess.run(command, capture_output=True, timeout=5, check=True, env=own)
    return done.stdout.decode("utf-8", "replace").strip()
