"""Pages show each criterion of an answer about several with its own rating, and its whole text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from judge.asking.execution.session import sit
from judge.show.web.access import Access
from judge.show.web.view.app import view_app
from judge.show.web.view.index import update
from judge.show.web.view.judgments import Filters, judgments, stored
from judge.show.web.view.story import cell
from tests.joint.conftest import CRITERIA, sitting
from tests.server.loopback import LoopbackServer
from tests.web.conftest import serving

Start = Callable[..., LoopbackServer]
TEXT = "Relevance: 4\nCoherence: 2\nEmpathy: 5\nSurprise: 1\nComplexity: 3"
RATINGS = dict(zip(CRITERIA, (4, 2, 5, 1, None, 3), strict=True))


def test_every_page_has_each_criterion_s_own_rating(loopback: Start, stories: Path) -> None:
    (stories.parent / "runs" / "t").mkdir(parents=True)
    asked = sitting(loopback(fixed_text=TEXT), stories, eval_prompts=["joint1", "ep1"], folder="runs/t/openai-mock")
    sit(asked)
    file = stories.parent / "index.sqlite"
    assert update(asked.result, file) == 12 * 7
    with judgments(file) as index:
        assert index is not None
        rows = index.page(Filters(eval_prompt="joint1"), size=200).rows
    assert len(rows) == 12 * len(CRITERIA)
    assert {row.criterion: row.rating for row in rows} == RATINGS
    with stored(asked.result) as opened:
        story = next(iter(opened.journal.stories()))
        cells = {name: cell(opened, story, name, "joint1") for name in CRITERIA}
        assert {name: one.ratings for name, one in cells.items()} == {name: (r,) for name, r in RATINGS.items()}
        assert cell(opened, story, "Nothing", "joint1").ratings == ()
    with serving(lambda access: view_app(stories.parent / "runs", access), Access()) as server:
        place = {"judge": "openai-mock", "story": "s0", "criterion": "Empathy", "eval_prompt": "joint1", "repeat": 0}
        for page in ("part/answer", "story", "prompts", "judgments"):
            status, _, shown = server.ask(f"/run/t/{page}?{urlencode(place)}")
            assert (page, status) == (page, 200)
            assert page == "judgments" or "Complexity: 3" in shown
