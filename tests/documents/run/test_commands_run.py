"""Every command of the documentation is run, page by page, in a folder that holds what the page assumes.

`python -m pytest tests/documents/run -s` prints how many ran and why others did not.
"""

from __future__ import annotations

import contextlib
import glob
import io
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from judge import backends
from tests.conftest import missing
from tests.documents.blocks import ROOT, blocks, prose_pages
from tests.documents.run.collected import Command, of_help, of_pages
from tests.documents.run.excused import EXCUSED, STUDIES
from tests.documents.run.prepared import BEFORE, after
from tests.documents.run.world import build
from tests.golden_tables.calls import inside, judge
from tests.server.loopback import LoopbackServer

PAGES, HELP = of_pages(), of_help()
PYTHON = {
    path.relative_to(ROOT).as_posix(): [
        block.text for block in blocks(path.read_text("utf-8")) if block.kind == "python"
    ]
    for path in prose_pages()
    if path.parent.name != "tutorials"
}
EVERY = [command for commands in (*PAGES.values(), *HELP.values()) for command in commands]
DECLARED = {"certify": 4, "batch collect": 3, "run runs/new-stories": 4}
"""Commands that also end otherwise when they have worked: a condition that is not met, batches that are at work."""

QUICKER = {
    "explain": ["--permutations", "19", "--refits", "19", "--resamples", "20"],
    "report": ["--quick"],
}
"""Options that are added to save minutes, unless the page has them."""

_ADDRESS = "http://127.0.0.1:8000/v1"


@pytest.fixture(scope="session")
def server() -> Iterator[LoopbackServer]:
    """The stand-in for models' servers: it answers by a hash."""
    with LoopbackServer() as started:
        yield started


@pytest.fixture(scope="session")
def world(server: LoopbackServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Everything that pages assume, made once."""
    folder = tmp_path_factory.mktemp("world")
    (folder / "home").mkdir()
    with inside(folder, None):
        build(server.url)
    return folder


@pytest.fixture
def data() -> Path | None:
    """The studies' files where they are."""
    named = os.environ.get("JUDGE_DATA")
    return Path(named).resolve() if named else None


@pytest.fixture
def folder(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the world, in which models whose weights are asked for are bigrams."""
    for name in ("hf", "local"):
        monkeypatch.setitem(backends.SCORERS, name, "tests.documents.run.scorer")
    place = tmp_path / "world"
    shutil.copytree(world, place)
    return place


def _run(place: str, commands: list[Command], folder: Path, data: Path | None, url: str) -> list[str]:
    """Run the commands in order; a sentence for each that ended with another code than it may."""
    failed = []
    with inside(folder, data):
        os.environ |= {"RUN": "runs/my-run", "SLURM_ARRAY_TASK_ID": "1", "SLURM_ARRAY_TASK_COUNT": "1"}
        os.environ |= {"JUDGE_NO_BROWSER": "1", "OPENAI_API_KEY": "sk-none", "OPENAI_BASE_URL": url}
        os.environ["port"] = url.rsplit(":", maxsplit=1)[-1].removesuffix("/v1")  # noqa: SIM112  as the page names it
        BEFORE.get(place, lambda _url: None)(url)
        for command in commands:
            if command.line in EXCUSED:
                continue
            for words, target in command.parts:
                known = _words(words, url)
                code, out, err = judge(known)
                if code not in (0, DECLARED.get(" ".join(known[:2]), 0), DECLARED.get(known[0], 0)):
                    words_of_it = f"{out[-800:]}\n{err[-1500:]}"
                    failed.append(f"{command.place}: judge {' '.join(known)} ended with {code}\n{words_of_it}")
                if target:
                    Path(target).write_text(out, encoding="utf-8")
                after(known, url)
    return failed


def _words(words: list[str], url: str) -> list[str]:
    """Words as a shell would give them, with the stand-in's address."""
    found = []
    for word in words:
        filled = os.path.expandvars(word).replace(_ADDRESS, url)
        found += sorted(glob.glob(filled)) or [filled]  # noqa: PTH207  as a shell writes them
    if found[:2] == ["run", "runs/my-run"] and "mans_roc" in Path("runs/my-run/run.yaml").read_text(encoding="utf-8"):
        found += ["--set", "eval_prompts=[ep1]", "--set", "repeats=1"]  # 1,000 requests in place of 12,000
    more = QUICKER.get(found[0], [])
    return found if {"--validate-flags", "--contradictions", *more} & set(found) else [*found, *more]


def _needs_study(commands: list[Command]) -> bool:
    return any(re.search(STUDIES, command.line) for command in commands if command.line not in EXCUSED)


def _failed(place: str, commands: list[Command], folder: Path, data: Path | None, server: LoopbackServer) -> list[str]:
    if data is None and _needs_study(commands):
        missing("data", "JUDGE_DATA does not name the folder of the studies' released files")
    return _run(place, commands, folder, data, server.url)


@pytest.mark.parametrize("page", sorted(PAGES))
def test_the_commands_of_a_page_run(page: str, folder: Path, data: Path | None, server: LoopbackServer) -> None:
    assert _failed(page, PAGES[page], folder, data, server) == []


@pytest.mark.parametrize(
    ("path", "command"),
    [
        pytest.param(path, command, id=command.line)
        for path in sorted(HELP)
        for command in HELP[path]
        if command.line not in EXCUSED
    ],
)
def test_the_example_of_a_help_text_runs(
    path: str, command: Command, folder: Path, data: Path | None, server: LoopbackServer
) -> None:
    assert _failed(path, [command], folder, data, server) == []


@pytest.mark.parametrize("page", sorted(name for name, code in PYTHON.items() if code))
def test_the_python_of_a_page_runs(page: str, folder: Path) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    with inside(folder, None), contextlib.redirect_stdout(io.StringIO()) as printed:
        for code in PYTHON[page]:
            exec(compile(code, page, "exec"), names)  # noqa: S102  the example as printed
    assert printed.getvalue()


def test_every_excuse_belongs_to_a_command() -> None:
    lines = {command.line for command in EVERY}
    assert sorted(set(EXCUSED) - lines) == []


def test_more_than_85_percent_of_commands_run() -> None:
    excused = [command for command in EVERY if command.line in EXCUSED]
    print(f"\n{len(EVERY) - len(excused)} of {len(EVERY)} commands are run; excused:")
    for command in excused:
        print(f"  {command.place}: {command.line}: {EXCUSED[command.line]}")
    assert len(excused) / len(EVERY) < 0.15
