"""Runs that compare in a real browser: their pages in `judge view`, one pair on a screen and on a phone, the report."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import watch
from tests.browser.test_view import PHONE
from tests.server.command import Command, command
from tests.web.view_runs import define, finish, start

PAGES = (
    "/run/pairs",
    "/run/pairs/judgments",
    "/run/pairs/pair?pair=p1-s0%7Cp1-s2",
    "/run/pairs/tables?show=coverage",
    "/run/pairs/tables?show=rank-agreement",
)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that compares nine stories, some with markup in them, in both orders."""
    made = define(tmp_path_factory.mktemp("browser") / "runs", "pairs", eval_prompts=["pair1", "pair2"], pairs="all")
    finish(start(made, "--judge", "surface", "--judge", "scripted/script.jsonl"))
    return made


@pytest.fixture(scope="module")
def site(run: Path) -> Iterator[Command]:
    """`judge view` over it."""
    with command("view", run.parent, "--port", "0", folder=run.parents[1]) as running:
        yield running


def _visit(page: Any, site: Command, path: str) -> None:
    page.goto(site.address.rstrip("/") + path)
    page.locator(".waiting").first.wait_for(state="detached", timeout=90_000)


def _stories(page: Any) -> list[dict[str, float]]:
    """Where both stories stand, at one moment: the page may still be scrolling to its anchor."""
    found: list[dict[str, float]] = page.evaluate(
        "[...document.querySelectorAll('.columns.pair > section')].map((one) => one.getBoundingClientRect().toJSON())"
    )
    assert len(found) == 2
    return found


@pytest.mark.parametrize("path", PAGES)
def test_pages_run_no_text_and_scroll_down_only(browser: Any, complaints: list[str], site: Command, path: str) -> None:
    for device in ({}, PHONE):
        context = browser.new_context(**device)
        page = context.new_page()
        watch(page, complaints)
        _visit(page, site, path)
        assert page.title() != "taken"
        assert page.evaluate("document.querySelectorAll('main script, main img').length") == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        context.close()
    assert complaints == []


def test_from_the_list_to_a_pair_and_to_its_neighbour(page: Any, complaints: list[str], site: Command) -> None:
    _visit(page, site, "/run/pairs/judgments")
    page.get_by_role("link", name="surface").click()
    page.get_by_label("Eval-Prompt").select_option("pair2")
    page.wait_for_url(re.compile("eval_prompt=pair2"))
    page.get_by_label("Preferred").select_option("the second")
    page.wait_for_url(re.compile("rating=-1"))
    assert set(page.locator("tbody td:nth-child(6)").all_text_contents()) == {"second"}
    page.locator("tbody td a").first.click()
    page.wait_for_url(re.compile("/pair"))
    one, other = _stories(page)
    assert one["y"] == other["y"]
    assert one["x"] + one["width"] <= other["x"]
    cards = page.locator(".columns.answers h3").all_text_contents()
    assert cards[:2] == ["pair1, shown 1, 2", "pair1, shown 2, 1"]
    before = page.url
    page.keyboard.press("ArrowRight")
    page.wait_for_url(lambda url: url != before)
    assert page.locator("main h1").count() == 1
    assert complaints == []


def test_on_a_phone_the_stories_stand_one_beneath_the_other(browser: Any, site: Command) -> None:
    context = browser.new_context(**PHONE)
    page = context.new_page()
    _visit(page, site, PAGES[2])
    one, other = _stories(page)
    assert one["y"] + one["height"] <= other["y"]
    assert one["x"] == other["x"]
    context.close()


def test_the_report_of_comparisons_fits_a_phone(browser: Any, complaints: list[str], run: Path) -> None:
    made = [sys.executable, "-m", "judge", "report", str(run / "surface"), "-o", str(run / "pairs.html"), "--quiet"]
    subprocess.run(made, check=True, capture_output=True)
    context = browser.new_context(**PHONE)
    page = context.new_page()
    watch(page, complaints)
    page.goto((run / "pairs.html").as_uri())
    assert page.title().startswith("surface on ")
    assert page.locator(".headline .asked", has_text="Does the judge prefer what people prefer?").count() > 0
    assert page.locator("#systems svg").count() > 1
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    assert complaints == []
    context.close()
