"""`judge view` of a run that compares: every page answers, and says what it can."""

from __future__ import annotations

import html
import re
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import yaml
from markupsafe import escape

from judge.asking.execution.session import sit
from judge.asking.run_folder import ResultFolder
from judge.ratings.preferences_table import read
from judge.show.web.access import Access
from judge.show.web.view.app import view_app
from judge.show.web.view.index import update
from tests.comparing.conftest import definition, sitting
from tests.web.conftest import Served, serving
from tests.web.view_runs import ATTACK


def test_no_page_fails_on_a_run_that_compares(stories: Path) -> None:
    run = stories.parent / "runs" / "pairs"
    run.mkdir(parents=True)
    plain = {"judge": "surface", "base_url": [], "generation": {}}
    data = definition(None, stories, **plain)
    (run / "run.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    sit(sitting(None, stories, folder=str(run / "surface"), **plain))
    with serving(lambda access: view_app(stories.parent / "runs", access), Access()) as server:
        for _ in range(2):  # before and after what pages wait for is computed
            for page in ("", "judgments", "stories", "prompts", "tables", "disagreements", "map", "audit"):
                status, _, text = server.ask(f"/run/pairs/{page}".rstrip("/"))
                assert status < 500, text
            time.sleep(0.5)
        status, _, text = server.ask("/run/pairs")
        assert status == 200
        assert "24" in text


def _pages(server: Served, first: str) -> list[str]:
    """The rows of every page from an address on, as they stand in the table."""
    found: list[str] = []
    address: str | None = first
    while address is not None:
        status, _, text = server.ask(address)
        assert status == 200, text
        found += re.findall(r"<tr><td class=\"shown\">.*?</tr>", text, re.S)
        following = re.search(r'rel="next" href="([^"]+)"', text)
        address = html.unescape(following[1]) if following else None
    return found


def test_the_pages_say_what_the_preferences_table_says(stories: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counts of filters are those of the table, every text is only text, and the journal stays as it was."""
    monkeypatch.setattr("judge.show.web.view.judgments.Judgments.page.__kwdefaults__", {
        "after": -1, "before": None, "size": 7,
    })  # fmt: skip
    texts = stories.read_text(encoding="utf-8").replace("the lamp", f"the lamp {ATTACK[:31]}")
    stories.write_text(texts, encoding="utf-8")
    run = stories.parent / "runs" / "pairs"
    run.mkdir(parents=True)
    plain = {"judge": "surface", "base_url": [], "generation": {}}
    sit(sitting(None, stories, folder=str(run / "surface"), repeats=2, **plain))
    journal = (run / "surface" / "journal.sqlite").read_bytes()
    update(ResultFolder(run / "surface"), run / "surface" / "derived" / "judgments.sqlite")
    table = read([run / "surface"]).frame
    judged, implied = table[table["source"] == "judge"], table[table["source"] == "implied"]
    theirs = {frozenset((r.first, r.second)): (r.first, r.preference) for r in implied.itertuples()}
    agrees = [_agrees(row, *theirs[frozenset((row.first, row.second))]) for row in judged.itertuples()]
    with serving(lambda access: view_app(stories.parent / "runs", access), Access()) as server:
        base = "/run/pairs/judgments"
        rows = _pages(server, base)
        assert len(rows) == len(judged) == 48
        shown = [re.findall(r"(?:>|\n<td class=\"shown\">)(s\d+) ?<", row) for row in rows]
        assert sorted(map(tuple, shown)) == sorted(zip(judged["first"], judged["second"], strict=True))
        for word, lead in (("first", 1), ("second", -1), ("tie", 0)):
            assert len(_pages(server, f"{base}?rating={lead}")) == (judged["preference"] == word).sum()
        assert len(_pages(server, f"{base}?people=agrees")) == agrees.count(True)
        assert len(_pages(server, f"{base}?people=differs")) == agrees.count(False)
        assert len(_pages(server, f"{base}?system=system1")) == 32
        status, _, text = server.ask("/run/pairs/pair?pair=" + quote(str(judged["pair"].iloc[0])))
        assert status == 200
        assert ATTACK[:31] not in text
        assert str(escape(ATTACK[:31])) in text
        assert "implied: means" in text
        assert text.count('<span class="faint">repeat 0, 1</span>') == 2
        status, _, text = server.ask("/run/pairs/pair?pair=nothing")
        assert status == 404
        status, _, text = server.ask("/run/pairs/stories")
        assert status == 404
        assert "this page is about ratings" in text
    assert (run / "surface" / "journal.sqlite").read_bytes() == journal


def _agrees(row: Any, first: str, preference: str) -> bool | None:
    """Whether a verdict names the story that people prefer; None where one of both names none."""
    if "tie" in (row.preference, preference):
        return None
    own = row.first if row.preference == "first" else row.second
    people = first if preference == "first" else row.second if row.first == first else row.first
    return bool(own == people)
