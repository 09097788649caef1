"""`judge view` of a run that compares: every page answers, and says what it can."""

from __future__ import annotations

import time
from pathlib import Path

import yaml

from judge.execution.session import sit
from judge.web.access import Access
from judge.web.view.app import view_app
from tests.comparing.conftest import definition, sitting
from tests.web.conftest import serving


def test_no_page_fails_on_a_run_that_compares(stories: Path) -> None:
    run = stories.parent / "runs" / "pairs"
    run.mkdir(parents=True)
    plain = {"judge": "surface", "base_url": [], "generation": {}}
    data = definition(None, stories, **plain)
    (run / "run.yaml").write_text(yaml.safe_dump(data), encoding="utf-8")
    sit(sitting(None, stories, folder=str(run / "surface"), **plain))
    with serving(lambda access: view_app(stories.parent / "runs", access), Access()) as server:
        for page in ("", "judgments", "stories", "prompts", "tables", "disagreements", "map", "audit"):
            for _ in range(3):
                status, _, text = server.ask(f"/run/pairs/{page}".rstrip("/"))
                assert status < 500, text
                time.sleep(0.3)
        status, _, text = server.ask("/run/pairs")
        assert status == 200
        assert "24" in text
