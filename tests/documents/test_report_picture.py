"""The picture of the report shows what the program writes today."""

from __future__ import annotations

from pathlib import Path

from tests.documents.report_picture import PICTURE, WORDS, demo_page, words


def test_the_picture_shows_todays_words(tmp_path: Path) -> None:
    said = words(demo_page(tmp_path))
    assert "May it replace an annotator?" in said
    assert said == WORDS.read_text(encoding="utf-8"), "python -m tests.documents.report_picture"
    assert PICTURE.stat().st_size > 10_000
