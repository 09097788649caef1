"""The report in a real browser, opened from its file: plots, requests, copies, themes, no script, phone, paper."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.browser.conftest import watch
from tests.report import runs


def made(which: str, folder: Path) -> Path:
    """A report's file, made by a process of its own: this one has a running event loop."""
    output = folder / "report.html"
    subprocess.run([sys.executable, "-m", "tests.report.runs", which, folder / "run", output], check=True)
    return output


@pytest.fixture(scope="module")
def hostile_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a run all of whose texts are hostile."""
    return made("hostile", tmp_path_factory.mktemp("browser"))


@pytest.fixture(scope="module")
def demo_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's report, with its map of explanations."""
    return made("demo", tmp_path_factory.mktemp("browser"))


def drawn(page: Any) -> list[tuple[float, float]]:
    """Width and height on the screen of every chart."""
    boxes = page.eval_on_selector_all(
        "svg.chart", "all => all.map(one => { const b = one.getBoundingClientRect(); return [b.width, b.height]; })"
    )
    return [(box[0], box[1]) for box in boxes]


def test_plots_are_drawn_and_nothing_but_the_file_is_asked_for(
    page: Any, complaints: list[str], demo_file: Path
) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(demo_file.as_uri())
    assert [one for one in asked if not one.startswith("data:")] == [demo_file.as_uri()]
    charts = drawn(page)
    assert len(charts) >= 7
    assert all(width > 200 and height > 40 for width, height in charts)
    # Marks are where they can be seen: every cell of the first heat map has a size.
    cells = page.eval_on_selector_all("#heat-0 .mark rect", "all => all.map(one => one.getBoundingClientRect().width)")
    # Two Eval-Prompts and the control (no person rated these stories): six criteria and their mean.
    assert len(cells) == 3 * 7
    assert min(cells) > 20
    assert complaints == []


def test_pointing_at_a_cell_tells_its_interval(page: Any, complaints: list[str], demo_file: Path) -> None:
    page.goto(demo_file.as_uri())
    cell = page.locator("#heat-0 .mark").filter(has=page.locator("rect[fill^='#']")).first
    cell.hover()
    said = page.locator(".tip").inner_text()
    assert said.startswith("surface, control, ep1, Relevance: ")
    assert "[" in said
    assert said.endswith("n = 48 stories")
    assert complaints == []


def test_tables_are_copied_as_latex_and_csv(browser: Any, complaints: list[str], hostile_file: Path) -> None:
    context = browser.new_context(permissions=["clipboard-read", "clipboard-write"])
    page = context.new_page()
    watch(page, complaints)
    page.goto(hostile_file.as_uri())
    block = page.locator("#coverage .table").first
    for name, start in (("latex", r"\begin{table}"), ("csv", "judge,eval_prompt,")):
        button = block.locator(f"[data-copy={name}]")
        button.click()
        page.wait_for_function("one => one.textContent === 'Copied'", arg=button.element_handle())
        text = page.evaluate("navigator.clipboard.readText()")
        assert text.startswith(start)
        # As the table has it, not as a page writes it: nothing is left escaped for HTML.
        assert "&lt;" not in text
    assert complaints == []
    context.close()


def test_hostile_texts_stay_texts(page: Any, complaints: list[str], hostile_file: Path) -> None:
    page.on("dialog", lambda dialog: (complaints.append(f"a dialog: {dialog.message}"), dialog.dismiss()))
    page.goto(hostile_file.as_uri())
    page.get_by_role("button", name="Unfold all").click()
    assert page.locator("h1").inner_text() == runs.HOSTILE[0]
    said = page.locator("#disagreements").inner_text()
    assert sum(one.split("\u2028")[0].strip()[:25] in said for one in runs.HOSTILE) >= 3
    assert page.locator("main img, main script, main b, main i").count() == 0
    # Words without a break do not push the page apart.
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert complaints == []


