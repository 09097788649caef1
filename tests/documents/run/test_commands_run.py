"""Every command of the documentation is run once, page by page, in a folder that holds what the page assumes.

`python -m pytest tests/documents/run -s` prints how many ran and why others did not. Commands that serve pages and slow
ones have test files of their own beside this one.
"""

from __future__ import annotations

import contextlib
import io
from pathlib import Path

import pytest

from tests.documents.blocks import ROOT, blocks, prose_pages
from tests.documents.run.collected import Command
from tests.documents.run.excused import EXCUSED, SERVERS, SLOW
from tests.documents.run.running import ELSEWHERE, EVERY, HELP, ON_PAGES, PAGES, REPEATED, failures, needs_study
from tests.golden_tables.calls import inside
from tests.server.loopback import LoopbackServer

PYTHON = {
    path.relative_to(ROOT).as_posix(): [
        block.text for block in blocks(path.read_text("utf-8")) if block.kind == "python"
    ]
    for path in prose_pages()
    if path.parent.name != "tutorials"
}


@pytest.mark.parametrize(
    "page", [pytest.param(page, id=page, marks=needs_study(PAGES[page])) for page in sorted(set(PAGES) - REPEATED)]
)
def test_the_commands_of_a_page_run(page: str, folder: Path, data: Path | None, server: LoopbackServer) -> None:
    assert failures(page, PAGES[page], folder, data, server) == []


@pytest.mark.parametrize(
    ("path", "command"),
    [
        pytest.param(path, command, id=command.line, marks=needs_study([command]))
        for path in sorted(HELP)
        for command in HELP[path]
        if command.line not in ELSEWHERE | ON_PAGES
    ],
)
def test_the_example_of_a_help_text_runs(
    path: str, command: Command, folder: Path, data: Path | None, server: LoopbackServer
) -> None:
    assert failures(path, [command], folder, data, server) == []


@pytest.mark.parametrize("page", sorted(name for name, code in PYTHON.items() if code))
def test_the_python_of_a_page_runs(page: str, folder: Path) -> None:
    names: dict[str, object] = {"__name__": "__main__"}
    with inside(folder, None), contextlib.redirect_stdout(io.StringIO()) as printed:
        for code in PYTHON[page]:
            exec(compile(code, page, "exec"), names)  # noqa: S102  the example as printed
    assert printed.getvalue()


def test_every_exception_belongs_to_a_command() -> None:
    lines = {command.line for command in EVERY}
    assert sorted(ELSEWHERE - lines) == []
    assert len(ELSEWHERE) == len(EXCUSED) + len(SERVERS) + len(SLOW)


def test_more_than_93_percent_of_commands_run() -> None:
    excused = [command for command in EVERY if command.line in EXCUSED]
    print(f"\n{len(EVERY) - len(excused)} of {len(EVERY)} commands are run; excused:")
    for command in excused:
        print(f"  {command.place}: {command.line}: {EXCUSED[command.line]}")
    assert len(excused) / len(EVERY) < 0.07
