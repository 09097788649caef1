"""Changed stories in `judge view`: each beside its origin with edits marked, the figure, hostile texts as text."""

from __future__ import annotations

import html
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import orjson
import pytest

from judge.inputs.perturbations.perturbation import Edit, applied, edits_of
from judge.show.web.access import Access
from judge.show.web.view.app import view_app
from judge.show.web.view.marked import edited
from judge.show.web.view.pictures import drawn
from tests.web.conftest import Served, serving
from tests.web.view_runs import ATTACK, computed, finish, make_run, start

ORIGIN = "p0 <b>&\"' ü.1"
_PAIR = re.compile(r'<div class="text" dir="auto" tabindex="0">(.*?)</div>', re.S)


def _text(number: int) -> str:
    return f"The keeper of light {number} lit the lamp. {ATTACK} She waited for the ship."


def _edits(number: int) -> list[Edit]:
    text = _text(number)
    at = text.index("lit")
    return [Edit(at, at + 3, "did not light"), Edit(len(text), len(text), " <b>Oh</b> {{ 7 * 7 }}")]


def _story(name: str, number: int, text: str) -> dict[str, Any]:
    return {"id": name, "story_prompt": f"Prompt {number} {ATTACK}", "system": "Human", "text": text}


def _lines() -> list[dict[str, Any]]:
    lines = []
    for number, origin in enumerate([ORIGIN, "p1", "p2"]):
        text = _text(number)
        lines += [
            _story(f"{origin}@none", number, text),
            _story(f"{origin}@negation.1", number, applied(text, _edits(number))),
            _story(f"{origin}@typos.1", number, text.replace("waited", "wiated")),
        ]
    # Its origin is not there: there is nothing to set it beside.
    return [_story("alone@typos.1", 9, "Nobody."), *lines]


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of the control on changed stories, one on ordinary ones, and one whose facts lie outside."""
    root = tmp_path_factory.mktemp("runs")
    run = root / "stress"
    run.mkdir()
    (run / "stress.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in _lines()))
    facts: list[dict[str, Any]] = [{"stress": {"form": 1}}]
    for number, origin in enumerate([ORIGIN, "p1"]):
        # The second story's edits lead to another text than the run has.
        edits = _edits(number) if number == 0 else [Edit(0, 3, "A")]
        facts.append({"story": f"{origin}@negation.1", "edits": [list(one) for one in edits]})
    (run / "stress.facts.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in facts))
    (run / "run.yaml").write_text(
        "name: stress\njudge: surface\ndataset: stress.jsonl\ncriteria: {set: hanna, only: [Coherence]}\n"
        "eval_prompts: [ep1]\nrepeats: 1\n",
        encoding="utf-8",
    )
    finish(start(run))
    make_run(root)
    return root


@pytest.fixture(scope="module")
def server(root: Path, work_here: None) -> Iterator[Served]:
    with serving(lambda access: view_app(root, access), Access()) as running:
        yield running


def _sides(page: str) -> tuple[str, str]:
    old, new = _PAIR.findall(page)
    return old, new


def _plain(marked: str) -> str:
    return html.unescape(re.sub(r"</?(?:ins|del)>", "", marked))


def test_edits_are_marked_as_the_file_of_facts_has_them(server: Served) -> None:
    page = computed(server, f"/run/stress/changed?story={quote(ORIGIN + '@negation.1', safe='')}")
    old, new = _sides(page)
    assert re.findall("<del>(.*?)</del>", old) == ["lit"]
    assert re.findall("<ins>(.*?)</ins>", new) == ["did not light", " &lt;b&gt;Oh&lt;/b&gt; {{ 7 * 7 }}"]
    assert _plain(old) == _text(0)
    assert _plain(new) == applied(_text(0), _edits(0))
    assert "from the file of facts" in page
    assert "A good judge rates the changed story lower." in page
    assert page.count('<span class="ratings"><span>') == 2, "the control rates both"


def test_texts_stay_texts_on_every_address(server: Served) -> None:
    for address in ("", f"?story={quote(ORIGIN + '@typos.1', safe='')}", f"?story={quote(ATTACK, safe='')}"):
        _, _, page = server.ask(f"/run/stress/changed{address}")
        assert "<script>document" not in page, address
        assert "<img src=x" not in page, address
        assert "<b>Oh" not in page, address
        assert "<b>&" not in page, address
        assert "49" not in re.sub("<[^>]*>", "", "".join(_PAIR.findall(page))), address


def test_words_are_compared_where_the_facts_are_of_other_texts_or_missing(server: Served) -> None:
    for story, gone, came in (("p1@negation.1", "lit", "did not light"), ("p2@typos.1", "waited", "wiated")):
        page = computed(server, f"/run/stress/changed?story={quote(story, safe='')}")
        old, new = _sides(page)
        assert gone in "".join(re.findall("<del>(.*?)</del>", old))
        assert set(came.split()) <= set(" ".join(re.findall("<ins>(.*?)</ins>", new)).split())
        assert "words that differ" in page
        assert _plain(new).startswith("The keeper")


def test_links_lead_to_the_same_change_of_other_stories_and_to_other_changes(server: Served) -> None:
    first = computed(server, "/run/stress/changed")
    assert f"{html.escape(ORIGIN, quote=False)}@negation.1".replace('"', "&#34;").replace("'", "&#39;") in first
    assert 'rel="prev"' not in first
    following = html.unescape(re.search(r'rel="next"[^>]*href="([^"]+)"', first)[1])  # type: ignore[index]
    page = computed(server, following)
    assert "p1@negation.1" in page
    assert 'rel="prev"' in page
    assert re.findall(r">(negation 1|typos 1)</a>", page) == ["negation 1", "typos 1"]
    last = computed(server, f"/run/stress/changed?story={quote('p2@negation.1')}")
    assert 'rel="next"' not in last
    assert server.ask("/run/stress/changed?story=alone%40typos.1")[0] == 404
    assert server.ask("/run/stress/changed?story=p1%40none")[0] == 404


def test_a_run_without_changed_stories_says_why(server: Served) -> None:
    page = computed(server, "/run/tale/changed")
    assert "No story of this run was changed" in page
    assert "judge stress make" in page
    assert not _PAIR.findall(page)


def test_the_topic_has_the_figure_and_leads_to_the_stories(server: Served, root: Path) -> None:
    page = computed(server, "/run/stress/tables?show=stress")
    assert "<svg" in page
    assert "Share of pairs in which the untouched story is rated higher" in page
    assert 'href="/run/stress/changed"' in page
    assert page.index("Findings of the stress tests") < page.index("<svg") < page.index("Is it noticed?")
    other = computed(server, "/run/tale/tables?show=stress")
    assert "This table cannot be made" in other
    assert "<svg" not in other.partition("<main")[2]
    # What lies in derived/ is drawn anew: markup in it is text, and what is no picture is left out.
    (kept,) = root.glob("stress/derived/view-stress.json")
    data = json.loads(kept.read_text())
    data["pictures"][0]["lines"][0]["label"] = ATTACK
    data["pictures"][0]["series"][0][1]["colour"] = f'red"/>{ATTACK}'
    data["pictures"].append({"title": ATTACK})
    kept.write_text(json.dumps(data))
    _, _, page = server.ask("/run/stress/tables?show=stress")
    assert "<script>document" not in page
    assert "<img src=x" not in page
    assert page.count("<figure>") == 1
    assert drawn([{"title": "x"}, None, 3]) == []


def test_facts_outside_the_folder_of_runs_are_not_read(root: Path, tmp_path: Path) -> None:
    served = tmp_path / "served"
    shutil.copytree(root / "stress", served / "stress")
    (served / "stress" / "stress.facts.jsonl").rename(tmp_path / "stress.facts.jsonl")
    (served / "stress" / "stress.facts.jsonl").symlink_to(tmp_path / "stress.facts.jsonl")
    with serving(lambda access: view_app(served, access), Access()) as running:
        page = running.ask(f"/run/stress/changed?story={quote(ORIGIN + '@negation.1', safe='')}")[2]
    assert "words that differ" in page


@pytest.mark.parametrize(
    "line",
    [
        "",
        "no json",
        "[1]",
        '{"story": "s"}',
        '{"story": "s", "edits": [[1]]}',
        '{"story": "s", "edits": [["a", 2, "b"]]}',
    ],
)
def test_a_file_of_facts_that_tells_nothing_is_none(tmp_path: Path, line: str) -> None:
    file = tmp_path / "x.facts.jsonl"
    file.write_text(f"{line}\n")
    assert edits_of(file, "s") is None
    assert edits_of(tmp_path, "s") is None
    assert edits_of(tmp_path / "none", "s") is None
    file.write_text('{"story": "s", "edits": [[0, 1, "b"]]}\n')
    assert edits_of(file, "s") == (Edit(0, 1, "b"),)


def test_edits_as_marks_in_any_order() -> None:
    old, new = edited("abc<d", [Edit(5, 5, "!"), Edit(0, 1, ""), Edit(1, 2, "<")])
    assert old == "<del>a</del><del>b</del>c&lt;d"
    assert new == "<ins>&lt;</ins>c&lt;d<ins>!</ins>"
