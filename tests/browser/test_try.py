"""`judge try --serve` in a real browser: on a screen and on a phone, from the button to the answers, hostile texts."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import watch
from tests.browser.test_crawl import HOSTILE
from tests.browser.test_view import PHONE
from tests.server.command import Command
from tests.server.loopback import LoopbackServer

Serving = Callable[..., Command]
SCREEN = {"viewport": {"width": 1280, "height": 900}}
STORY = "The sea took the boat before dawn. Anna waited on the quay, and every night after that she lit the lamp."
RATED = ".try-bar.judge .value strong"
SOON = 1.0
"""Seconds from the button to the control's answers, on a machine with nothing else to do."""
BUSY = 4.0
"""How much longer a machine that also runs other tests may take."""


def _fill(page: Any, story: str = STORY, other: str = "") -> None:
    page.fill("#story", story)
    if other:
        page.locator("summary", has_text="Second story").click()
        page.fill("#other", other)
    page.wait_for_selector("#go:not([disabled])")


@pytest.mark.parametrize("device", [SCREEN, PHONE], ids=["1280", "390"])
def test_from_a_story_to_the_controls_answers(
    browser: Any, complaints: list[str], serving: Serving, tmp_path: Path, device: dict[str, Any]
) -> None:
    site = serving("try", "--serve", "--criteria", "storyer", "--port", "0")
    before = sorted(tmp_path.iterdir())
    context = browser.new_context(**device)
    page = context.new_page()
    watch(page, complaints)
    page.goto(site.address)
    assert page.locator("#go").is_disabled()
    _fill(page, other="There was a boat. There was a boat. It was a boat and it was a boat.")
    assert page.inner_text("#cost") == "30 requests, no tokens: free."
    clicked = time.perf_counter()
    page.click("#go")
    page.wait_for_selector(RATED)
    assert time.perf_counter() - clicked < SOON * BUSY
    assert page.locator(RATED).count() == 10
    assert page.locator("td.own").count() == 10
    assert page.locator(".try-bar .end").all_text_contents()[:2] == ["1", "5"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert sorted(tmp_path.iterdir()) == before
    context.close()
    assert complaints == []
    assert site.end() == 0


def test_hostile_stories_and_answers_are_text(
    page: Any, complaints: list[str], serving: Serving, loopback: Callable[..., LoopbackServer]
) -> None:
    judge = loopback(fixed_text=f"4\n\nExplanation: {HOSTILE}")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    site = serving("try", "--serve", "--judge", "openai/mock", "--base-url", judge.url, "--port", "0")
    page.goto(site.address)
    _fill(page, HOSTILE + STORY, HOSTILE)
    page.fill("#story_prompt", HOSTILE)
    page.wait_for_selector("#go:not([disabled])")
    page.click("#go")
    page.wait_for_selector("#standing", state="hidden", timeout=60_000)
    assert page.locator(RATED).count() == 6
    assert page.locator(".said", has_text="<script>window.taken=1").count() > 0
    assert page.locator("main script, main img, main iframe, main base, main svg").count() == 0
    assert page.evaluate("'taken' in window || document.title === 'taken'") is False
    assert [url for url in asked if not url.startswith((site.address, "data:"))] == []
    assert complaints == []


def test_a_slow_judge_shows_progress_beside_the_control_and_stops(
    page: Any, complaints: list[str], serving: Serving, loopback: Callable[..., LoopbackServer]
) -> None:
    judge = loopback(fixed_text="4", latency_ms=60_000)
    site = serving("try", "--serve", "--judge", "openai/mock", "--base-url", judge.url, "--port", "0")
    page.goto(site.address)
    _fill(page)
    page.click("#go")
    page.wait_for_selector(".try-bar.control .value strong")
    assert page.locator(".try-bar.control .value strong").count() == 6
    assert page.locator(".badge", has_text="waiting").count() == 6
    page.locator("#seconds", has_text=re.compile(r"^[1-9]\d* s$")).wait_for()
    page.click("#stop")
    page.wait_for_selector("#standing", state="hidden")
    assert page.locator(".try-bar.judge .badge.bad", has_text="not answered").count() == 6
    page.wait_for_selector("#go:not([disabled])")
    assert complaints == []


def test_a_story_named_on_the_command_line_stands_in_the_form_and_answers_are_kept(
    page: Any, complaints: list[str], serving: Serving, tmp_path: Path
) -> None:
    (tmp_path / "story.txt").write_text("\n" + STORY + "</textarea><script>window.taken=1</script>")
    site = serving("try", "story.txt", "--serve", "--port", "0", "-o", "kept.jsonl")
    page.goto(site.address)
    assert page.input_value("#story") == "\n" + STORY + "</textarea><script>window.taken=1</script>"
    page.wait_for_selector("#go:not([disabled])")
    page.click("#go")
    page.wait_for_selector(RATED)
    assert "kept.jsonl" in page.inner_text("#counted")
    rows = [json.loads(line) for line in (tmp_path / "kept.jsonl").read_text().splitlines()]
    assert len(rows) == 6
    assert page.evaluate("'taken' in window") is False
    assert complaints == []
