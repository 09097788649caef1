"""People rate stories in a real browser against real servers: by keyboard alone, by touch, and when things break."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.inputs.criteria import load_criteria
from judge.lab.people.exchanged import import_answers
from judge.lab.people.options import DesignOptions
from judge.lab.people.store import UNSURE, StudyStore, read_study
from judge.lab.people.study import draw
from judge.show.web.people_pages import owners_of
from tests.browser.conftest import watch
from tests.browser.test_audit import readable
from tests.people.conftest import drawn, stories
from tests.people.test_pairs import drawn as drawn_pairs
from tests.server.command import Command

Serving = Callable[..., Command]
CRITERIA = ("Relevance", "Coherence", "Empathy")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "people.sqlite"
    StudyStore.create(path, drawn(4), "We ask you to rate stories.\n\nYou may leave at any time.").close()
    return path


@pytest.fixture
def server(serving: Serving, study: Path) -> Command:
    return serving("people", "serve", study, "--port", "0")


def link(study: Path, rater: str = "r01") -> str:
    with StudyStore.open(study) as store:
        return owners_of(store).link(rater)


def open_(page: Any, server: Command, study: Path, rater: str = "r01") -> None:
    page.goto(server.address.rstrip("/") + link(study, rater))


def heading(page: Any) -> str:
    return str(page.inner_text("#where"))


def until(page: Any, sentence: str) -> None:
    page.wait_for_function("text => document.getElementById('saved').textContent.includes(text)", arg=sentence)


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def begin(page: Any, server: Command, study: Path, rater: str = "r01") -> None:
    """From the link to the first story: consent, guidelines, two texts of practice."""
    open_(page, server, study, rater)
    assert heading(page) == "Ratings of stories"
    press(page, "Enter")
    assert heading(page) == "How to rate"
    press(page, "Enter")
    assert heading(page) == "Practice 1 of 2"
    press(page, *"543", "Enter", *"221", "Enter")
    page.wait_for_selector("#feedback:not([hidden])")
    assert page.inner_text("#feedback").startswith("As expected")
    press(page, "Enter")
    assert re.match(r"Story 1 of \d+", heading(page))
    # Another tab or device begins with what the server has.
    page.wait_for_function("() => !Object.keys(localStorage).some((key) => key.includes(':waiting:'))")


def plan(study: Path, rater: str) -> dict[int, tuple[int, int, int]]:
    """Place -> what the rater will say, a different pattern at each place."""
    with StudyStore.open(study, writing=False) as store:
        entries = store.entries(rater)
    return {
        i: (1 + i % 5, 1 + (i * 2) % 5, 1 + (i + len(rater)) % 5) for i, e in enumerate(entries) if e.use != "practice"
    }


def stored(study: Path, rater: str) -> dict[int, tuple[float, ...]]:
    found = read_study(study)
    return {
        one.place: tuple(one.state.values[name] for name in CRITERIA)
        for one in found.answered
        if one.rater == rater and one.entry.use != "practice" and len(one.state.values) == len(CRITERIA)
    }


def test_twelve_stories_by_three_people_by_keyboard_alone(
    browser: Any, server: Command, study: Path, complaints: list[str]
) -> None:
    for rater in ("r01", "r02", "r03"):
        context = browser.new_context()
        page = context.new_page()
        watch(page, complaints)
        begin(page, server, study, rater)
        wanted = plan(study, rater)
        for place in sorted(wanted):
            if heading(page) == "A break":
                press(page, "Enter")
            assert heading(page) == f"Story {place - 1} of {len(wanted)}"
            press(page, *map(str, wanted[place]), "Enter")
        assert heading(page) == "My stories"
        assert "All answered" in page.inner_text("#list-head")
        until(page, "Saved")
        assert stored(study, rater) == wanted
        context.close()
    found = read_study(study)
    assert (found.given, found.asked, found.late) == (108, 108, 0)
    assert found.consented == {"r01", "r02", "r03"}
    assert complaints == []


@pytest.mark.parametrize("rater", ["r01", "r02", "r03"])
def test_twelve_stories_by_touch_on_a_phone(
    browser: Any, server: Command, study: Path, complaints: list[str], rater: str
) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    watch(page, complaints)

    def fits() -> None:
        assert page.evaluate("document.documentElement.scrollWidth") <= 390

    open_(page, server, study, rater)
    fits()
    page.get_by_role("button", name="I agree, begin").tap()
    fits()
    page.get_by_role("button", name="Go on").tap()
    wanted = plan(study, rater)
    for place in range(len(wanted) + 2):
        if heading(page) == "A break":
            page.get_by_role("button", name="Go on").tap()
        for name, value in zip(CRITERIA, wanted.get(place, (3, 3, 3)), strict=True):
            button = page.locator(f"[data-criterion={name}] label").nth(int(value) - 1)
            box = button.bounding_box()

            assert box is not None
            assert min(box["width"], box["height"]) >= 44
            assert 0 < box["y"] < 844 - box["height"]
            button.tap()
        fits()
        page.locator("#next").tap()
        if page.is_visible("#feedback"):
            page.locator("#next").tap()
    assert heading(page) == "My stories"
    until(page, "Saved")
    assert stored(study, rater) == wanted
    with StudyStore.open(study, writing=False) as store:
        facts = {text for (text,) in store.select("SELECT json_extract(facts, '$.input') FROM answers")}
    assert facts == {"touch"}
    context.close()
    assert complaints == []


def test_a_server_killed_at_twenty_moments_loses_and_doubles_nothing(
    browser: Any, serving: Serving, study: Path
) -> None:
    server = serving("people", "serve", study, "--port", "0")
    port = server.address.rstrip("/").rpartition(":")[2]
    context = browser.new_context()
    page = context.new_page()
    begin(page, server, study)
    wanted = plan(study, "r01")
    kills = 0
    for place in sorted(wanted):
        if heading(page) == "A break":
            press(page, "Enter")
        for i, value in enumerate(wanted[place]):
            press(page, str(value))
            if kills < 20 and (place + i) % 2 == 0:
                # Some answers are on their way, some are confirmed, some wait.
                if kills % 3 == 1:
                    until(page, "Saved")
                server.kill()
                kills += 1
                server = serving("people", "serve", study, "--port", port)
        press(page, "Enter")
    assert kills == 20
    until(page, "Saved")
    page.wait_for_function("() => !Object.keys(localStorage).some((key) => key.includes(':waiting:'))")
    assert stored(study, "r01") == wanted
    with StudyStore.open(study, writing=False) as store:
        rows = store.select("SELECT count(*), count(DISTINCT message || field) FROM answers WHERE field != ''")[0]
    assert rows[0] == rows[1] == 3 * len(wanted) + 6
    context.close()


def test_two_tabs_and_two_devices_overwrite_nothing_unseen(browser: Any, server: Command, study: Path) -> None:
    context, elsewhere = browser.new_context(), browser.new_context()
    first = context.new_page()
    begin(first, server, study)
    second, third = context.new_page(), elsewhere.new_page()
    for page in (second, third):
        open_(page, server, study)
        assert heading(page).startswith("Story 1")
    press(first, *"123")
    until(first, "Empathy: 3 · Saved")
    for page in (second, third):
        press(page, "5")
        until(page, "Changed elsewhere")
        assert "in another tab" in page.inner_text("#trouble")
        assert page.locator("#criteria input:checked").count() == 3
        assert stored(study, "r01")[2] == (1, 2, 3)
    # Having seen it, one may change it.
    press(third, "ArrowUp", "5")
    until(third, "Relevance: 5 · Saved")
    assert stored(study, "r01")[2] == (5, 2, 3)
    assert read_study(study).late == 2
    for one in (context, elsewhere):
        one.close()


def test_offline_and_back_and_a_page_opened_anew(browser: Any, server: Command, study: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    begin(page, server, study)
    wanted = plan(study, "r01")
    context.set_offline(True)
    for place in (2, 3):
        press(page, *map(str, wanted[place]), "Enter")
    until(page, "Not saved yet")
    assert "wait in this browser" in page.title()
    assert stored(study, "r01") == {}
    page.close(run_before_unload=False)
    context.set_offline(False)
    page = context.new_page()
    open_(page, server, study)
    until(page, "Saved")
    assert stored(study, "r01") == {place: wanted[place] for place in (2, 3)}
    assert heading(page).startswith("Story 3")
    context.close()


def test_undo_back_comment_skip_break_and_list(page: Any, server: Command, study: Path, complaints: list[str]) -> None:
    begin(page, server, study)
    press(page, "Enter")
    assert page.inner_text("#missing") == "Still open: Relevance, Coherence, Empathy."
    press(page, "4", "u")
    until(page, "Undone · Saved")
    assert page.locator("#criteria input:checked").count() == 0
    press(page, *"123", "c")
    page.keyboard.type("12345 subg?")
    press(page, "Escape")
    until(page, "Comment · Saved")
    press(page, "Enter")
    assert heading(page).startswith("Story 2")
    page.go_back()
    assert heading(page).startswith("Story 1")
    assert page.input_value("#comment") == "12345 subg?"
    page.go_forward()
    press(page, "s", "2")
    assert heading(page).startswith("Story 3")
    press(page, "b")
    assert heading(page) == "A break"
    press(page, "Enter", "l")
    assert page.locator("#all-items button").nth(0).inner_text() == "Story 1 · ✓ · comment"
    assert page.locator("#all-items button").nth(1).inner_text() == "Story 2 · skipped"
    page.locator("#all-items button").nth(1).click()
    press(page, "3")
    until(page, "Relevance: 3 · Saved")
    with StudyStore.open(study, writing=False) as store:
        assert (store.state("r01", 2).values, store.state("r01", 2).comment) == (
            dict(zip(CRITERIA, (1, 2, 3), strict=True)),
            "12345 subg?",
        )
        assert store.state("r01", 3).skip == ""
        assert [kind for kind, _, _ in store.events("r01")] == ["consent", "guidelines", "break"]
    given = ["3", "1", "2"]
    # A key that is held down rates one criterion; the keys of another layout are digits by their place.
    page.evaluate(
        """() => { for (const [key, code, repeat] of [["&", "Digit1", 0], ["&", "Digit1", 1], ["2", "Numpad2", 0]])
             document.body.dispatchEvent(new KeyboardEvent("keydown", { key, code, repeat, bubbles: true })); }"""
    )
    until(page, "Saved")
    assert page.evaluate("[...document.querySelectorAll('#criteria :checked')].map((one) => one.value)") == given
    assert complaints == []


def test_nobody_reads_or_writes_anothers_answers(browser: Any, server: Command, study: Path) -> None:
    with StudyStore.open(study) as store:
        key = owners_of(store).key("r01")
        store.save("r02", 2, {"Coherence": 2, "comment": "a secret"}, message="a-1")
        study_id = store.study_id
    context = browser.new_context()
    page = context.new_page()
    for path in ("rate", "rate?name=r02", f"rate?name=r02&own={key}", "rate?name=r99&own=x"):
        page.goto(server.address + path)
        assert "a secret" not in page.content()
        assert "own link" in page.inner_text("main")
    page.goto(server.address.rstrip("/") + link(study))
    assert "r02" not in page.content()
    for word in ("Human", '"use"', "repeat_of", "sentence-shuffle"):
        assert word not in page.evaluate("document.getElementById('task').textContent")
    tried = page.evaluate(
        """async ([study, own]) => {
             const token = document.querySelector("meta[name=judge-token]").content;
             const statuses = [];
             for (const [rater, secret] of [["r02", own], ["r02", ""], ["r01", "wrong"]]) {
               const body = { study, rater, own: secret, message: "x-1", item: 2, values: { Coherence: 5 } };
               const headers = { "x-judge-token": token };
               const reply = await fetch("/ratings", { method: "POST", body: JSON.stringify(body), headers });
               statuses.push(reply.status);
             }
             return statuses;
           }""",
        [study_id, key],
    )
    assert tried == [403, 403, 403]
    with StudyStore.open(study) as store:
        assert store.state("r02", 2).values == {"Coherence": 2}
        store.withdraw("r01", erase=False)
    page.reload()
    assert "You have left this study" in page.inner_text("main")
    context.close()


def test_a_pack_gives_the_same_answers_as_the_server(browser: Any, study: Path, complaints: list[str]) -> None:
    command = [sys.executable, "-m", "judge", "people", "pack", str(study), "-o", "pack"]
    written = subprocess.run(command, cwd=study.parent, capture_output=True, text=True, check=True).stdout.split()
    assert [Path(name).name for name in written] == ["rate-r01.html", "rate-r02.html", "rate-r03.html"]
    context = browser.new_context(accept_downloads=True, offline=True)
    page = context.new_page()
    watch(page, complaints)
    page.goto((study.parent / written[0]).as_uri())
    press(page, "Enter", "Enter", *"543", "Enter", *"221", "Enter", "Enter")
    wanted = plan(study, "r01")
    for place in sorted(wanted):
        if heading(page) == "A break":
            press(page, "Enter")
        press(page, *map(str, wanted[place]), "Enter")
        if place == 4:
            page.reload()
    assert heading(page) == "My stories"
    with page.expect_download() as found:
        page.get_by_role("button", name="Download answers").click()
    file = study.parent / found.value.suggested_filename
    found.value.save_as(file)
    context.close()
    for _ in range(2):
        with StudyStore.open(study) as store:
            assert len(import_answers(store, file)) == 1
    assert stored(study, "r01") == wanted
    assert complaints == []


def test_a_browser_that_keeps_nothing_says_so(browser: Any, server: Command, study: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.add_init_script("Storage.prototype.setItem = () => { throw new Error('QuotaExceededError'); };")
    begin(page, server, study)
    context.set_offline(True)
    press(page, "4")
    page.wait_for_selector("#trouble:not([hidden])")
    context.set_offline(False)
    until(page, "Saved")
    assert read_study(study).answered[-1].state.values == {"Relevance": 4}
    context.close()


def test_the_clock_waits_for_careful_readers_and_not_for_sleeping_machines(
    page: Any, server: Command, study: Path
) -> None:
    begin(page, server, study)
    seconds = page.evaluate(
        """() => {
             let now = 0; const clock = new judge.Clock(() => now, () => now);
             const run = (count, step = 1000, hidden = false, paused = false) => {
               let sum = 0;
               for (let i = 0; i < count; i += 1) { now += step; sum += clock.tick(hidden, paused).active; }
               return sum;
             };
             clock.reading(30); const brief = run(200);
             clock.touch(); clock.reading(500); const long = run(200);
             clock.touch(); const asleep = run(1, 3600000);
             const away = run(10, 1000, true); const rest = run(10, 1000, false, true);
             return [brief, long, asleep, away, rest];
           }"""
    )
    assert seconds == [120, 200, 0, 0, 0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_can_be_read_by_everybody(
    browser: Any, server: Command, study: Path, complaints: list[str], scheme: str
) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": 1280, "height": 800})
    page = context.new_page()
    watch(page, complaints)
    open_(page, server, study)
    readable(page)
    press(page, "Enter")
    readable(page)
    press(page, "Enter", "4")
    until(page, "Saved")
    readable(page)
    press(page, "?")
    readable(page)
    press(page, "Escape", "s")
    readable(page)
    press(page, "Escape", "l")
    readable(page)
    context.close()
    assert complaints == []


def test_criteria_one_by_one(page: Any, serving: Serving, tmp_path: Path, complaints: list[str]) -> None:
    path = tmp_path / "one.sqlite"
    StudyStore.create(path, drawn(4, together=False), "We ask you.").close()
    server = serving("people", "serve", path, "--port", "0")
    begin(page, server, path)
    assert page.locator("#criteria .criterion:visible").count() == 1
    press(page, *"45")
    assert page.locator("#criteria .criterion:visible").get_attribute("data-criterion") == "Empathy"
    press(page, "1", "Enter")
    assert heading(page).startswith("Story 2")
    # What was confirmed before the next story opened is not said again.
    page.wait_for_function("() => !Object.keys(localStorage).some((key) => key.includes(':waiting:'))")
    assert stored(path, "r01") == {2: (4, 5, 1)}
    assert complaints == []


KEYS = ("ArrowLeft", "ArrowRight", "t", "x")


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.sqlite"
    StudyStore.create(path, drawn_pairs(4, raters=3, practice=2), "We ask you to compare stories.").close()
    return path


def places(study: Path, rater: str) -> dict[int, dict[str, float]]:
    """Place -> what the rater will say of a pair on each criterion, a different pattern at each place."""
    with StudyStore.open(study, writing=False) as store:
        names, entries = store.names, store.entries(rater)
    return {i: {name: float((i + 2 * c) % 4) for c, name in enumerate(names)} for i in range(len(entries)) if i}


def kept(study: Path, rater: str) -> dict[int, dict[str, float]]:
    found = read_study(study)
    return {one.place: one.state.values for one in found.answered if one.rater == rater and one.place}


def test_twelve_pairs_by_keyboard_alone(browser: Any, serving: Serving, pairs: Path, complaints: list[str]) -> None:
    server = serving("people", "serve", pairs, "--port", "0")
    for rater in ("r01", "r02", "r03"):
        context = browser.new_context()
        page = context.new_page()
        watch(page, complaints)
        open_(page, server, pairs, rater)
        press(page, "Enter")
        assert heading(page) == "How to compare"
        press(page, "Enter")
        assert heading(page) == "Practice 1 of 1"
        with StudyStore.open(pairs, writing=False) as store:
            left = store.texts()[store.entries(rater)[0].text]
        better = "ArrowRight" if left.damage else "ArrowLeft"
        press(page, better, better, "Enter")
        page.wait_for_selector("#feedback:not([hidden])")
        assert page.inner_text("#feedback").startswith("As expected")
        press(page, "Enter")
        wanted = places(pairs, rater)
        for place in sorted(wanted):
            if heading(page) == "A break":
                press(page, "Enter")
            assert heading(page) == f"Pair {place} of {len(wanted)}"
            press(page, *(KEYS[int(value)] for value in wanted[place].values()), "Enter")
        assert heading(page) == "My pairs"
        until(page, "Saved")
        assert kept(pairs, rater) == wanted
        press(page, "l", "r")
        context.close()
    found = read_study(pairs)
    assert (found.given, found.asked, found.late) == (72, 72, 0)
    assert complaints == []


def test_twelve_pairs_by_touch_on_a_phone(browser: Any, serving: Serving, pairs: Path, complaints: list[str]) -> None:
    server = serving("people", "serve", pairs, "--port", "0")
    context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
    page = context.new_page()
    watch(page, complaints)
    open_(page, server, pairs)
    page.get_by_role("button", name="I agree, begin").tap()
    page.get_by_role("button", name="Go on").tap()
    wanted = {0: {"Relevance": 0.0, "Coherence": 0.0}} | places(pairs, "r01")
    for answers in wanted.values():
        if heading(page) == "A break":
            page.get_by_role("button", name="Go on").tap()
        page.get_by_role("button", name="Right", exact=True).tap()
        top, foot = (
            page.evaluate(f"document.querySelector('{one}').getBoundingClientRect().top")
            for one in ("#beside", ".rate-answers")
        )
        assert 0 < top < foot - 40
        for name, value in answers.items():
            button = page.locator(f"[data-criterion={name}] label").nth(int(value))
            box = button.bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= 44
            button.tap()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        page.locator("#next").tap()
        if page.is_visible("#feedback"):
            page.locator("#next").tap()
    assert heading(page) == "My pairs"
    until(page, "Saved")
    assert kept(pairs, "r01") == {place: answers for place, answers in wanted.items() if place}
    context.close()
    assert complaints == []


def test_what_a_pair_is_for_is_told_to_nobody(page: Any, serving: Serving, pairs: Path) -> None:
    server = serving("people", "serve", pairs, "--port", "0")
    open_(page, server, pairs)
    task = page.evaluate("JSON.parse(document.getElementById('task').textContent)")
    assert {key for item in task["items"][1:] for key in item} == {"id", "prompt", "text", "beside", "practice"}
    for word in ("Human", "repeat", "check", "shuffle"):
        assert word not in page.evaluate("document.getElementById('task').textContent")


def test_labels_have_keys_and_may_be_left_untold(
    page: Any, serving: Serving, tmp_path: Path, complaints: list[str]
) -> None:
    path = tmp_path / "labels.sqlite"
    asked = draw(stories(4), "made", load_criteria("ttcw").criteria[:3], DesignOptions(raters=3))
    with StudyStore.create(path, asked, "We ask you.") as store:
        names = store.names
    server = serving("people", "serve", path, "--port", "0")
    open_(page, server, path)
    press(page, "Enter", "Enter")
    assert [key.strip() for key in page.locator("#criteria .focus kbd").all_inner_texts()] == ["n", "y", "0"]
    press(page, *"yyy", "Enter", *"nny", "Enter")
    assert "on 2 of 3 criteria" in page.inner_text("#feedback")
    press(page, "Enter", *"y0n", "Enter")
    page.wait_for_function("() => !Object.keys(localStorage).some((key) => key.includes(':waiting:'))")
    with StudyStore.open(path, writing=False) as store:
        state = store.state("r01", 2)
    assert (state.values, state.unsure) == ({names[0]: 1, names[2]: 0}, {names[1]})
    page.go_back()
    assert page.locator("#criteria input:checked").evaluate_all("found => found.map((one) => one.value)") == [
        "1",
        UNSURE,
        "0",
    ]
    assert complaints == []
