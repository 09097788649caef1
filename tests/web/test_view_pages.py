"""Pages of `judge view` over a real run: what they show is what the tables say, and every text is only text."""

from __future__ import annotations

import html
import re
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import quote, urlencode

import pandas as pd
import pytest

from judge.asking.run_folder import ResultFolder
from judge.ratings.ratings_table import read
from judge.show.web.access import Access
from judge.show.web.view.app import view_app
from judge.show.web.view.index import update
from tests.web.conftest import MAY_WORK, Served, serving
from tests.web.view_runs import ATTACK, NASTY, computed, make_run, scripted, stories

_ROW = re.compile(
    r'<tr><td><a href="([^"]+)">.*?</a></td>\n<td>(.*?)</td><td>(.*?)</td><td>(.*?)</td>.*?>(\d+)</td>', re.S
)
_NEXT = re.compile(r'rel="next" href="([^"]+)"')
_PREVIOUS = re.compile(r'rel="prev" href="([^"]+)"')


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of runs with one run in it."""
    runs = tmp_path_factory.mktemp("runs")
    make_run(runs)
    return runs


@pytest.fixture(scope="module")
def server(folder: Path, work_here: None) -> Iterator[Served]:
    """`judge view` over it."""
    with serving(lambda access: view_app(folder, access), Access()) as running:
        yield running


def _walk(server: Served, first: str, link: re.Pattern[str] = _NEXT) -> list[tuple[str, str, str, int]]:
    """All judgments on the pages from `first` on: (story's link, criterion, Eval-Prompt, repeat)."""
    found: list[tuple[str, str, str, int]] = []
    address: str | None = first
    while address is not None:
        status, _, text = server.ask(address)
        assert status == 200, text
        rows = [(a, c, e, int(r)) for a, _, c, e, r in _ROW.findall(text)]
        assert len(rows) <= 7
        found = [*found, *rows] if link is _NEXT else [*rows, *found]
        following = link.search(text)
        address = html.unescape(following[1]) if following else None
    return found


def _expected(folder: Path, slug: str) -> pd.DataFrame:
    frame = read([folder / "tale" / slug]).frame
    return frame[frame["source"] == "judge"]


_FILTERS = [
    {},
    {"criterion": "Engagement"},
    {"eval_prompt": "ep2"},
    {"system": "<i>tiny</i>"},
    {"status": "no_rating"},
    {"status": "out_of_scale", "criterion": "Coherence"},
    {"flag": "cut"},
    {"rating": "4"},
    {"text": "STRASSE"},
    {"text": "<script>"},
    {"text": "opening", "eval_prompt": "ep1", "system": "Human"},
    {"text": "nowhere at all"},
]


@pytest.mark.parametrize("filters", _FILTERS, ids=str)
def test_pages_visit_each_judgment_once_under_each_filter(
    server: Served, folder: Path, filters: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "judge.show.web.view.judgments.Judgments.page.__kwdefaults__", {"after": -1, "before": None, "size": 7}
    )
    slug = scripted(folder / "tale").name
    address = f"/run/tale/judgments?{urlencode({'judge': slug, **filters})}"
    computed(server, address)
    frame = _expected(folder, slug)
    for column in ("criterion", "eval_prompt", "system", "status"):
        if column in filters:
            frame = frame[frame[column] == filters[column]]
    if "flag" in filters:
        frame = frame[frame["flags"].str.split(";").map(lambda flags: filters["flag"] in flags)]
    if "rating" in filters:
        frame = frame[(frame["rating"] >= 3.5) & (frame["rating"] < 4.5)]
    if "text" in filters:
        frame = frame[[filters["text"].casefold() in text.casefold() for text in _texts(folder, slug, frame)]]
    expected = [
        (f"/run/tale/story?{urlencode({'story': s, 'judge': slug})}#c-{c}".replace("&", "&amp;"), c, e, int(r))
        for s, c, e, r in zip(frame["story"], frame["criterion"], frame["eval_prompt"], frame["repeat"], strict=True)
    ]
    assert _walk(server, address) == expected
    if len(expected) > 7:
        last = f"{address}&before={1 << 61}"
        assert _walk(server, last, _PREVIOUS) == expected


def _texts(folder: Path, slug: str, frame: pd.DataFrame) -> list[str]:
    """The raw answers of the frame's rows, straight from the journal."""
    with closing(sqlite3.connect(folder / "tale" / slug / "journal.sqlite")) as db, db:
        sql = (
            "SELECT text FROM responses r JOIN queries q ON q.key = r.query_key"
            " WHERE story = ? AND criterion = ? AND eval_prompt = ? AND repeat = ?"
        )
        places = frame[["story", "criterion", "eval_prompt", "repeat"]].itertuples(index=False)
        return [db.execute(sql, (s, c, e, int(r))).fetchone()[0] for s, c, e, r in places]


def test_every_page_shows_texts_as_text(server: Served, folder: Path) -> None:
    slug = scripted(folder / "tale").name
    name = quote(NASTY, safe="")
    for path in (
        "/",
        "/run/tale",
        f"/run/tale?judge={slug}",
        f"/run/tale/judgments?judge={slug}",
        "/run/tale/stories",
        f"/run/tale/story?story={name}",
        "/run/tale/story?story=p1-s2",
        f"/run/tale/prompts?story=p1-s2&judge={slug}&a=ep1&b=ep4",
        "/run/tale/tables?show=correlate",
        "/run/tale/disagreements",
        f"/run/tale/part/answer?judge={slug}&story=p1-s2&criterion=Coherence&eval_prompt=ep2&repeat=0",
        f"/run/tale/judgments?{urlencode({'judge': slug, 'text': ATTACK})}",
        f"/run/tale/stories?{urlencode({'text': ATTACK})}",
        f"/run/{quote(ATTACK, safe='')}",
    ):
        text = computed(server, path) if ATTACK not in path and "%3Cscript" not in path else server.ask(path)[2]
        assert "<script>document" not in text, path
        assert "<img src=x" not in text, path
        assert "<i>tiny</i>" not in text, path
        assert "<b>&" not in text, path
    assert "{{ 7 * 7 }}" in server.ask(f"/run/tale/judgments?judge={slug}")[2]


def test_a_story_shows_what_all_judges_and_people_said(server: Served, folder: Path) -> None:
    text = server.ask(f"/run/tale/story?story={quote(NASTY, safe='')}")[2]
    assert html.escape(NASTY, quote=False).replace('"', "&#34;").replace("'", "&#39;") in text
    assert "surface" in text
    assert "scripted/script.jsonl" in text
    given = read([folder / "tale"]).frame
    own = given[(given["story"] == NASTY) & (given["source"] == "judge")]
    shown = re.findall(r'<span( class="warn" title="no rating")?>([\d.—]+)</span>', text.partition("</table>")[0])
    ratings = own.sort_values(["criterion"], kind="stable")
    assert len(shown) == len(own) == 2 * 3 * 2 * 2
    assert sorted(float(value) for _, value in shown if value != "—") == sorted(
        round(float(value), 2) for value in ratings["rating"].dropna()
    )
    people = given[(given["story"] == NASTY) & (given["source"] == "rater")]
    titled = re.findall(r'<span title="(w\d)">(\d)</span>', text.partition("</table>")[0])
    assert len(titled) == len(people) == 4
    assert re.search(r'<mark title="the rating was read here">\d', text)
    assert "thinking, never read for a rating" in text


def test_repeats_have_the_numbers_of_the_ratings_table(server: Served, folder: Path) -> None:
    slug = scripted(folder / "tale").name
    text = server.ask(f"/run/tale/story?story=p1-s2&judge={slug}")[2]
    given = read([folder / "tale" / slug]).frame
    own = given[(given["story"] == "p1-s2") & (given["source"] == "judge")]
    shown = [int(n) for said in re.findall(r">repeat ([\d, ]+)<", text) for n in said.split(", ")]
    assert sorted(shown) == sorted(int(n) for n in own["repeat"])
    assert set(shown) == {0, 1}


def test_pages_name_labels_where_no_person_rated(tmp_path: Path, server: Served) -> None:
    from judge.demo import run_demo

    run_demo(tmp_path / "demo", quiet=True)
    paths = (
        "",
        "/stories",
        "/story?story=mole-original",
        "/part/answer?judge=surface&story=mole-original&criterion=Coherence&eval_prompt=ep2",
        "/disagreements",
    )
    with serving(lambda access: view_app(tmp_path, access), Access()) as running:
        for path in paths:
            text = computed(running, f"/run/demo{path}").partition("<main")[2] or running.ask(f"/run/demo{path}")[2]
            shown = re.sub(r'<div class="text.*?</div>|<nav.*?</nav>|class="people"', "", text, flags=re.S)
            assert "labels" in shown, path
            assert "{&#39;" not in text, "a value is printed as words, not as Python has it"
            # The control was fitted on people's ratings of other stories, an option, its code and its address have this
            # name, and the summary says what is missing.
            told = (
                shown.partition("Requested and in force")[0]
                .replace("--between people", "")
                .replace("|between:people|", "")
                .replace("between=people", "")
                .replace("people&#39;s ratings: these are labels by construction", "")
            )
            assert re.findall(r"(?i).{40}\bpeople.{20}", told) == [], path
    for path in ("", "/stories", "/story?story=p1-s2", "/disagreements"):
        text = computed(server, f"/run/tale{path}")
        assert "people" in text
        assert "labels" not in text.partition("<main")[2]


def test_neighbours_lead_through_all_stories(server: Served) -> None:
    seen: list[str] = []
    address: str | None = "/run/tale/story?story=p0-s0"
    while address is not None:
        text = server.ask(address)[2]
        seen.append(html.unescape(re.search(r"<h1>(.*?) <span", text)[1]))  # type: ignore[index]
        following = re.search(r'rel="next"[^>]* href="([^"]+)"', text)
        address = html.unescape(following[1]) if following else None
    assert seen == [story["id"] for story in stories()]


def test_queries_are_shown_as_they_were_sent(server: Served, folder: Path) -> None:
    """What stands in the two boxes, without markup, is the text whose hash the journal asked under."""
    from judge.answers.journal import JournalReader
    from judge.show.web.view.judgments import stored

    slug = scripted(folder / "tale").name
    text = server.ask(f"/run/tale/prompts?story=p1-s2&criterion=Coherence&judge={slug}&a=ep1&b=ep4")[2]
    boxes = re.findall(r'<div class="text query" dir="auto">(.*?)</div>', text, re.S)
    shown = [html.unescape(re.sub(r"</?(?:ins|del|span)[^>]*>", "", box)) for box in boxes]
    with stored(ResultFolder(folder / "tale" / slug)) as opened, JournalReader(opened.journal.path) as journal:
        keys = {(s, c, e): key for key, s, c, e in journal.queries()}
        story = next(one for one in journal.stories() if one.id == "p1-s2")
        for box, prompt in zip(shown, ("ep1", "ep4"), strict=True):
            query = opened.asked.query(story, "Coherence", prompt)
            assert query is not None
            assert query.key == keys["p1-s2", "Coherence", prompt]
            assert "\n".join(message.content for message in query.messages) == box
    assert "<ins>" in boxes[1]
    assert "<del>" not in boxes[1]


def test_tables_stand_there_once_they_are_computed(server: Served, folder: Path) -> None:
    from judge.analysis.coverage.coverage import coverage, tables
    from judge.base.printing.tables import cell_text

    text = computed(server, "/run/tale/tables?show=coverage")
    table = tables(coverage(read([folder / "tale"], explanations=False)))[0]
    for row in table.rows:
        for column in table.columns:
            assert str(html.escape(cell_text(row, column), quote=False)) in text
    assert html.escape(table.signature, quote=False) in text
    assert (folder / "tale" / "derived" / "view-coverage.json").is_file()


def test_disagreements_link_to_their_stories(server: Served, folder: Path) -> None:
    from judge.analysis.disagreements import disagreements

    text = computed(server, "/run/tale/disagreements")
    first = disagreements(read([folder / "tale"])).frame.iloc[0]
    row = re.search(r"<tr>(.*?)</tr>", text.partition("<tbody>")[2], re.S)
    assert row is not None
    assert f"story={quote(first['story'], safe='').replace('%20', '+')}" in row[1]
    assert f"{first['difference']:+.2f}" in row[1]


def test_an_index_goes_on_from_where_it_was_and_is_made_again_where_it_is_broken(folder: Path, tmp_path: Path) -> None:
    result = ResultFolder(scripted(folder / "tale"))
    file = tmp_path / "judgments.sqlite"
    total = len(_expected(folder, result.path.name))
    assert update(result, file) == total
    assert update(result, file) == 0
    file.write_bytes(b"this is no database" * 100)
    assert update(result, file) == total
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("UPDATE meta SET value = 'another parser' WHERE key = 'identity'")
    assert update(result, file) == total


_CELLS = re.compile(r'<td class="number[^"]*">(?:<a [^>]*>([^<]*)</a>|<span [^>]*>(—)</span>)</td>')


@pytest.mark.parametrize("summed", [False, True])
def test_answers_that_nobody_read_yet_are_no_answers_without_a_rating(
    tmp_path: Path, work_here: None, summed: bool
) -> None:
    """The first page over a finished run whose index a killed process left behind, and over one without an index."""
    result = ResultFolder(make_run(tmp_path) / "surface")
    with serving(lambda access: view_app(tmp_path, access), Access()) as fresh:
        MAY_WORK.clear()
        first = fresh.ask("/run/tale?judge=surface")[2]
        assert "answers are being read" in first
        assert "0 %" not in first.partition("Coverage")[2]
        MAY_WORK.set()
        whole = computed(fresh, "/run/tale?judge=surface")
        assert [a or b for a, b in _CELLS.findall(whole)] == ["100 %"] * 6
    _left_behind(result.path / "derived" / "judgments.sqlite", summed)
    with serving(lambda access: view_app(tmp_path, access), Access()) as again:
        MAY_WORK.clear()
        first = again.ask("/run/tale?judge=surface")[2]
        found = [a or b for a, b in _CELLS.findall(first)]
        assert found == (["100 %", "—", "—", "—", "—", "—"] if summed else [])
        assert ("answers read so far" if summed else "answers are being read") in first
        assert "Answers are still being read" in again.ask("/run/tale/stories?judge=surface")[2]
        listed = again.ask("/run/tale/judgments?judge=surface&eval_prompt=ep4")[2]
        assert "No judgment matches" not in listed
        MAY_WORK.set()
        whole = computed(again, "/run/tale?judge=surface")
        assert [a or b for a, b in _CELLS.findall(whole)] == ["100 %"] * 6
        assert "rated of planned" in whole


def _left_behind(file: Path, summed: bool) -> None:
    """Leave the index as a process does that was killed: read as far as the first criterion with the first prompt."""
    with closing(sqlite3.connect(file)) as db, db:
        db.execute("DELETE FROM judgments WHERE criterion > 0 OR eval_prompt > 0")
        db.execute("DELETE FROM texts WHERE place NOT IN (SELECT place FROM judgments)")
        db.execute("DELETE FROM cells" + (" WHERE criterion > 0 OR eval_prompt > 0" if summed else ""))
        db.execute("UPDATE meta SET value = '0' WHERE key = 'attempt'")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/run/none", 404),
        ("/run/..%2F..%2Fetc", 404),
        ("/run/tale/story?story=none", 404),
        ("/run/tale/judgments?judge=none", 404),
        ("/run/tale/judgments?judge=../tale", 404),
        ("/run/tale/judgments?after=x&before=99999999999999999999999&rating=nan", 200),
        ("/run/tale/map", 200),
        ("/run/tale/map.json", 404),
        ("/run/tale/part/dot?number=1", 404),
        ("/run/tale/audit", 200),
        ("/nowhere", 404),
    ],
)
def test_what_is_not_there_is_said(server: Served, path: str, status: int) -> None:
    found, _, text = server.ask(path)
    assert found == status
    assert "Traceback" not in text
    if "map" in path and status == 200:
        assert "judge explain" in text


def test_nothing_can_be_written(server: Served) -> None:
    token = server.access.token
    assert server.ask("/run/tale", method="POST", body=b"{}", X_Judge_Token=token)[0] == 405
    assert server.ask("/run/tale", method="DELETE")[0] == 403
