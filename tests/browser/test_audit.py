"""An audit as people go through it, in a real browser against real servers: by keyboard alone, and by touch."""

from __future__ import annotations

import json
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge.explanations.audit.adjudication import disputes
from judge.explanations.audit.answers_file import practice_score
from judge.explanations.audit.items import Form, load_form
from judge.explanations.audit.store import AuditStore, snapshot
from judge.show.web.audit_annotators import Annotators
from judge.stats.agreement.chance_agreement import gwet
from tests.browser.conftest import watch
from tests.server.command import Command
from tests.web.audits import MARKUP, make_audit

KEYS = ("wrong_guideline", "poor_syntax", "superfluous", "unsubstantiated", "incoherence")
ADA = {1: "1", 2: "", 3: "4", 4: "34", 5: "", 6: "4", 7: "", 8: "2", 9: "", 10: "4"}
BOB = {1: "1", 2: "", 3: "", 4: "3", 5: "5", 6: "4", 7: "", 8: "2", 9: "4", 10: "4"}
"""Item -> the keys that are pressed about it: the errors seen. All other categories are no."""

Serving = Callable[..., Command]


def values(pressed: str) -> dict[str, int]:
    return {key: int(str(i + 1) in pressed) for i, key in enumerate(KEYS)}


def told(plan: dict[int, str], *names: str) -> dict[tuple[str, int, str], int]:
    return {(name, item, key): v for name in names for item, keys in plan.items() for key, v in values(keys).items()}


def answered(path: Path, round_no: int = 1) -> dict[tuple[str, int, str], int]:
    with AuditStore.open(path, writing=False) as store:
        return {(one.annotator, one.item, one.category): one.value for one in store.answers(round_no=round_no)}


def until(page: Any, sentence: str) -> None:
    """Wait until the status line holds the sentence."""
    page.wait_for_function("text => document.getElementById('saved').textContent.includes(text)", arg=sentence)


def heading(page: Any) -> str:
    return str(page.evaluate("document.getElementById('where').textContent"))


def item_on(page: Any) -> int:
    """The number of the item that is on the page, told by its explanation."""
    # A page that was just opened asks for its item first.
    page.wait_for_function("/Explanation \\d+\\.$/.test(document.getElementById('explanation').textContent)")
    found = re.search(r"Explanation (\d+)\.$", page.evaluate("document.getElementById('explanation').textContent"))
    assert found is not None
    return int(found[1])


