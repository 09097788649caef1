"""Tutorials run as printed, print what they show, and end in how to read it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.documents.blocks import blocks
from tests.documents.tutorials import as_printed, reads_studies, tutorials


def _assert_fresh(path: Path, folder: Path, data: Path | None = None) -> None:
    page = path.read_text(encoding="utf-8")
    assert as_printed(page, folder, data).splitlines() == page.splitlines(), (
        f"python -m tests.documents.tutorials --write {path.stem}"
    )


@pytest.mark.parametrize("path", [path for path in tutorials() if not reads_studies(path)], ids=lambda path: path.stem)
def test_a_tutorial_prints_what_it_shows(path: Path, tmp_path: Path) -> None:
    _assert_fresh(path, tmp_path)


@pytest.mark.parametrize("path", [path for path in tutorials() if reads_studies(path)], ids=lambda path: path.stem)
def test_a_tutorial_on_a_study_prints_what_it_shows(path: Path, studies: Path, tmp_path: Path) -> None:
    _assert_fresh(path, tmp_path, studies)


@pytest.mark.parametrize("path", tutorials(), ids=lambda path: path.stem)
def test_a_tutorial_ends_in_reading_the_output(path: Path) -> None:
    page = path.read_text(encoding="utf-8")
    assert page.count("\n## Reading the output\n") == 1
    after = page.split("\n## Reading the output\n")[1]
    assert "\n## " not in after
    assert len(after.split()) > 100
    assert not [block for block in blocks(page) if block.kind == "text" and not block.text.strip()]


def test_another_output_is_noticed(tmp_path: Path) -> None:
    page = "```bash\necho two\n```\n\n```text\none\n```\n"
    assert as_printed(page, tmp_path) == page.replace("one", "two")


def test_a_command_that_fails_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="ended with"):
        as_printed("```bash\njudge no-such-command\n```\n", tmp_path)
