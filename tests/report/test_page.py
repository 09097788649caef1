"""The page: one file, every section there, texts as text, nothing from elsewhere, numbers as the tables have them."""

from __future__ import annotations

import base64
import hashlib
import html
import re
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest

from judge.base.printing import tables as latex
from judge.show.report.write import SECTIONS
from tests.conftest import NEEDS_DATA
from tests.report import runs

VOID = {"meta", "link", "br", "img", "input", "hr"}


class Outline(HTMLParser):
    """Which elements a page has: names with attributes in order, ids, and whether each is closed."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def named(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]


@pytest.mark.parametrize("fixture", ["demo_page", "hostile_page", pytest.param("hanna_page", marks=NEEDS_DATA)])
def test_every_element_is_closed_every_id_is_one_and_every_link_leads_somewhere(
    fixture: str, request: pytest.FixtureRequest
) -> None:
    outline = Outline(request.getfixturevalue(fixture))
    assert outline.open == []
    ids = [attributes["id"] for _, attributes in outline.elements if attributes.get("id")]
    assert len(ids) == len(set(ids))
    links = [str(attributes["href"]) for attributes in outline.named("a")]
    assert links
    assert {link for link in links if link.removeprefix("#") not in ids} == set()
    # Labels by rule are nobody, whom a judge could replace.
    sections = [identity for identity, _, _ in SECTIONS if fixture != "demo_page" or identity != "replacement"]
    shown = [one["id"] for one in outline.named("section")]
    assert sorted(map(str, shown)) == sorted([*sections, "words"])
    # The answers first, the appendix behind them, and both in the order of the list.
    appendix = ["coverage", "consistency", "ratings", "methods", "checklist", "asked", "words"]
    assert shown == [*(one for one in sections if one not in appendix), *appendix]


@pytest.mark.parametrize("fixture", ["demo_page", "hostile_page", pytest.param("hanna_page", marks=NEEDS_DATA)])
def test_the_page_asks_for_nothing_and_runs_its_own_script_alone(fixture: str, request: pytest.FixtureRequest) -> None:
    page = request.getfixturevalue(fixture)
    outline = Outline(page)
    for tag, attributes in outline.elements:
        assert tag not in {"iframe", "object", "embed", "base", "form", "audio", "video", "image"}
        assert not {name for name in attributes if name.startswith("on")}
        assert "src" not in attributes
        assert (attributes.get("href") or "").startswith(("#", "data:")) or "href" not in attributes
    assert "url(http" not in page
    assert "@import" not in page
    (policy,) = [str(one["content"]) for one in outline.named("meta") if one.get("http-equiv")]
    scripts = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    assert len(scripts) == 1
    hashed = base64.b64encode(hashlib.sha256(scripts[0].encode()).digest()).decode()
    assert f"script-src 'sha256-{hashed}';" in policy
    assert "default-src 'none'" in policy


def test_hostile_texts_come_out_as_they_went_in(hostile_page: str) -> None:
    outline = Outline(hostile_page)
    said = "".join(outline.texts)
    assert "<script>alert(1)</script>" in said
    assert "{{7*7}}" in said
    assert "49" not in re.findall(r"note[^.]{0,80}", said)
    assert "<script>alert('title')</script>" in said
    assert "Human<b>" in said
    # What any page of ours has of these elements, and no story's: the one script.
    assert len(outline.named("script")) == 1
    assert outline.named("img") == []
    assert outline.named("b") == outline.named("i") == []


def test_the_map_carries_texts_as_data(demo_page: str) -> None:
    outline = Outline(demo_page)
    (block,) = [one for one in outline.named("script") if one.get("type") == "application/json"]
    content = demo_page.split('type="application/json"')[1].partition(">")[2].partition("</script>")[0]
    assert block["id"] == "map-0-map-texts"
    assert not set("<>&") & set(content)
    import json

    texts = json.loads(content)
    # Explanations of Eval-Prompt 2 alone: 48 stories x 6 criteria x 3 repeats.
    assert len(texts) == 864
    assert demo_page.count("<circle cx=") >= 864
    assert all(one["text"].startswith("Control, not a language model") for one in texts)
    assert "864 explanations by surface; " in demo_page


_OF_RATERS = re.compile(r"people|person|\breaders?\b|human|\braters?\b|labels?", re.IGNORECASE)


def _own(page: str) -> str:
    """What the page says of these runs: all but the glossary, whose words hold for any."""
    return page.partition('<section id="words"')[0]


def _speaks_of_raters(page: str) -> list[str]:
    """Every text, tip and copy of the page that names people or labels, but stories and explanations."""
    page = re.sub(r'<div class="text".*?</div>|<(script|style)\b.*?</\1>', "", page, flags=re.DOTALL)
    tips = re.findall(r'(?:title|aria-label)="([^"]*)"', page)
    lines = [line for text in Outline(_own(page)).texts for line in text.splitlines()]
    return list(dict.fromkeys(one for one in (*lines, *map(html.unescape, tips)) if _OF_RATERS.search(one)))


def test_a_page_over_labels_never_speaks_of_people_who_rated(demo_page: str) -> None:
    """One value decides all of it: the demo's labels are by construction, and no person rated its stories."""
    found = _speaks_of_raters(demo_page)
    asserted = [one for one in found if re.search(r"people|person|human", one, re.IGNORECASE)]
    # What may be said of people: that they rated nothing, and that they can audit explanations; and a CSV's key.
    allowed = (
        "o person rated",
        "ne more person",
        "by people",
        "by two people",
        ",people,same,",
        "People's ratings of the",
        "eople's ratings: these are labels",
    )
    left = [one for one in asserted if not any(words in one for words in allowed)]
    assert not left, left
    assert any("follows the labels closest: Kendall's tau‑b ×100 with the labels" in one for one in found)
    assert any(one == "Mean rating, demo: labels" for one in found)
    assert "Agreement with the labels" in found
    assert not any(
        "with people" in one or "people's" in one
        for one in found
        if "These labels replace people's ratings" not in one and "people's ratings: these are labels" not in one
    )


