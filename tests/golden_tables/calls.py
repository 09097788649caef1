"""The calls of `commands.yaml`, the runs they are made on, and what they print, as data."""

from __future__ import annotations

import io
import json
import os
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from judge.cli.main import main
from judge.demo import run_demo

HERE = Path(__file__).resolve().parent
GROUPS = ("demo", "hanna")
_INPUTS = HERE / "inputs"
_OUTPUT = "made"
"""Folder for what a call writes beside its table; empty before each call."""

_RUN = """
name: {name}
dataset: demo
judge: scripted/{script}
criteria: {{set: hanna, only: [Relevance, Coherence]}}
eval_prompts: [ep1, ep2]
repeats: 2
structured: {structured}
"""

_RECITED = (("plain", "endings", "none"), ("asked-json", "endings", "json"), ("points", "points", "none"))
"""Name, script and mode of the runs beside the demo run; of `endings` many answers have no rating."""

_PRICES = (
    "openai/gpt-4o-mini: {input: 0.20, cached: 0.10, output: 0.80, batch: 0.5, date: 2026-01-01, source: a test}\n"
)
"""The user's own prices, as those that come with the program go with the time."""


@dataclass(frozen=True, slots=True)
class Call:
    """One command line with a name; its table is printed as JSON."""

    group: str
    name: str
    words: tuple[str, ...]

    @property
    def golden(self) -> Path:
        """Where the golden file lies."""
        return HERE / self.group / f"{self.name}.json"


_COMPARED = """
name: compared
judge: surface
dataset: demo
criteria: {set: hanna, only: [Coherence, Surprise]}
eval_prompts: [pair1]
pairs: {each: 2}
"""
_STRESSED = """
name: stressed
judges: [surface, scripted/points]
dataset: ../stressed.jsonl
criteria: {set: hanna, only: [Relevance, Coherence]}
eval_prompts: [ep1]
repeats: 2
"""
_ASPECTS = """
name: aspects
judge: surface
dataset: storyer_reasons
criteria: {set: storyer_salience}
eval_prompts: [ep1]
repeats: 1
"""
_GENERATED = """
name: generated
story_prompts: story_prompts.jsonl
writer: scripted/points
writer_prompts: [story]
stories_each: 2
"""


def calls() -> list[Call]:
    """Every call, in the order of `commands.yaml`."""
    named = yaml.safe_load((HERE / "commands.yaml").read_text(encoding="utf-8"))
    return [
        Call(group, name, (*shlex.split(line), "--format", "json"))
        for group in GROUPS
        for name, line in named[group].items()
    ]


def judge(words: Sequence[str]) -> tuple[int, str, str]:
    """Run one command in this process: its exit code, stdout and stderr."""
    out, err, code = io.StringIO(), io.StringIO(), 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(list(words))
        except SystemExit as stop:
            code = int(stop.code or 0)
    return code, out.getvalue(), err.getvalue()


def prepare(folder: Path, group: str, data: Path | None) -> None:
    """Make the runs of a group in a folder."""
    for file in _INPUTS.iterdir():
        shutil.copy(file, folder)
    (folder / "home").mkdir()
    (folder / "home" / "prices.yaml").write_text(_PRICES, encoding="utf-8")
    with inside(folder, data):
        if group == "demo":
            _demo_runs()
        else:
            _done("import", "hanna_scores", "-o", "hanna-scores")
            _done("audit", "import", "study.sqlite", str(Path(str(data)) / "hanna" / "user_study.csv"))
            _asked("aspects", _ASPECTS)


def _demo_runs() -> None:
    """The demo run, a copy for what leaves files in it, runs of recited answers, an audit, labels, panels."""
    run_demo(Path("demo-run"), quiet=True)
    shutil.copytree("demo-run", "explained-run")
    for name, script, structured in _RECITED:
        folder = Path(name)
        folder.mkdir()
        (folder / "run.yaml").write_text(_RUN.format(name=name, script=script, structured=structured), encoding="utf-8")
        _done("run", name, "--quiet")
    _asked("compared", _COMPARED)
    _asked("stressed", _STRESSED)
    Path("generated").mkdir()
    shutil.copy("story_prompts.jsonl", "generated")
    Path("generated/generate.yaml").write_text(_GENERATED, encoding="utf-8")
    _done("data", "generate", "generated", "--quiet")
    _done("audit", "import", "audited.sqlite", "audited.csv")
    Path("labelled").mkdir()
    shutil.copy("labelled.csv", "labelled/imported.csv")
    shutil.copy("labelled.json", "labelled/manifest.json")
    Path("panelled").mkdir()
    shutil.copy("panelled.csv", "panelled/imported.csv")


def _asked(name: str, definition: str) -> None:
    """A run of the control judge."""
    Path(name).mkdir()
    (Path(name) / "run.yaml").write_text(definition, encoding="utf-8")
    _done("run", name, "--quiet")


def _done(*words: str) -> None:
    code, _, err = judge(words)
    if code != 0:
        raise RuntimeError(f"judge {shlex.join(words)} ended with exit code {code}: {err}")


@contextmanager
def inside(folder: Path, data: Path | None) -> Iterator[None]:
    """Work in a trusted folder, with settings and caches of its own, `data` as JUDGE_DATA or none, without KeyBERT."""
    before, environment = Path.cwd(), dict(os.environ)
    os.environ |= {"JUDGE_HOME": str(folder / "home"), "JUDGE_CACHE": str(folder / "cache"), "NO_COLOR": "1"}
    os.environ["JUDGE_TRUSTED_FOLDERS"] = str(folder)  # runs name files beside their own folders
    os.environ.pop("JUDGE_DATA", None)
    if data is not None:
        os.environ["JUDGE_DATA"] = str(data)
    os.chdir(folder)
    keybert = {name: sys.modules.pop(name) for name in ("keybert",) if name in sys.modules}
    sys.modules["keybert"] = None  # type: ignore[assignment]  # so that its words are in no table, installed or not
    try:
        yield
    finally:
        del sys.modules["keybert"]
        sys.modules.update(keybert)
        os.chdir(before)
        os.environ.clear()
        os.environ.update(environment)


def printed(call: Call, folder: Path, data: Path | None) -> dict[str, Any]:
    """What a call prints: its exit code and its JSON. RuntimeError where it prints none."""
    with inside(folder, data):
        shutil.rmtree(_OUTPUT, ignore_errors=True)
        Path(_OUTPUT).mkdir()
        words = [word.replace("$DATA", str(data)) for word in call.words]
        code, out, err = judge(words)
    if not out:
        raise RuntimeError(f"judge {shlex.join(call.words)} printed no JSON (exit code {code}): {err}")
    return {"exit_code": code, "printed": _read(out)}


def _read(text: str) -> Any:
    """JSON, or JSON Lines as a list."""
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return [json.loads(line) for line in text.splitlines()]


def stored(call: Call) -> Mapping[str, Any]:
    """A call's golden file."""
    found: Mapping[str, Any] = json.loads(call.golden.read_text(encoding="utf-8"))
    return found
