"""Sixty repeats of each imitated provider end with exit 0, or with what to change, and then with exit 0."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from judge.answers.journal import JournalReader
from judge.cli.main import main
from judge.ratings.ratings_table import read
from tests.conformance.providers import FLAGGED, IMITATIONS, Imitation
from tests.conformance.server import KEY, Imitated

STORIES, REPEATS = 20, 3
BROKE = {repr(one.broke): one for one in IMITATIONS if one.broke is not None}
"""One imitation for each way to say that the account is used up."""
_RETRIED = ("openai-reasoning", "azure-classic", "anthropic", "gemini-3", "openrouter", "mistral", "llama.cpp")
RETRIED = [one for one in IMITATIONS if one.name in _RETRIED]
"""Those that refuse, list, limit, load and err inside an answer, each in its own way."""


def named(imitation: Imitation) -> str:
    return imitation.name


@pytest.fixture(params=IMITATIONS, ids=named)
def server(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Imitated]:
    """Each imitation in turn."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with Imitated(request.param) as listening:
        yield listening


def write_run(folder: Path, server: Imitated) -> None:
    """A run of twenty stories, one of which a moderation may flag."""
    lines = []
    for number in range(STORIES):
        words = FLAGGED if number == 7 else "a lamp on the quay"
        story = {"id": f"s{number}", "story_prompt": f"Prompt {number // 4}", "system": f"x{number % 2}"}
        lines.append(json.dumps(story | {"text": f"Story {number}: {words}.", "ratings": []}))
    (folder / "stories.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run: dict[str, Any] = {
        "name": "conformance",
        "dataset": "stories.jsonl",
        "judge": f"openai/{server.imitation.model}",
        "criteria": "overall",
        "eval_prompts": ["ep1"],
        "repeats": REPEATS,
        "generation": {"temperature": 0.0, "max_tokens": 256},
        "base_url": server.base_url,
        "concurrency": 16,
        "attempt_timeout": 5.0,
    }
    (folder / "run.yaml").write_text(yaml.safe_dump(run), encoding="utf-8")


class Ran:
    """How a command ended: its exit code, and what it said on stderr."""

    def __init__(self, capsys: pytest.CaptureFixture[str], *arguments: str) -> None:
        self.code = 0
        try:
            main(list(arguments))
        except SystemExit as end:
            self.code = int(end.code or 0)
        self.said = capsys.readouterr().err


def asked(values: dict[str, Any]) -> list[str]:
    return [part for key, value in values.items() for part in ("--set", f"{key}={value}")]


def answers(folder: Path) -> tuple[int, dict[str, int], int]:
    """(answered, given up by kind, answers without a word) in a result folder's journal."""
    with JournalReader(folder / "results" / "journal.sqlite") as journal:
        totals = journal.totals()
        answered = [answer for answer in journal.answers() if answer.error_kind is None]
        wordless = sum(not (answer.response and answer.response.text) for answer in answered)
    return totals.answered, dict(totals.failed), wordless


def judge(folder: Path, capsys: pytest.CaptureFixture[str], command: str, values: dict[str, Any]) -> Ran:
    results = str(folder / "results")
    where = [str(folder), "--output", results] if command == "run" else [results, "--retry"]
    return Ran(capsys, "run", *where, *asked(values))


def test_sixty_repeats_end_well_or_with_what_to_change(
    server: Imitated, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    imitation = server.imitation
    write_run(tmp_path, server)
    values = dict(imitation.asks)
    if imitation.mends:
        refused = judge(tmp_path, capsys, "run", values)
        assert refused.code == 1, refused.said
        assert not (tmp_path / "results" / "journal.sqlite").exists()  # nothing asked, nothing given up
        # What refuses several settings one after another may name them one after another.
        for _ in imitation.mends:
            for key, change in imitation.mends.items():
                if key in refused.said:
                    values |= change
            refused = judge(tmp_path, capsys, "run", values)
            if refused.code == 0:
                break
        ran = refused
    else:
        ran = judge(tmp_path, capsys, "run", values)
    if imitation.moderation is None:
        assert ran.code == 0, ran.said
        assert answers(tmp_path) == (STORIES * REPEATS, {}, 0)
    else:
        # The flagged story alone is not rated, and that is said by the exit code.
        assert ran.code == 3, ran.said
        assert answers(tmp_path) == (STORIES * REPEATS - REPEATS, {"filtered": REPEATS}, 0)
        server.lenient = True
        assert judge(tmp_path, capsys, "retry", values).code == 0
        assert answers(tmp_path)[0] == STORIES * REPEATS
    ratings = read([tmp_path / "results"]).frame.query("source == 'judge'")
    assert ratings["status"].value_counts().to_dict() == {"ok": STORIES * REPEATS}


def usual(imitation: Imitation) -> dict[str, Any]:
    """The run's settings once everything was changed that the sentences named."""
    return imitation.asks | {key: value for change in imitation.mends.values() for key, value in change.items()}


@pytest.mark.parametrize("server", RETRIED, ids=named, indirect=True)
def test_one_retry_answers_everything_that_was_given_up(
    server: Imitated, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_run(tmp_path, server)
    server.lenient = True
    server.failing_requests = frozenset(range(4, 10))
    values = usual(server.imitation) | {"max_attempts": 1}
    ran = judge(tmp_path, capsys, "run", values)
    assert ran.code == 3, ran.said
    assert sum(answers(tmp_path)[1].values()) > 0
    assert answers(tmp_path)[2] == 0
    server.failing_requests = frozenset()
    again = judge(tmp_path, capsys, "retry", usual(server.imitation))
    assert again.code == 0, again.said
    assert answers(tmp_path) == (STORIES * REPEATS, {}, 0)


@pytest.mark.parametrize("server", list(BROKE.values()), ids=named, indirect=True)
def test_an_account_that_is_used_up_stops_the_run_and_the_same_command_ends_it(
    server: Imitated, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    imitation = server.imitation
    write_run(tmp_path, server)
    server.lenient = True
    values = usual(imitation)
    server.out_of_credit_after = 5
    stopped = judge(tmp_path, capsys, "run", values)
    assert stopped.code == 1, stopped.said
    assert answers(tmp_path)[1] == {}  # nothing given up
    assert answers(tmp_path)[0] < STORIES * REPEATS
    assert any(word in stopped.said for word in ("credit", "account", "quota", "limit")), stopped.said
    server.out_of_credit_after = float("inf")
    # Nothing was given up, so that there is nothing to retry, and it is said what goes on.
    retried = judge(tmp_path, capsys, "retry", values)
    assert retried.code == 3
    assert "judge run" in retried.said
    again = judge(tmp_path, capsys, "run", values)
    assert again.code == 0, again.said
    assert answers(tmp_path) == (STORIES * REPEATS, {}, 0)