def test_a_page_over_peoples_ratings_never_speaks_of_labels(hostile_page: str) -> None:
    found = _speaks_of_raters(hostile_page)
    assert any("with people" in one for one in found)
    assert any("follows people closest" in one for one in found)
    assert "Agreement with people" in found
    assert [one for one in found if re.search(r"labels|no person rated", one, re.IGNORECASE)] == []


def test_a_page_over_stories_that_nobody_rated_compares_with_nobody(unrated_run: Path) -> None:
    page = runs.page(unrated_run)
    found = _speaks_of_raters(page)
    unrated = "No people's ratings of these stories are known, so "
    assert f"{unrated}a judge cannot be compared with them." in html.unescape(page)
    assert f"{unrated}agreement with people cannot be estimated." in found
    for words in ("follows people", "of raters (people)", "people are the reference", "people rated none", "labels"):
        assert not [one for one in found if words in one], words


def test_hanna_at_its_whole_size_is_under_six_megabytes_and_prints_the_tables_numbers(
    hanna_run: Path, hanna_page: str
) -> None:
    from judge.analysis.correlation import correlate
    from judge.analysis.inputs.control import control_predictions
    from judge.analysis.options.table_options import CorrelationOptions
    from judge.ratings.ratings_table import read

    assert len(hanna_page.encode()) < 6_000_000
    options = CorrelationOptions(drop_systems=("Human",), resamples=20)
    frame = correlate(read([hanna_run]), options, predict=control_predictions)
    judged = frame[frame["kind"] == "judge"]
    assert len(judged) == 5 * 4 * 6
    tips = {html.unescape(tip) for tip in re.findall(r"<title>([^<]*)</title>", hanna_page)}
    for row in judged.to_dict("records"):
        number = f"{100 * row['value']:.1f} [{100 * row['low']:.1f}, {100 * row['high']:.1f}]".replace("-", "−")
        where = f"{row['judge']}, {row['eval_prompt']}, {row['criterion']}: {number}, n = {row['n']} stories"
        assert where in tips
    assert "one more person, Relevance: one more person unavailable: who gave which rating is not known" in {*tips}


def test_every_table_of_statistics_has_its_copies_and_its_signature_once_in_its_section(hanna_page: str) -> None:
    signed = 0
    for section in hanna_page.split("<section ")[1:]:
        shown, copies = (
            section.partition("</section>")[0],
            re.findall(r"<template>(.*?)</template>", section, re.DOTALL),
        )
        signatures = re.findall(r'<p class="signature">(?:<span>.*?</span> )?(hanna_scores:.*?)</p>', shown)
        assert len(signatures) == len(set(signatures))
        signed += len(signatures)
        for copy in copies:
            if r"\begin{table}" in copy:
                assert any(html.escape(latex.latex_monospaced(html.unescape(one))) in copy for one in signatures)
    assert signed >= 8
    blocks = hanna_page.split('<div class="table"')[1:]
    assert len(blocks) > 20
    for block in blocks:
        assert 'data-copy="latex"' in block
        assert 'data-copy="csv"' in block
        assert r"\begin{table}" in block
    # The copies are inert: nothing in them is an element of the page.
    outline = Outline(hanna_page)
    assert len(outline.named("template")) == 2 * len(blocks)


