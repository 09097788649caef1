"""Checks what is installed, reachable and cached, and gives the command that fixes each problem."""

from __future__ import annotations

import asyncio
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from judge.base.errors import JudgeError, install_command
from judge.base.redaction import redact
from judge.version import installed

State = Literal["failed", "missing", "note", "ok"]
# States in the order in which they are printed, the most urgent first.
STATES: tuple[State, ...] = get_args(State)

EXTRAS = {
    "report": ("matplotlib", "scikit-learn"),
    "web": ("starlette", "uvicorn"),
    "stats": ("pingouin", "scikit-learn", "statsmodels"),
    "data": ("pyarrow", "duckdb"),
    "explain": ("sentence-transformers", "umap-learn", "yake", "scikit-learn"),
    "measures": ("sacrebleu", "nltk"),
    "stress": ("spacy", "lemminflect"),
    "train": ("sentence-transformers", "accelerate", "datasets"),
}
_CORE = (
    "aiohttp",
    "filelock",
    "google-re2",
    "jinja2",
    "numpy",
    "openai",
    "orjson",
    "pandas",
    "pooch",
    "pydantic",
    "scipy",
    "typer",
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of one check; `mend` is the command that fixes a problem (None = nothing to fix)."""

    item: str
    state: State
    detail: str
    mend: str | None = None


def examine() -> list[Finding]:
    """All findings on what is installed, reachable and cached here."""
    asked = [_key(), *_other_keys(), _trusted(), _server(), _prices()]
    return [_python(), *_packages(), _tagger(), *_datasets(), *asked, *_models()]


def _python() -> Finding:
    fine = sys.version_info >= (3, 11)
    return Finding(
        "Python", "ok" if fine else "failed", platform.python_version(), None if fine else "use 3.11 or later"
    )


def _packages() -> list[Finding]:
    lost = [name for name in _CORE if installed(name) is None]
    findings = [
        Finding("core packages", "failed", f"missing: {', '.join(lost)}", "pip install --force-reinstall storyjudge")
    ]
    if not lost:
        findings = [Finding("core packages", "ok", ", ".join(f"{name} {installed(name)}" for name in _CORE))]
    for extra, names in EXTRAS.items():
        here = [f"{name} {installed(name)}" for name in names if installed(name)]
        lost = [name for name in names if installed(name) is None]
        mend = install_command(extra) if lost else None
        detail = "; ".join(filter(None, [", ".join(here), f"not installed: {', '.join(lost)}" if lost else ""]))
        findings.append(Finding(f"extra {extra}", "missing" if lost else "ok", detail, mend))
    return findings


def _tagger() -> Finding:
    from judge.inputs.perturbations import parse

    lost = parse.available()
    if lost is None:
        return Finding("model of spaCy", "ok", "texts can be tagged for judge stress make")
    return Finding("model of spaCy", "missing", "judge stress make works without parts of speech", lost)


def _datasets() -> list[Finding]:
    from judge.inputs.datasets import DATASETS, open_dataset

    findings = []
    for name in DATASETS:
        try:
            files = open_dataset(name).files
            absent = [file for file in files if not file.is_file()]
            if absent:
                findings.append(
                    Finding(f"dataset {name}", "missing", f"{absent[0]} is gone", f"judge data fetch {name}")
                )
            else:
                findings.append(Finding(f"dataset {name}", "ok", str(files[0])))
        except JudgeError as error:
            findings.append(Finding(f"dataset {name}", "missing", "not on this machine", error.hint))
    return findings


def _key() -> Finding:
    if os.environ.get("OPENAI_API_KEY"):
        return Finding("OPENAI_API_KEY", "ok", "set")
    return Finding("OPENAI_API_KEY", "note", "not set (your own servers may not need it)", "export OPENAI_API_KEY=...")


def _other_keys() -> list[Finding]:
    from judge.base.credentials.providers import OPENAI, PROVIDERS

    findings = []
    for provider in PROVIDERS:
        for name in provider.variables if provider is not OPENAI else ():
            if os.environ.get(name, "").strip():
                findings.append(Finding(name, "ok", f"set; it may go to {', '.join(provider.hosts)}"))
    return findings


def _trusted() -> Finding:
    from judge.base.credentials.trust import VARIABLE, trust_file, trusts

    try:
        hosts = ", ".join(f"{trust.scheme}://{'*.' if trust.below else ''}{trust.host}" for trust in trusts())
    except JudgeError as error:
        return Finding("trusted hosts", "failed", str(error), error.hint)
    return Finding("trusted hosts", "note", hosts or f"none; {VARIABLE} or {trust_file()} would name them")


def _server() -> Finding:
    import aiohttp

    from judge.backends import Settings
    from judge.backends.openai.credentials import Credentials

    url = os.environ.get("OPENAI_BASE_URL", "").rstrip("/")
    if not url:
        return Finding("OPENAI_BASE_URL", "note", "not set: api.openai.com, unless a run gives base_url")

    credentials = Credentials((url,), Settings())
    try:
        credentials.check()
    except JudgeError as error:
        return Finding("OPENAI_BASE_URL", "failed", str(error), error.hint)

    async def ask() -> Finding:
        try:
            timeout = aiohttp.ClientTimeout(total=3)
            async with (
                aiohttp.ClientSession(timeout=timeout, middlewares=(credentials.attach,)) as client,
                client.get(f"{url}/models") as got,
            ):
                if got.status != 200:
                    return Finding(
                        "OPENAI_BASE_URL", "failed", f"{url}/models: HTTP {got.status}", "check address and key"
                    )
                names = [redact(str(entry["id"])) for entry in (await got.json())["data"]]
                return Finding("OPENAI_BASE_URL", "ok", f"{url}: {', '.join(names[:5])}")
        except (aiohttp.ClientError, TimeoutError, KeyError, TypeError, ValueError) as error:
            return Finding(
                "OPENAI_BASE_URL",
                "failed",
                f"{url}: {type(error).__name__}",
                "start the server, or correct the address",
            )

    return asyncio.run(ask())


def _prices() -> Finding:
    from judge.asking.plan.prices import shipped_table, user_price_file

    file: Path = user_price_file()
    if file.is_file():
        return Finding("price table", "ok", str(file))
    return Finding("price table", "note", f"{shipped_table()}; your own would be at {file}")


def _models() -> list[Finding]:
    from judge.asking.in_force.catalogue import catalogue, ending

    models = catalogue()
    findings = [
        Finding(
            "catalogue of models",
            "ok",
            f"modelparams {models.version}, snapshot of {models.taken}: {models.count} models ({models.license})",
        )
    ]
    for judge, (life, runs) in ending(Path("runs")).items():
        where = ", ".join(path.as_posix() for path in runs)
        mend = "finish these runs before that date and keep their result folders; new runs need another judge"
        findings.append(Finding(f"judge {judge}", "note", f"{where}: {life.sentence}", mend))
    return findings
