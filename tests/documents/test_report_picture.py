"""The picture of the report shows what the program says today."""

from __future__ import annotations

from pathlib import Path

from tests.documents.report_picture import PICTURE, WORDS, words


def test_the_picture_shows_todays_words(studies: Path, tmp_path: Path) -> None:
    said = words(studies, tmp_path)
    assert "prompts   LEADS" in said
    assert said == WORDS.read_text(encoding="utf-8"), "python -m tests.documents.report_picture"
    assert PICTURE.stat().st_size > 10_000
