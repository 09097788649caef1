"""Every page that links lead to, with hostile texts, in a real browser: no text is run, no request leaves."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest

from judge.cli.main import main
from judge.show.web.audit_annotators import Annotators
from tests.server.command import Command
from tests.web.audits import make_audit
from tests.web.view_runs import define, finish, start

AWAY = "http://198.51.100.7/taken"
HOSTILE = (
    "<script>window.taken=1;fetch('%(a)s')</script><img src='%(a)s' onerror='window.taken=1'>"
    "<svg onload='window.taken=1'><style>@import '%(a)s';*{background:url(%(a)s)}</style>"
    "<iframe src='%(a)s'></iframe><link rel=stylesheet href='%(a)s'><meta http-equiv=refresh content='0;url=%(a)s'>"
    "<base href='%(a)s/'><a href='javascript:window.taken=1'>x</a><form action='%(a)s'><button>x</button></form>"
    "</script><script>window.taken=1</script>--><script>window.taken=1</script>]]>{{7*7}}${window.taken=1}"
    "\" autofocus onfocus=\"window.taken=1\" x='' \u202e\u2066\x1b[2J\u2028';window.taken=1;//"
).replace("%(a)s", AWAY)
MOST = 60
Serving = Callable[..., Command]


class Crawl:
    """A browser that follows every link of a site and notes what leaves it and what ran."""

    def __init__(self, browser: Any, origin: str) -> None:
        self.origin = origin
        self.context = browser.new_context()
        self.left: list[str] = []
        self.ran: list[str] = []
        self.seen: list[str] = []
        self.context.on("request", self._asked)
        self.page = self.context.new_page()
        self.page.on("dialog", lambda dialog: (self.ran.append(dialog.message), dialog.dismiss()))

    def _asked(self, request: Any) -> None:
        if not request.url.startswith((self.origin, "data:", "blob:", "about:")):
            self.left.append(request.url)

    def all_from(self, *starts: str) -> None:
        waiting = list(starts)
        while waiting and len(self.seen) < MOST:
            address = waiting.pop(0)
            if address in self.seen:
                continue
            self.seen.append(address)
            self.page.goto(address, wait_until="load")
            waiting_for = self.page.locator(".waiting")
            if waiting_for.count():
                waiting_for.first.wait_for(state="detached", timeout=90_000)
            if self.page.evaluate("'taken' in window || document.title === 'taken'"):
                self.ran.append(address)
            for link in self.page.eval_on_selector_all("a[href]", "found => found.map(a => a.getAttribute('href'))"):
                assert not link.strip().casefold().startswith("javascript:"), (address, link)
                target = urljoin(address, link).partition("#")[0]
                if target.startswith(self.origin) and target not in self.seen:
                    # The kinds of pages first, then more of each.
                    kind = urlsplit(target).path
                    known = any(urlsplit(one).path == kind for one in (*self.seen, *waiting))
                    waiting.insert(len(waiting) if known else 0, target)

    def held(self) -> None:
        self.context.close()
        assert self.left == []
        assert self.ran == []


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    """A run whose stories, answers, names and notes are hostile."""
    run = define(tmp_path / "runs", "tale", note=HOSTILE)
    stories = [json.loads(line) for line in (run / "stories.jsonl").read_text().splitlines()]
    for number, story in enumerate(stories):
        story |= {"text": f"{HOSTILE} {story['text']}", "story_prompt": HOSTILE, "reference": HOSTILE}
        story["system"] = f"{HOSTILE}{number % 3}"
        if number % 2:
            story["id"] = f"{number}{HOSTILE}"
        story["ratings"] = [rating | {"rater": f"{rating['rater']}{HOSTILE}"} for rating in story["ratings"]]
    (run / "stories.jsonl").write_text("".join(json.dumps(story) + "\n" for story in stories))
    answers = [{"text": f"Rating: {1 + k}\n\nExplanation: {HOSTILE}", "reasoning": HOSTILE} for k in range(5)]
    (run / "script.jsonl").write_text("".join(json.dumps(one) + "\n" for one in answers))
    finish(start(run, "--judge", "surface", "--judge", "scripted/script.jsonl"))
    return tmp_path


def test_no_page_of_a_hostile_run_runs_a_text(browser: Any, hostile: Path, serving: Serving) -> None:
    site = serving("view", "runs", "--port", "0", folder=hostile)
    crawl = Crawl(browser, site.address)
    crawl.all_from(site.address)
    assert len(crawl.seen) > 20
    crawl.held()


def test_nor_does_its_report(browser: Any, hostile: Path) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["report", str(hostile / "runs" / "tale"), "-o", str(hostile / "report.html"), "--resamples", "20"])
    assert not stop.value.code
    file = (hostile / "report.html").as_uri()
    crawl = Crawl(browser, file)
    crawl.all_from(file)
    crawl.page.eval_on_selector_all("details", "found => found.forEach(one => one.open = true)")
    crawl.held()


def test_nor_does_an_audit(browser: Any, tmp_path: Path, serving: Serving) -> None:
    with make_audit(tmp_path / "audit.sqlite") as store:
        values = {category.key: 0 for category in store.categories}
        hostile = HOSTILE.replace("\u202e", "").replace("\u2066", "").replace("\x1b", "").replace("\u2028", "")
        names = [hostile[at : at + 80] for at in range(0, 480, 80)] + ["</script><script>window.taken=1</script>"]
        for number, name in enumerate(names):
            for item in (1, 2, 3):
                store.answer(name, item, values | {"superfluous": number % 2}, note=HOSTILE)
        owners = Annotators(store)
        paths = [owners.link(name, where) for name in names for where in ("/annotate", "/adjudicate")]
    site = serving("audit", "serve", "audit.sqlite", "--port", "0")
    crawl = Crawl(browser, site.address)
    crawl.all_from(site.address, site.address + "results", *(site.address.rstrip("/") + path for path in paths))
    assert len(crawl.seen) >= 16
    crawl.held()