def test_undefined_is_printed_with_its_reason(hanna_page: str) -> None:
    assert "repeats are not in the file, only their mean" in hanna_page
    assert "These answers have no explanations, so there is nothing to analyse." in hanna_page
    assert re.search(r'<td class="number faint" title="[^"]+" data-of="[^"]+">undefined</td>', hanna_page)
    assert ">nan<" not in hanna_page.casefold()
    assert ">None<" not in hanna_page


def test_a_section_that_fails_for_a_known_reason_says_it(demo_run: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(demo_run, tmp_path / "demo")
    (folder / "audit.sqlite").write_text("no database at all, but longer than the head of one", encoding="utf-8")
    page = runs.page(folder, resamples=20, permutations=20)
    absent = re.findall(r'<p class="absent">(.*?)</p>', page)
    assert any("audit.sqlite" in one and one.startswith("Audit of explanations") for one in absent)
    # The other sections stand, and the paragraph says nothing of an audit.
    # Labels by rule are nobody, whom a judge could replace; the words come after the sections.
    assert page.count("<section ") == len(SECTIONS) - 1 + 1
    assert "Methods cannot be shown" not in page
    assert " audited " not in page.partition('id="methods"')[2].partition("</section>")[0]


@pytest.mark.parametrize("option", ["--audit", "--contamination"])
@pytest.mark.parametrize("content", [None, "neither an audit nor scores"])
def test_a_named_file_that_is_none_is_an_error_before_any_page(
    demo_run: Path, tmp_path: Path, option: str, content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    named = tmp_path / "named.file"
    if content is not None:
        named.write_text(content, encoding="utf-8")
    code = runs.command("report", demo_run, option, named, "-o", tmp_path / "page.html", "--quiet")
    assert code == 1
    assert "named.file" in capsys.readouterr().err
    assert not (tmp_path / "page.html").exists()


def test_advice_for_the_command_line_stays_off_the_page(demo_page: str) -> None:
    said = " ".join(Outline(demo_page).texts)
    assert "(2,.) absolute agreement" in said
    assert "the systems are treated as fixed" in said
    for advice in ("all six forms: --full", "--top 0", "(--full lists", "(--ci boot-both"):
        assert advice not in said


def test_the_demos_page_has_the_printed_tables_intervals(demo_run: Path, tmp_path: Path) -> None:
    from judge.api import open_run
    from judge.asking.run_folder import resolve
    from judge.demo import demo_report

    folder = shutil.copytree(demo_run, tmp_path / "demo")
    (result,) = resolve([folder])
    page = demo_report(folder, result.path).read_text(encoding="utf-8")
    tips = {html.unescape(tip) for tip in re.findall(r"<title>([^<]*)</title>", page)}
    (table,) = open_run(folder).correlate().tables
    judged = [row for row in table.rows if row["kind"] == "judge"]
    assert len(judged) == 12
    for row in judged:
        value = row["value"]
        number = f"{100 * value.value:.1f} [{100 * value.low:.1f}, {100 * value.high:.1f}]".replace("-", "−")
        assert f"{row['judge']}, control, {row['eval_prompt']}, {row['criterion']}: {number}, n = 48 stories" in tips


def test_captions_say_what_was_there(demo_page: str) -> None:
    said = " ".join(Outline(demo_page).texts)
    assert "n = 48 to 48" not in said
    assert "n = 48 complete stories" in said
    assert "4 systems" in demo_page.partition("Over system means")[2].partition("</figcaption>")[0]
    # Fewer than 100 rated stories: nothing was refitted, and no caption says so.
    agreement = demo_page.partition('<section id="agreement"')[2].partition("</section>")[0]
    assert "the shipped model, fitted on other stories" in agreement
    assert "(out of fold)" not in demo_page
    assert "was run like any other" in agreement
    assert "No person rated these stories: labels set by rule" in agreement
    # A control has no provider that could decide.
    assert "the provider" not in _own(demo_page)


@pytest.mark.parametrize(
    ("option", "name", "told"),
    [
        ("--audit", "none.sqlite", "does not exist"),
        ("--audit", "table.csv", "is not a SQLite file"),
        ("--contamination", "none.jsonl", "there is no such file"),
        ("-o", "page.pdf", "the report is an HTML page"),
        ("-o", "none/page.html", "there is no folder"),
    ],
)
def test_a_named_file_that_is_wrong_ends_the_command_and_nothing_is_written(
    demo_run: Path, tmp_path: Path, option: str, name: str, told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "table.csv").write_text("a,b\n1,2\n")
    page = ("-o", tmp_path / "page.html") if option != "-o" else ()
    assert runs.command("report", demo_run, *page, option, tmp_path / name) == 1
    err = capsys.readouterr().err
    assert err.startswith("error: ")
    assert told in err
    assert [path.name for path in tmp_path.iterdir()] == ["table.csv"]


def test_equal_results_give_an_equal_page(demo_run: Path, demo_page: str) -> None:
    assert runs.page(demo_run) == demo_page
