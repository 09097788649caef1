"""`judge view` in a real browser: every page without complaint, filters, the map, figures that follow a run, phones."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from judge.asking.run_folder import ResultFolder
from judge.explanations.mapping.stored_map import POINT, StoredMap, write
from judge.show.web.view.index import update
from tests.browser.conftest import watch
from tests.server.command import Command, command
from tests.server.loopback import LoopbackServer
from tests.web.view_runs import define, finish, make_run, scripted, start

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
PAGES = (
    "/",
    "/run/tale",
    "/run/tale/judgments",
    "/run/tale/stories",
    "/run/tale/story?story=p1-s2",
    "/run/tale/map",
    "/run/tale/prompts?story=p1-s2&a=ep1&b=ep4",
    "/run/tale/tables?show=coverage",
    "/run/tale/tables?show=correlate",
    "/run/tale/disagreements",
    "/run/tale/audit",
)


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a run by two judges, and a map of the control's explanations."""
    folder = tmp_path_factory.mktemp("browser") / "runs"
    run = make_run(folder)
    values = [
        (
            "surface",
            f"p{k % 3}-s{k // 3 % 3 if k % 3 else 0}",
            "Human",
            ("Coherence", "Engagement")[k % 2],
            "ep2",
            0,
            2.0 + k % 3,
            None,
            k % 4 - 1,
            float(k % 9),
            float(k // 9),
        )
        for k in range(81)
    ]
    points = [dict(zip(POINT, value, strict=True)) for value in values]
    write(ResultFolder(run / "surface"), StoredMap("signed", "a model", "a method", points, [], {"0": ["lamp"]}))
    return folder


@pytest.fixture(scope="module")
def site(runs: Path) -> Iterator[Command]:
    """`judge view` over it."""
    with command("view", runs, "--port", "0", folder=runs.parent) as running:
        yield running


def _settled(page: Any) -> None:
    """Wait until nothing on the page waits for the background."""
    page.locator(".waiting").first.wait_for(state="detached", timeout=90_000)


def _visit(page: Any, site: Command, path: str) -> None:
    page.goto(site.address.rstrip("/") + path)
    _settled(page)


@pytest.mark.parametrize("path", PAGES)
def test_pages_complain_of_nothing_and_run_no_text(page: Any, complaints: list[str], site: Command, path: str) -> None:
    _visit(page, site, path)
    assert page.title() != "taken"
    assert page.locator("main h1").count() == 1
    assert page.evaluate("document.querySelectorAll('main script, main img').length") == 0
    assert complaints == []


@pytest.mark.parametrize("path", PAGES)
def test_a_phone_scrolls_down_only(browser: Any, complaints: list[str], site: Command, path: str) -> None:
    context = browser.new_context(**PHONE)
    page = context.new_page()
    watch(page, complaints)
    _visit(page, site, path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
    assert complaints == []


def test_the_first_paint_of_a_finished_run_holds_no_zero(
    page: Any, complaints: list[str], tmp_path: Path, serving: Callable[..., Command]
) -> None:
    """Over an index that a killed process left empty, so that nothing is read yet when the page is first painted."""
    result = ResultFolder(make_run(tmp_path / "runs") / "surface")
    file = result.path / "derived" / "judgments.sqlite"
    update(result, file)
    with closing(sqlite3.connect(file)) as db, db:
        db.executescript("DELETE FROM cells; DELETE FROM texts; DELETE FROM judgments; UPDATE meta SET value = '0'"
                         " WHERE key = 'attempt'")  # fmt: skip
    site = serving("view", tmp_path / "runs", "--port", "0")
    page.goto(f"{site.address}run/tale?judge=surface", wait_until="commit")
    page.wait_for_selector(".waiting, table.grid")
    # The summary of all judges waits in a part of its own.
    assert page.locator(".waiting:not(#summary .waiting)").count() == 1
    assert page.locator("table.grid").count() == 0
    _settled(page)
    page.wait_for_selector("table.grid")
    assert page.locator("table.grid tbody tr:not(.lost) td").all_text_contents() == ["100 %"] * 6
    assert complaints == []


def test_the_overview_has_the_answers_of_the_summary(
    page: Any, complaints: list[str], site: Command, runs: Path
) -> None:
    _visit(page, site, "/run/tale")
    said = page.locator("#summary .headline").first
    said.wait_for(timeout=90_000)
    printed = subprocess.run(
        [sys.executable, "-m", "judge", "summary", runs / "tale", "--format", "json"], capture_output=True, check=True
    )
    table = json.loads(printed.stdout)
    words = " ".join(said.text_content().split())
    for row in table["rows"]:
        if row["verdict"]:
            assert f"{row['verdict']} " in words, row
    assert complaints == []


def test_without_javascript_pages_say_the_same(browser: Any, site: Command, page: Any) -> None:
    _visit(page, site, "/run/tale/map")
    _visit(page, site, "/run/tale/judgments")
    context = browser.new_context(java_script_enabled=False)
    plain = context.new_page()
    plain.goto(site.address + "run/tale/judgments")
    plain.get_by_label("Criterion").select_option("Engagement")
    plain.get_by_role("button", name="Show").click()
    assert set(plain.locator("tbody td:nth-child(3)").all_text_contents()) == {"Engagement"}
    plain.goto(site.address + "run/tale/map")
    assert plain.locator("ol.dots a").count() == 30
    plain.locator("ol.dots a").first.click()
    assert "/story?" in plain.url
    context.close()


def test_filters_narrow_the_list(page: Any, complaints: list[str], site: Command) -> None:
    _visit(page, site, "/run/tale/judgments")
    page.get_by_label("Criterion").select_option("Coherence")
    page.wait_for_url(re.compile("criterion=Coherence"))
    page.get_by_label("Status").select_option("no_rating")
    page.wait_for_url(re.compile("status=no_rating"))
    cells = page.locator("tbody td:nth-child(6)").all_text_contents()
    assert cells
    assert {cell.strip() for cell in cells} == {"no_rating"}
    page.get_by_label("Answer contains").fill("number on this")
    page.keyboard.press("Enter")
    page.wait_for_url(re.compile("text=number"))
    assert "eval_prompt=" not in page.url
    assert page.locator("tbody tr").count() == len(cells)
    page.get_by_role("link", name="Clear").click()
    assert page.locator("tbody tr").count() == 40
    page.get_by_role("link", name="after").click()
    page.wait_for_url(re.compile("after="))
    assert complaints == []


def test_a_click_on_the_map_opens_the_texts(page: Any, complaints: list[str], site: Command) -> None:
    _visit(page, site, "/run/tale/map")
    page.locator("#drawn", has_text="81 points").wait_for()
    box = page.locator("#map").bounding_box()
    found = 0
    for step in range(40):
        page.mouse.click(box["x"] + box["width"] * (0.3 + 0.01 * step), box["y"] + box["height"] * 0.5)
        page.wait_for_timeout(40)
        found = page.locator("#opened article").count()
        if found:
            break
    assert found == 1
    assert "Control, not a language model" in page.locator("#opened").text_content()
    page.locator("select[name=colour]").select_option("cluster")
    page.locator("#legend", has_text="in none").wait_for()
    # What a filter leaves out stays as a shadow, and ratings are those that there are.
    page.locator("select[name=criterion]").select_option("Coherence")
    page.wait_for_url(re.compile("criterion=Coherence"))
    page.locator("#drawn", has_text="41 points shown in colour of 81").wait_for()
    offered = page.locator("select[name=rating] option").all_text_contents()[1:]
    assert offered == sorted(set(offered), key=int)
    assert 1 <= len(offered) <= 5
    assert complaints == []


def test_the_map_and_stories_are_reached_by_keys(page: Any, complaints: list[str], site: Command) -> None:
    _visit(page, site, "/run/tale/map")
    for _ in range(40):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.dataset.dot") is not None:
            break
    assert page.evaluate("document.activeElement.dataset.dot") == "0"
    page.keyboard.press("Enter")
    page.wait_for_selector("#opened article")
    assert page.evaluate("document.activeElement.closest('#opened') !== null")
    _visit(page, site, "/run/tale/story?story=p0-s0")
    page.keyboard.press("ArrowRight")
    page.wait_for_url(re.compile("a%2Fb"))
    page.keyboard.press("ArrowLeft")
    page.wait_for_url(re.compile("p0-s0"))
    assert page.evaluate("getComputedStyle(document.querySelector('a.skip')).position") == "absolute"
    assert complaints == []


def test_everything_that_is_read_has_contrast(browser: Any, site: Command) -> None:
    """Every text has 4.5:1 with what lies behind it (WCAG 2.2, 1.4.3), in light and dark."""
    for scheme in ("light", "dark"):
        context = browser.new_context(color_scheme=scheme)
        page = context.new_page()
        for path in ("/", "/run/tale", "/run/tale/judgments", "/run/tale/story?story=p1-s2", "/run/tale/prompts"):
            _visit(page, site, path)
            assert page.evaluate(_CONTRAST) == [], (scheme, path)
        context.close()


_CONTRAST = """() => {
  const rgb = (s) => s.match(/[\\d.]+/g).map(Number);
  const part = (v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0.99) return c;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const e of document.querySelectorAll('main *, header *')) {
    if (e.closest('svg') || ![...e.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    if (!e.checkVisibility() || e.matches('option, [disabled]')) continue;
    const [a, b] = [light(rgb(getComputedStyle(e).color)), light(behind(e))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) bad.push(e.outerHTML.slice(0, 90));
  }
  return bad.slice(0, 5);
}"""


def test_several_judges_stand_beside_each_other(page: Any, complaints: list[str], site: Command, runs: Path) -> None:
    _visit(page, site, "/run/tale/story?story=p0-s0")
    assert page.locator("thead th[scope=colgroup]").count() == 2
    page.get_by_label("surface", exact=True).uncheck()
    page.get_by_role("button", name="Show").click()
    page.wait_for_url(re.compile(f"judge={scripted(runs / 'tale').name}"))
    assert page.locator("thead th[scope=colgroup]").count() == 0
    assert page.locator("section.card mark").count() > 0
    assert complaints == []


def test_differences_of_two_eval_prompts_are_marked(page: Any, complaints: list[str], site: Command) -> None:
    _visit(page, site, "/run/tale/prompts?story=p1-s2&criterion=Coherence&a=ep1&b=ep4")
    left, right = page.locator(".query").all()
    assert "A reference for prompt 1." in right.locator("ins").first.text_content() + right.text_content()
    assert left.locator("ins").count() == 0
    assert right.locator("ins").count() > 0
    page.get_by_label("Right").select_option("ep2")
    page.wait_for_url(re.compile("b=ep2"))
    assert "reasons" in " ".join(page.locator(".query ins").all_text_contents())
    assert complaints == []


def test_figures_change_while_a_run_is_written(
    page: Any,
    complaints: list[str],
    tmp_path: Path,
    serving: Callable[..., Command],
    loopback: Callable[..., LoopbackServer],
) -> None:
    mock = loopback(latency_ms=150, fixed_text="Rating: 4")
    folder = tmp_path / "runs"
    run = define(folder, "live", judge="openai/mock-judge", base_url=f"{mock.url}/v1", concurrency=1, repeats=1)
    site = serving("view", folder, "--port", "0")
    page.goto(site.address)
    process = start(run)
    page.wait_for_selector(".badge:text-is('running')", timeout=60_000)
    seen: set[str] = set()
    deadline = time.monotonic() + 60
    while len(seen) < 3 and time.monotonic() < deadline:
        seen.add(page.locator(".figures b").first.text_content())
        page.wait_for_timeout(300)
    assert len(seen) >= 3, seen
    finish(process)
    page.wait_for_selector(".badge:text-is('done')", timeout=30_000)
    assert complaints == []
    assert site.end() in (0, -2)