def test_the_map_shows_the_text_of_the_dot_that_is_clicked(page: Any, complaints: list[str], demo_file: Path) -> None:
    page.goto(demo_file.as_uri())
    picture = page.locator("#map-0")
    picture.scroll_into_view_if_needed()
    page.locator("#map-0 .points circle").nth(40).click(force=True)
    panel = page.locator("#map-0-map-chosen")
    assert "Control, not a language model" in panel.inner_text()
    first = page.locator("#map-0 .points circle").nth(40).evaluate("one => getComputedStyle(one).fill")
    page.get_by_label("by cluster").check()
    assert page.locator("#map-0-map .legend-1").is_visible()
    assert not page.locator("#map-0-map .legend-0").is_visible()
    before = panel.inner_text()
    picture.focus()
    page.keyboard.press("ArrowRight")
    assert panel.inner_text() != before
    assert first.startswith("rgb(")
    assert complaints == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_letters_have_a_contrast_of_four_and_a_half_in_light_and_dark(
    browser: Any, scheme: str, demo_file: Path
) -> None:
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(demo_file.as_uri())
    least = page.evaluate(
        """() => {
          const linear = (c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
          const light = (rgb) => rgb.map((c) => linear(c / 255))
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
          const rgb = (text) => text.match(/[\\d.]+/g).slice(0, 3).map(Number);
          const paper = light(rgb(getComputedStyle(document.body).backgroundColor));
          const ratio = (ink) => (Math.max(ink, paper) + 0.05) / (Math.min(ink, paper) + 0.05);
          const found = [];
          for (const one of document.querySelectorAll("p, td, th, li, figcaption"))
            found.push(ratio(light(rgb(getComputedStyle(one).color))));
          for (const one of document.querySelectorAll("svg.chart text:not(.on-light):not(.on-dark)"))
            found.push(ratio(light(rgb(getComputedStyle(one).fill))));
          return Math.min(...found);
        }"""
    )
    assert least >= 4.5
    page.locator("[data-theme-switch]").click()
    assert page.locator("html").get_attribute("data-theme") == ("light" if scheme == "dark" else "dark")
    context.close()


def test_everything_can_be_read_without_a_script(browser: Any, demo_file: Path) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(demo_file.as_uri())
    for heading in ("What the runs show", "Agreement with the labels", "Methods", "What a reviewer will ask"):
        assert page.get_by_role("heading", name=heading).is_visible()
    # What only a script can do is not offered.
    assert not page.locator("[data-copy]").first.is_visible()
    assert not page.locator("[data-theme-switch]").is_visible()
    page.locator("details:has(> .table) > summary").first.click()
    assert page.locator("details[open] table").first.is_visible()
    page.get_by_label("by rating").check()
    assert page.locator("#map-0-map .legend-2").is_visible()
    assert page.locator("#heat-0 title").count() > 20
    context.close()