def press(page: Any, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def enter(page: Any, address: str, name: str) -> None:
    """From the address to the first item of practice, by keyboard."""
    page.goto(address)
    page.keyboard.type(name)
    page.keyboard.press("Enter")
    page.wait_for_selector("#work:not([hidden])")


def begin(page: Any, address: str, name: str) -> None:
    """From the address to the first item: name, five items of practice, all by keyboard."""
    enter(page, address, name)
    practise(page)
    page.keyboard.press("Enter")
    assert heading(page).startswith("Item 1 of")


def practise(page: Any) -> None:
    for i in range(5):
        assert heading(page) == f"Practice {i + 1} of 5"
        page.keyboard.press("0")
        page.keyboard.press("Enter")
        page.wait_for_selector("#feedback:not([hidden])")
        page.keyboard.press("Enter")
    assert heading(page) == "Practice done"


def answer(page: Any, pressed: str) -> None:
    press(page, pressed)
    if len(pressed) < len(KEYS):
        page.keyboard.press("0")


def judge(*arguments: str | Path, folder: Path) -> str:
    """What `judge ARGUMENTS` prints."""
    command = [sys.executable, "-m", "judge", *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def audit(tmp_path: Path) -> Path:
    make_audit(tmp_path / "audit.sqlite", 10).close()
    return tmp_path / "audit.sqlite"


@pytest.fixture
def server(serving: Serving, audit: Path) -> Command:
    return serving("audit", "serve", audit, "--port", "0")


def test_two_annotators_by_keyboard_alone_to_ac1(
    browser: Any, server: Command, audit: Path, complaints: list[str]
) -> None:
    for name, plan in (("Ada", ADA), ("Bob", BOB)):
        context = browser.new_context()
        page = context.new_page()
        watch(page, complaints)
        begin(page, server.address, name)
        for i in range(10):
            assert heading(page) == f"Item {i + 1} of 10"
            answer(page, plan[item_on(page)])
            until(page, "Saved")
            page.keyboard.press("Enter")
        assert heading(page) == "All 10 answered: thank you"
        context.close()
    typed = told(ADA, "Ada") | told(BOB, "Bob")
    assert answered(audit) == typed
    tables = json.loads(judge("audit", "report", audit, "--format", "json", folder=audit.parent))
    rows = {row["category"]: row for table in tables for row in table["rows"] if "ac1" in row}
    with AuditStore.open(audit, writing=False) as store:
        for category in store.categories:
            pairs = [[float(typed[name, item, category.key]) for name in ("Ada", "Bob")] for item in ADA]
            expected = gwet(np.array(pairs), categories=np.array([0.0, 1.0])).estimate.value
            assert expected is not None
            assert rows[category.label]["ac1"] == pytest.approx(expected), category.key
    assert complaints == []


def test_a_killed_server_costs_nothing(browser: Any, serving: Serving, audit: Path) -> None:
    server = serving("audit", "serve", audit, "--port", "0")
    port = server.address.rstrip("/").rpartition(":")[2]
    context = browser.new_context()
    page = context.new_page()
    uncaught: list[str] = []
    page.on("pageerror", lambda error: uncaught.append(str(error)))
    begin(page, server.address, "Ada")
    for i in range(10):
        answer(page, ADA[item_on(page)])
        if i < 3:
            until(page, "Saved")
        if i == 2:
            confirmed = answered(audit)
            server.kill()
            assert answered(audit) == confirmed
        if i == 3:
            until(page, "Not saved yet")
            assert "The server does not answer" in page.inner_text("#trouble")
            page.keyboard.press("n")
            page.keyboard.type("written without a server")
            page.keyboard.press("Escape")
            noted = item_on(page)
        if i == 5:
            # A page that is opened again has what no server confirmed; and it is sent from there as well.
            server = serving("audit", "serve", audit, "--port", port)
            page.close(run_before_unload=False)
            page = context.new_page()
            page.goto(f"{server.address}annotate?name=Ada")
            until(page, "Saved")
            assert heading(page) == "Item 7 of 10"
            server.kill()
            continue
        if i == 7:
            # The page stays open; the server that comes back has another token.
            until(page, "Not saved yet")
            server = serving("audit", "serve", audit, "--port", port)
            until(page, "Saved")
            assert page.is_hidden("#trouble")
        page.keyboard.press("Enter")
    assert heading(page) == "All 10 answered: thank you"
    until(page, "Saved")
    assert answered(audit) == told(ADA, "Ada")
    with AuditStore.open(audit, writing=False) as store:
        assert {key: note for key, (note, _) in store.remarks().items() if note} == {
            ("Ada", noted): "written without a server"
        }
        assert sum(seconds or 0 for _, seconds in store.remarks().values()) < 120
    with closing(sqlite3.connect(audit)) as db:
        (changes,) = db.execute("SELECT count(*) FROM history").fetchone()
    # One change for each key that said something and one for the note; what was unconfirmed is one change an item.
    assert changes <= sum(len(keys) + 1 for keys in ADA.values()) + 1
    assert uncaught == []


def test_markup_is_shown_as_text(page: Any, server: Command, complaints: list[str]) -> None:
    begin(page, server.address, "<i>Ada</i>")
    while item_on(page) != 1:
        page.keyboard.press("s")
    for box in ("prompt", "story", "reference-text", "explanation"):
        assert page.evaluate(f"document.getElementById('{box}').textContent").startswith(MARKUP), box
        assert page.evaluate(f"document.getElementById('{box}').children.length") == 0, box
    page.keyboard.press("q")
    page.keyboard.press("n")
    page.keyboard.type(MARKUP.replace("\u2028", ""))
    page.keyboard.press("Escape")
    until(page, "Saved")
    page.reload()
    assert "taken" not in page.title()
    assert "<i>Ada</i>" in page.inner_text("header")
    assert page.evaluate("document.querySelectorAll('main i, main img, header i').length") == 0
    assert complaints == []


def test_quotations_are_marked_on_demand(page: Any, server: Command, complaints: list[str]) -> None:
    begin(page, server.address, "Ada")
    while item_on(page) == 1:
        page.keyboard.press("s")
    assert page.locator("mark").count() == 0
    page.keyboard.press("q")
    assert page.inner_text("#quotes-found") == "1 of 2 quotations found in the story in these words."
    quoted, absent = page.locator("#explanation mark").all_inner_texts()
    assert page.locator("#story mark").all_inner_texts() == [quoted]
    assert absent == "no such words stand there"
    assert page.get_attribute("#explanation mark >> nth=1", "class") == "absent"
    page.keyboard.press("q")
    assert page.locator("mark").count() == 0
    # Stops and curly quotes at the ends, a dash of another kind, words left out: still the same words.
    cases = page.evaluate(
        """() => [['He said \u201cthe  Cat \u2013 sat.\u201d', 'Then the cat - sat down'],
                  ['\u201cthe cat \u2026 down\u201d', 'the cat sat down'], ["it's 'x' and \\"\\"", "x"],
                  ['"the dog"', 'the cat'], ['"unclosed', 'unclosed'], ['"a" "I"', 'a I'],
                  ['"art"', 'a start'], ['"unroll"', 'it unrolled']]
                 .map(([text, story]) => { const r = judge.texts.compare(text, story); return [r.found, r.all]; })"""
    )
    assert cases == [[1, 1], [1, 1], [0, 0], [0, 1], [0, 0], [0, 0], [0, 1], [1, 1]]
    assert complaints == []


def test_practice_says_what_was_expected_and_may_be_repeated(
    page: Any, server: Command, audit: Path, complaints: list[str]
) -> None:
    enter(page, server.address, "Ada")
    # A round that was never done cannot be left.
    press(page, "sp")
    assert heading(page) == "Practice 1 of 5"
    page.keyboard.press("Enter")
    assert "Still open: Wrong guideline, Poor syntax" in page.inner_text("#missing")
    press(page, "10")
    page.keyboard.press("u")
    page.keyboard.press("u")
    assert page.locator("#questions input:checked").count() == 0
    press(page, "10")
    page.keyboard.press("Enter")
    feedback = page.inner_text("#feedback")
    assert "Wrong guideline: you said yes, expected is no." in feedback
    assert "Nothing is wrong here" in feedback
    assert page.evaluate("document.activeElement.id") == "feedback"
    page.keyboard.press("2")
    assert page.is_checked("#questions [data-category=poor_syntax] input[value='0']")
    page.keyboard.press("Enter")
    for i in range(4):
        press(page, ["41", "4", "23", "5"][i])
        press(page, "0")
        page.keyboard.press("Enter")
        # What nobody expects is not said to be as expected.
        left = "Unsubstantiated claim: left open, either answer will do."
        assert (left in page.inner_text("#feedback")) == (i == 0)
        page.keyboard.press("Enter")
    assert "23 of 24 answers were as expected" in page.inner_text("#start")
    until(page, "Saved")
    page.keyboard.press("Enter")
    assert heading(page) == "Item 1 of 10"
    # A page opened again goes on with the items; practice can be repeated, and left.
    page.reload()
    assert heading(page) == "Item 1 of 10"
    page.keyboard.press("p")
    page.get_by_role("button", name="Practise again").click()
    assert heading(page) == "Practice 1 of 5"
    press(page, "0")
    page.keyboard.press("Enter")
    until(page, "Saved")
    page.keyboard.press("Enter")
    page.keyboard.press("s")
    assert heading(page) == "All items"
    with AuditStore.open(audit, writing=False) as store:
        right, of = practice_score(snapshot(store), "Ada")
        assert store.answers() == []
    assert (right, of) == (24, 24)
    assert complaints == []


def test_undo_notes_and_going_back(page: Any, server: Command, audit: Path, complaints: list[str]) -> None:
    begin(page, server.address, "Ada")
    first = item_on(page)
    assert "nothing to undo" in undo(page)
    press(page, "44")
    until(page, "Saved")
    assert answered(audit) == {("Ada", first, "unsubstantiated"): 0}
    page.keyboard.press("4")
    page.keyboard.press("0")
    page.keyboard.press("n")
    # Keys are letters while one types, and Enter is a new line.
    page.keyboard.type("12345 0 unqrpbs?")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    until(page, "Saved")
    assert heading(page) == "Item 1 of 10"
    assert answered(audit) == told({first: "4"}, "Ada")
    assert note_of(audit, first) == "12345 0 unqrpbs?\n"
    page.keyboard.press("Enter")
    second = item_on(page)
    assert page.evaluate("document.activeElement.id") == "where"
    press(page, "2")
    until(page, "Poor syntax: yes · Saved")
    # Undo goes back over the items, one step at a time, even after the page was opened again.
    page.reload()
    press(page, "u")
    until(page, "Undone · Saved")
    assert answered(audit) == told({first: "4"}, "Ada")
    assert item_on(page) == second
    press(page, "u")
    until(page, "Undone · Saved")
    assert (item_on(page), note_of(audit, first)) == (first, "")
    press(page, "u")
    until(page, "Undone · Saved")
    assert answered(audit) == {("Ada", first, "unsubstantiated"): 1}
    press(page, "0")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowLeft")
    assert item_on(page) == first
    page.keyboard.press("p")
    assert heading(page) == "All items"
    assert page.locator("#all-items button").first.inner_text().endswith("✓ 1 error")
    # From the list: back to the item seen last, or to that of the last change, which is undone.
    for key in "pb":
        page.keyboard.press(key)
        assert item_on(page) == first
        page.keyboard.press("p")
    page.keyboard.press("u")
    until(page, "Undone · Saved")
    assert (item_on(page), heading(page)) == (first, "Item 1 of 10")
    assert answered(audit) == {("Ada", first, "unsubstantiated"): 1}
    page.keyboard.press("0")
    page.keyboard.press("p")
    page.keyboard.press("Enter")
    assert item_on(page) == second
    assert complaints == []


def test_each_item_begins_at_the_top_of_its_story_and_more_of_it_is_announced(
    page: Any, serving: Serving, tmp_path: Path, complaints: list[str]
) -> None:
    with make_audit(tmp_path / "short.sqlite") as store:
        subjects = [item.subject for item in store.items()]
    long = " ".join(f"Sentence {i} of a story that is long." for i in range(400))
    same = [replace(subjects[1], text=long, explanation=f"Explanation {i + 1}.") for i in range(2)]
    brief = replace(subjects[1], text="A lamp.", explanation="Explanation 3.")
    AuditStore.create(tmp_path / "audit.sqlite", [*same, brief], form=Form(load_form().categories)).close()
    server = serving("audit", "serve", tmp_path / "audit.sqlite", "--port", "0")
    enter(page, server.address, "Ada")
    top = "document.getElementById('story').scrollTop"
    seen = {}
    for i in range(3):
        number = item_on(page)
        assert page.inner_text("#number") == f"no. {number}"
        assert page.evaluate(top) == 0
        assert page.locator("#story.more").count() == int(number < 3)
        if number < 3:
            press(page, "jj")
            page.wait_for_function(f"{top} > 100")
            seen[i] = page.evaluate(top)
            page.keyboard.press("End")
            page.evaluate("document.getElementById('story').scrollTop = 1e6")
            page.wait_for_selector("#story:not(.more)")
            page.evaluate(f"document.getElementById('story').scrollTop = {seen[i]}")
            page.wait_for_selector("#story.more")
        page.keyboard.press("s")
    # The same item again is where it was left.
    for i in range(3):
        assert page.evaluate(top) == seen.get(i, 0)
        page.keyboard.press("s")
    assert complaints == []


def test_nothing_moves_and_the_buttons_stay_in_sight(browser: Any, server: Command, complaints: list[str]) -> None:
    context = browser.new_context(viewport={"width": 1440, "height": 700})
    page = context.new_page()
    watch(page, complaints)
    enter(page, server.address, "Ada")
    size = "(b => [b.width, b.height])(document.querySelector('#questions').getBoundingClientRect())"
    before = page.evaluate(size)
    page.keyboard.press("Enter")
    press(page, "12340")
    assert page.evaluate(size) == before
    page.keyboard.press("Enter")
    page.wait_for_selector("#feedback:not([hidden])")
    box = page.locator("#next").bounding_box()
    assert box["y"] + box["height"] <= 700
    context.close()
    assert complaints == []


@pytest.mark.parametrize(
    ("width", "height"), [(1280, 720), (1280, 600), (1366, 768), (1440, 700), (1024, 768), (390, 844)]
)
def test_feedback_of_practice_is_in_sight_and_nothing_covers_it(
    browser: Any, server: Command, complaints: list[str], width: int, height: int
) -> None:
    for pressed in ("0", "12345"):
        context = browser.new_context(viewport={"width": width, "height": height})
        page = context.new_page()
        watch(page, complaints)
        page.goto(server.address)
        page.fill("#name", f"Ada {pressed}")
        page.locator("#name").press("Enter")
        page.wait_for_selector("#work:not([hidden])")
        for _ in range(5):
            press(page, pressed)
            page.keyboard.press("Enter")
            page.wait_for_selector("#feedback:not([hidden])")
            found = page.evaluate(_UNCOVERED)
            assert found["covered"] == []
            if (width, height) == (1280, 720) and pressed == "0":
                assert found["whole"], "what was expected can be read without scrolling"
            page.keyboard.press("Enter")
        context.close()
    assert complaints == []


_UNCOVERED = """() => {
  const covered = [];
  const box = document.getElementById('feedback').getBoundingClientRect();
  const inside = (x, y) => document.elementFromPoint(x, y)?.closest('#feedback') !== null;
  for (const x of [box.left + 12, (box.left + box.right) / 2, box.right - 12]) {
    for (const y of [box.top + 12, (box.top + box.bottom) / 2, box.bottom - 12]) {
      if (x < 0 || y < 0 || x > innerWidth || y > innerHeight || !inside(x, y)) covered.push([x, y]);
    }
  }
  const next = document.getElementById('next').getBoundingClientRect();
  if (next.bottom > innerHeight || next.top < box.bottom - 1) covered.push('next');
  const feedback = document.getElementById('feedback');
  return { covered, whole: feedback.scrollHeight <= feedback.clientHeight + 1 };
}"""


def test_a_browser_remembers_the_name_that_was_used_in_it(browser: Any, server: Command, complaints: list[str]) -> None:
    for remembered in ("Ada", ""):
        context = browser.new_context()
        page = context.new_page()
        watch(page, complaints)
        page.goto(server.address)
        assert page.input_value("#name") == ""
        if remembered:
            page.keyboard.type(remembered)
            page.keyboard.press("Enter")
            page.wait_for_selector("#work:not([hidden])")
            page.goto(server.address)
        assert page.input_value("#name") == remembered
        context.close()
    assert complaints == []


def own_link(audit: Path, name: str, where: str = "/annotate") -> str:
    with AuditStore.open(audit) as store:
        return Annotators(store).link(name, where)


def undo(page: Any) -> str:
    page.keyboard.press("u")
    return str(page.inner_text("#saved"))


def note_of(audit: Path, item: int) -> str:
    with AuditStore.open(audit, writing=False) as store:
        return store.state("Ada", item).note


def test_a_phone_is_wide_enough_and_touch_does_everything(
    browser: Any, server: Command, audit: Path, complaints: list[str]
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    watch(page, complaints)

    def fits() -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390

    page.goto(server.address)
    fits()
    page.fill("#name", "Ada")
    page.get_by_role("button", name="Begin or continue").tap()
    page.wait_for_selector("#work:not([hidden])")
    for _ in range(5):
        page.get_by_role("button", name="No errors").tap()
        page.get_by_role("button", name="Check").tap()
        fits()
        page.get_by_role("button", name="Next").tap()
    page.get_by_role("button", name="Begin").tap()
    # The answers stay in reach at the foot of the screen, however far one reads.
    page.evaluate("window.scrollTo(0, 300)")
    for name in ("Poor syntax: Yes", "Incoherence: No"):
        box = page.get_by_label(name).bounding_box()
        assert box is not None
        assert 0 < box["y"] < 844 - box["height"] + 1
        assert box["height"] >= 32
        assert box["width"] >= 44
    plan = {}
    for _ in range(10):
        plan[item_on(page)] = "2"
        page.get_by_label("Poor syntax: Yes").tap()
        page.get_by_role("button", name="No further errors").tap()
        fits()
        page.get_by_role("button", name="Next").tap()
    assert heading(page) == "All 10 answered: thank you"
    fits()
    until(page, "Saved")
    assert answered(audit) == told(plan, "Ada")
    page.goto(f"{server.address}results")
    fits()
    context.close()
    assert complaints == []


def test_a_pack_gives_the_same_answers_as_the_server(
    browser: Any, server: Command, audit: Path, complaints: list[str]
) -> None:
    folder = audit.parent
    written = judge("audit", "pack", audit, "--annotators", "Ada,Bob", "-o", "pack", folder=folder).split()
    context = browser.new_context(accept_downloads=True, offline=True)
    page = context.new_page()
    watch(page, complaints)
    page.goto((folder / written[0]).as_uri())
    assert "10 explanations" in page.inner_text("#start")
    page.keyboard.press("Enter")
    practise(page)
    page.keyboard.press("Enter")
    for i in range(10):
        assert heading(page) == f"Item {i + 1} of 10"
        answer(page, ADA[item_on(page)])
        if i == 4:
            press(page, "n")
            page.keyboard.type("a note")
            page.keyboard.press("Escape")
            noted = item_on(page)
            page.reload()
            assert heading(page) == "Item 6 of 10"
            continue
        page.keyboard.press("Enter")
    with page.expect_download() as found:
        page.get_by_role("button", name="Download answers").click()
    file = folder / found.value.suggested_filename
    found.value.save_as(file)
    # The other annotator's page knows nothing of the first one's answers.
    page.goto((folder / written[1]).as_uri())
    assert "10 explanations" in page.inner_text("#start")
    context.close()
    assert file.name == "answers-Ada.json"
    for _ in range(2):
        judge("audit", "import", audit, file, folder=folder)
    assert answered(audit) == told(ADA, "Ada")
    assert note_of(audit, noted) == "a note"
    with AuditStore.open(audit, writing=False) as store:
        assert practice_score(snapshot(store), "Ada")[1] > 0
    context = browser.new_context()
    page = context.new_page()
    watch(page, complaints)
    page.goto(server.address.rstrip("/") + own_link(audit, "Ada"))
    page.wait_for_selector("#list:not([hidden])")
    assert heading(page) == "All 10 answered: thank you"
    context.close()
    assert complaints == []


def test_disagreements_are_settled_by_keyboard(page: Any, server: Command, audit: Path, complaints: list[str]) -> None:
    with AuditStore.open(audit) as store:
        for name, plan in (("Ada", ADA), ("Bob", BOB)):
            for item, keys in plan.items():
                store.answer(name, item, values(keys), note=f"{name} says" if item == 3 else "")
    page.goto(f"{server.address}results")
    assert "Annotators differ on 4 items; 4 are still to settle." in page.inner_text("main")
    page.fill("#name", "Eve")
    page.keyboard.press("Enter")
    page.wait_for_selector("#work:not([hidden])")
    assert heading(page) == "Disagreement 1 of 4"
    assert item_on(page) == 3
    assert page.locator("#questions .question").count() == 1
    assert "Annotator A: yes · Annotator B: no" in page.inner_text("#questions")
    assert "Bob" not in page.inner_text("#others h2 ~ .given-answers strong >> nth=1")
    page.keyboard.press("a")
    assert "Ada: yes · Bob: no" in page.inner_text("#questions")
    assert "Ada says" in page.inner_text("#others")
    page.keyboard.press("4")
    page.keyboard.press("n")
    page.keyboard.type("No word of the story bears it out.")
    page.keyboard.press("Escape")
    page.keyboard.press("Enter")
    for _ in range(3):
        page.keyboard.press("0")
        page.keyboard.press("Enter")
    assert heading(page) == "All 4 answered: thank you"
    until(page, "Saved")
    with AuditStore.open(audit, writing=False) as store:
        assert {one.item: one.settled for one in disputes(snapshot(store))} == {
            3: {"unsubstantiated": 1},
            4: {"unsubstantiated": 0},
            5: {"incoherence": 0},
            9: {"unsubstantiated": 0},
        }
        assert store.remarks(round_no=2)["Eve", 3][0] == "No word of the story bears it out."
    # Somebody else sees what was settled and by whom, and cannot change it.
    page.goto(server.address.rstrip("/") + own_link(audit, "Mallory", "/adjudicate"))
    page.wait_for_selector("#list:not([hidden])")
    assert "settled by Eve" in page.inner_text("#all-items li >> nth=0")
    page.locator("#all-items button").first.click()
    assert page.locator("#questions input:disabled").count() == 2
    assert "Settled by Eve" in page.inner_text("#others")
    assert complaints == []


CONTRAST = """() => {
  const parse = (text) => {
    const n = text.match(/[\\d.]+/g).map(Number);
    return { rgb: n.slice(0, 3), alpha: n.length > 3 ? n[3] : 1 };
  };
  const light = (rgb) => rgb.map((c) => { c /= 255; return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; })
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const background = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const found = parse(getComputedStyle(at).backgroundColor);
      if (found.alpha === 1) return found.rgb;
    }
    return matchMedia('(prefers-color-scheme: dark)').matches ? [0, 0, 0] : [255, 255, 255];
  };
  const low = [];
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode.parentElement;
    const text = walker.currentNode.textContent.trim();
    if (!text || !node.checkVisibility() || node.closest('[disabled], script, .skip')) continue;
    const [a, b] = [light(parse(getComputedStyle(node).color).rgb), light(background(node))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    seen += 1;
    if (ratio < 4.5) low.push(`${node.tagName} ${node.className} "${text.slice(0, 40)}": ${ratio}`);
  }
  return { low, seen };
}"""

FOCUS = """() => {
  const node = document.activeElement;
  const shown = node.matches('input[type=radio]') ? node.nextElementSibling : node;
  const style = getComputedStyle(shown);
  const label = node.getAttribute('aria-label');
  return { tag: node.tagName, name: `${node.tagName}#${node.id}|${label}|${node.textContent.slice(0, 30)}`,
           width: style.outlineStyle === 'none' ? 0 : parseFloat(style.outlineWidth) };
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_can_be_read_by_everybody(
    browser: Any, server: Command, audit: Path, complaints: list[str], scheme: str
) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    watch(page, complaints)
    page.goto(server.address)
    readable(page)
    page.keyboard.type("Ada")
    page.keyboard.press("Enter")
    page.wait_for_selector("#work:not([hidden])")
    page.keyboard.press("Enter")
    readable(page)
    press(page, "10")
    with page.expect_response("**/practice"):  # a page that is left earlier aborts its own request
        page.keyboard.press("Enter")
    readable(page)
    page.goto(f"{server.address}annotate?name=Ada")
    for _ in range(4):
        press(page, "0")
        page.keyboard.press("Enter")
        page.keyboard.press("Enter")
    readable(page)
    page.keyboard.press("Enter")
    press(page, "2q")
    until(page, "Saved")
    readable(page)
    reachable(page)
    page.keyboard.press("?")
    readable(page)
    page.keyboard.press("Escape")
    assert not page.evaluate("document.getElementById('help').open")
    page.keyboard.press("p")
    readable(page)
    for item in range(1, 11):
        with AuditStore.open(audit) as store:
            store.answer("Ada", item, values(ADA[item]))
            store.answer("Bob", item, values(BOB[item]))
    for path in ("", "results", own_link(audit, "Eve", "/adjudicate")[1:]):
        page.goto(server.address + path)
        readable(page)
    context.close()
    assert complaints == []


def readable(page: Any) -> None:
    """Contrast of every text that is to be seen, and a name for everything that can be used."""
    found = page.evaluate(CONTRAST)
    assert found["low"] == []
    assert found["seen"] > 5
    session = page.context.new_cdp_session(page)
    used = {
        "button",
        "radio",
        "textbox",
        "link",
        "checkbox",
        "combobox",
        "dialog",
        "region",
        "progressbar",
        "radiogroup",
    }
    nameless = [
        node
        for node in session.send("Accessibility.getFullAXTree")["nodes"]
        if not node["ignored"]
        and node.get("role", {}).get("value") in used
        and not node.get("name", {}).get("value", "").strip()
    ]
    assert nameless == []
    session.detach()


def reachable(page: Any) -> None:
    """Tab goes through everything, shows where it is, and comes round again: no trap."""
    page.evaluate("document.activeElement.blur(); window.getSelection().removeAllRanges()")
    seen: list[str] = []
    for _ in range(60):
        page.keyboard.press("Tab")
        found = page.evaluate(FOCUS)
        if found["tag"] == "BODY" or found["name"] in seen:
            break
        assert found["width"] >= 2, found
        seen.append(found["name"])
    else:
        pytest.fail(f"Tab never comes round: {seen}")
    text = " ".join(seen)
    for wanted in ("#story", "#note", "#next", "#undo", "#later", "#none", "#quotes", "#to-list", "Incoherence"):
        assert wanted in text, (wanted, seen)


def test_two_tabs_take_nothing_from_each_other(browser: Any, serving: Serving, audit: Path) -> None:
    """A tab that was opened before another one answered, and the answers of both while no server answers."""
    server = serving("audit", "serve", audit, "--port", "0")
    port = server.address.rstrip("/").rpartition(":")[2]
    context = browser.new_context()
    first = context.new_page()
    begin(first, server.address, "Ada")
    item = item_on(first)
    second = context.new_page()
    second.goto(first.url)
    assert item_on(second) == item
    # Five answers and a note in the first tab; one answer in the second, which knows none of them.
    answer(first, "1")
    first.keyboard.press("n")
    first.keyboard.type("a note")
    first.keyboard.press("Escape")
    until(first, "Note · Saved")
    assert answered(audit) == told({item: "1"}, "Ada")
    # The second tab did not know that this was answered: nothing is overwritten, and it is told what stands there.
    second.keyboard.press("4")
    until(second, "Unsubstantiated claim: yes · Changed elsewhere")
    assert "in another tab" in second.inner_text("#trouble")
    assert answered(audit) == told({item: "1"}, "Ada")
    assert second.locator("#questions input:checked").count() == len(KEYS)
    second.keyboard.press("4")
    until(second, "Unsubstantiated claim: yes · Saved")
    assert answered(audit) == told({item: "14"}, "Ada")
    assert note_of(audit, item) == "a note"
    # It takes back its own change alone.
    assert second.input_value("#note") == "a note"
    second.keyboard.press("u")
    until(second, "Undone · Saved")
    assert answered(audit) == told({item: "1"}, "Ada")
    second.keyboard.press("u")
    assert "nothing to undo" in second.inner_text("#saved")
    # Without a server each tab keeps its own answers beside the other's, and a page opened anew sends both.
    server.kill()
    first.keyboard.press("2")
    second.keyboard.press("4")
    for tab in (first, second):
        until(tab, "Not saved yet")
    assert len(first.evaluate("Object.keys(localStorage).filter((key) => key.includes(':waiting:'))")) == 2
    for tab in (first, second):
        tab.close(run_before_unload=False)
    server = serving("audit", "serve", audit, "--port", port)
    third = context.new_page()
    third.goto(f"{server.address}annotate?name=Ada")
    until(third, "Saved")
    assert answered(audit) == told({item: "124"}, "Ada")
    assert third.evaluate("Object.keys(localStorage).filter((key) => key.includes(':waiting:'))") == []
    context.close()


@pytest.mark.parametrize("shown", [False, True])
def test_a_phone_has_the_explanation_first_and_no_judge(
    browser: Any, serving: Serving, tmp_path: Path, complaints: list[str], shown: bool
) -> None:
    path = tmp_path / "plain.sqlite"
    make_audit(path).close()
    server = serving("audit", "serve", path, "--port", "0", *(["--show-judge"] if shown else []))
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    watch(page, complaints)
    page.goto(server.address)
    page.fill("#name", "Ada")
    page.get_by_role("button", name="Begin or continue").tap()
    page.wait_for_selector("#work:not([hidden])")
    facts = page.locator("#facts").text_content()
    sent = page.content()
    assert ("the-judge-nobody-may-see" in sent, "ep3-secret" in sent, "Rating: 4" in facts) == (shown, shown, shown)
    assert not page.locator("#story").is_visible()
    tops = [page.locator(one).bounding_box()["y"] for one in ("#explanation", "#questions", "#unfold-story")]
    assert tops == sorted(tops)
    assert tops[0] < 300
    page.locator("#unfold-story").tap()
    assert page.locator("#story").is_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    context.close()
    with AuditStore.open(path, writing=False) as store:
        assert store.blind == (() if shown else ("judge", "eval_prompt", "rating"))
        assert store.item(1).subject.facts.rating == 4
    assert complaints == []