def test_nothing_starts_off_a_phones_screen(browser: Any, complaints: list[str], demo_file: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    watch(page, complaints)
    page.goto(demo_file.as_uri())
    page.get_by_role("button", name="Unfold all").click()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    beyond = (
        "[...document.querySelectorAll('td, th, svg.chart')].filter(one => one.getBoundingClientRect().left >= 390)"
    )
    assert page.evaluate(f"{beyond}.length") == 0
    # A wide table's rows stand beneath each other, each cell with its column's title; a narrow one stays a table.
    cell = page.locator("#consistency table.stacks tbody td").first
    assert cell.evaluate("one => getComputedStyle(one, '::before').content") == '"judge "'
    assert page.locator("#map-0").bounding_box() is not None
    # The whole map is in sight.
    box = page.locator("#map-0").bounding_box()
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= 390
    assert page.evaluate("document.querySelector('.map-picture').scrollWidth <= innerWidth")
    both = page.locator("#asked tbody tr").first.locator("td").nth(2).bounding_box()
    assert both["x"] + both["width"] <= 390
    # On a screen that is wider than a phone and narrower than a table, a shade tells what is beyond the edge.
    page.set_viewport_size({"width": 700, "height": 844})
    assert page.locator("#consistency .scroll").last.evaluate(
        "one => one.scrollWidth > one.clientWidth && getComputedStyle(one).backgroundImage.split('gradient').length > 4"
    )
    assert complaints == []
    context.close()


def test_unfold_all_folds_again_and_stays_in_sight(page: Any, demo_file: Path) -> None:
    page.goto(demo_file.as_uri())
    page.evaluate("window.scrollTo(0, document.body.scrollHeight)")
    page.get_by_role("button", name="Unfold all").click()
    assert page.locator("details:not([open])").count() == 0
    page.get_by_role("button", name="Fold all").click()
    assert page.locator("details[open]").count() == 0
    assert page.get_by_role("button", name="Unfold all").is_visible()
    assert page.locator("header.bar").bounding_box()["y"] >= -1
    assert page.locator("summary", has_text="(0 rows)").count() == 0


@pytest.mark.parametrize(("scheme", "theme"), [("dark", None), ("dark", "dark"), ("light", "dark")])
def test_paper_is_white_in_the_dark(browser: Any, demo_file: Path, scheme: str, theme: str | None) -> None:
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(demo_file.as_uri())
    if theme:
        page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
    asked = "name => getComputedStyle(document.documentElement).getPropertyValue(name).trim()"
    names = ("--page", "--ink", "--c1", "--c8", "--shade")
    dark = {name: page.evaluate(asked, name) for name in names}
    page.emulate_media(media="print")
    printed = {name: page.evaluate(asked, name) for name in names}
    assert all(dark[name] != printed[name] for name in names)
    assert (printed["--page"], printed["--ink"], printed["--c1"]) == ("#ffffff", "#000000", "#0072b2")
    swatch = page.locator("#map-0-map .legend-0 .swatch").first
    assert swatch.evaluate("one => getComputedStyle(one).printColorAdjust") == "exact"
    context.close()


def test_tables_of_explanations_are_those_of_the_command(page: Any, demo_file: Path) -> None:
    """Every cell of every table but texts, which the command breaks into lines, and titles in the command's words."""
    printed = " ".join((demo_file.parent / "run" / "explained.txt").read_text(encoding="utf-8").split())
    page.goto(demo_file.as_uri())
    heads = page.locator("#explanations th").all_text_contents()
    assert {"none, as published %", "Spearman x100", "same rating, different reasons %"} <= set(heads)
    assert not {"published", "ours", "rho", "ctfidf"} & set(heads)
    rows = page.locator("#explanations tbody tr").evaluate_all(
        "all => all.map(row => [...row.querySelectorAll('td:not(.wide)')].map(one => one.textContent).join(' '))"
    )
    assert len(rows) > 40
    assert all(row in printed for row in rows if row.startswith("surface ep"))


@pytest.fixture(scope="module")
def panel_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of two judges with four Eval-Prompts each, over two criteria that people rated."""
    return made("panel", tmp_path_factory.mktemp("browser"))


def test_the_page_opens_at_twelve_screens_and_its_verdicts_at_one(browser: Any, panel_file: Path) -> None:
    for width, height in ((1280, 800), (390, 844)):
        context = browser.new_context(viewport={"width": width, "height": height})
        page = context.new_page()
        page.goto(panel_file.as_uri())
        tall = page.evaluate("document.documentElement.scrollHeight")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        if width == 1280:
            assert tall <= 12 * 800
            (box,) = page.locator(".headline").all()
            assert box.bounding_box()["height"] <= 800
            # A picture is as wide as its column.
            widths = page.eval_on_selector_all(
                "figure .scroll > svg.chart",
                "all => all.filter(one => one.checkVisibility()).map("
                "one => [one.getBoundingClientRect().width, one.parentElement.clientWidth])",
            )
            assert len(widths) > 3
            assert all(abs(mine - column) <= 1 for mine, column in widths)
        # The box has one subject, and what is folded is on the page.
        assert page.locator(".headline .about").count() == 1
        page.get_by_role("button", name="Unfold all").click()
        assert page.evaluate("document.documentElement.scrollHeight") > 1.5 * tall
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        context.close()


@pytest.mark.parametrize("script", [True, False])
def test_a_link_to_a_folded_section_unfolds_it(browser: Any, panel_file: Path, script: bool) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800}, java_script_enabled=script)
    page = context.new_page()
    page.goto(panel_file.as_uri())
    words = page.locator("#methods details.section > p").first
    assert not words.is_visible()
    page.locator("#contents").get_by_role("link", name="Methods").click()
    words.wait_for(state="visible")
    page.goto(f"{panel_file.as_uri()}#asked")
    page.locator("#asked details.section > details").first.wait_for(state="visible")
    context.close()


def test_paper_has_what_is_folded_where_the_reader_unfolds_it(page: Any, panel_file: Path) -> None:
    page.goto(panel_file.as_uri())
    cell = page.locator("#coverage tbody td").first
    assert not cell.is_visible()
    page.emulate_media(media="print")
    assert not cell.is_visible()
    assert page.get_by_text("What is folded is not on paper").is_visible()
    page.emulate_media(media="screen")
    page.get_by_role("button", name="Unfold all").click()
    page.emulate_media(media="print")
    assert cell.is_visible()


def test_the_answers_take_eight_pages_at_most_and_the_appendix_begins_a_new_one(page: Any, demo_file: Path) -> None:
    """Counted in the browser's own PDF: with the appendix taken out, and with it."""
    page.goto(demo_file.as_uri())
    whole = _pages(page.pdf(format="A4"))
    page.evaluate("document.querySelectorAll('#appendix, #appendix ~ *').forEach((one) => one.remove())")
    answers = _pages(page.pdf(format="A4"))
    assert 2 <= answers <= 8
    assert answers < whole <= answers + 5


def _pages(pdf: bytes) -> int:
    return len(re.findall(rb"/Type\s*/Page\b(?!s)", pdf))


def test_it_prints(browser: Any, demo_file: Path) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(demo_file.as_uri())
    page.emulate_media(media="print")
    assert not page.locator("header.bar").is_visible()
    assert not page.locator("[data-copy]").first.is_visible()
    wide = page.evaluate("document.querySelector('main').getBoundingClientRect().width")
    assert all(width <= wide + 1 for width, _ in drawn(page))
    assert page.pdf(format="A4").startswith(b"%PDF")
    context.close()


def test_no_text_of_a_picture_is_cut(page: Any, demo_file: Path, tmp_path: Path) -> None:
    """Over six criteria and over one, where a key is wider than the cells: the boxes that the browser draws."""
    run = tmp_path / "one"
    run.mkdir()
    (run / "run.yaml").write_text(
        "{name: one, dataset: demo, judge: surface, criteria: {set: hanna, only: [Complexity]}, eval_prompts: [ep2]}"
    )
    command = [sys.executable, "-m", "judge"]
    subprocess.run([*command, "run", str(run), "--quiet"], check=True, capture_output=True)
    subprocess.run([*command, "report", str(run), "--resamples", "200", "--quiet"], check=True, capture_output=True)
    for file in (demo_file, run / "report.html"):
        page.goto(file.as_uri())
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        found = page.evaluate(_BOXES)
        assert found["seen"] > 20
        assert found["outside"] == []


_BOXES = """() => {
  const outside = [];
  let seen = 0;
  for (const svg of document.querySelectorAll('svg.chart')) {
    const { width, height } = svg.viewBox.baseVal;
    for (const one of svg.querySelectorAll('text')) {
      const box = one.getBBox();
      seen += 1;
      if (box.x < 0 || box.y < -1 || box.x + box.width > width || box.y + box.height > height) {
        outside.push(`${svg.id}: ${one.textContent}`);
      }
    }
  }
  return { seen, outside };
}"""
