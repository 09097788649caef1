"""A trial without a page: questions, what they cost, answers with their statuses, the sheet of both judges."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.base.errors import SpecError
from judge.base.records import Story, Verdict
from judge.cli.main import main
from judge.lab.trial.questions import Asking, expected_cost, questions, with_both
from judge.lab.trial.sheet import PREFERRED, Trial, ask_once, by_key, of_both, sheet
from tests.server.loopback import LoopbackServer

OWN = Story(
    "your story", "", "unknown", "The sea took the boat. Anna waited on the quay, and lit the lamp every night."
)
OTHER = Story("the second story", "", "unknown", "There was a boat. There was a boat. It was a boat and it was a boat.")
FIRST, SECOND, TIE = (Verdict("ok", value) for value in ("first", "second", "tie"))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("orders", "preferred"),
    [
        ((FIRST, SECOND), "own"),
        ((SECOND, FIRST), "other"),
        ((TIE, TIE), "tie"),
        ((FIRST, FIRST), "depends"),
        ((SECOND, SECOND), "depends"),
        ((FIRST, TIE), "depends"),
        ((FIRST, Verdict("refused")), "unknown"),
        ((FIRST, None), "waiting"),
        ((None, Verdict("empty")), "unknown"),
    ],
)
def test_two_orders_come_to_one_preference_only_where_they_agree(
    orders: tuple[Verdict | None, Verdict | None], preferred: str
) -> None:
    assert of_both(orders) == preferred
    assert preferred in PREFERRED


def test_all_criteria_are_rated_and_compared_in_both_orders() -> None:
    asking = with_both(Asking(criteria="storyer"), compares=True)
    asked = questions(asking, OWN, OTHER)
    assert len(asked.queries) == 10 + 2 * 10
    assert {(q.story.id, q.other.id) for q in asked.queries if q.other} == {
        (OWN.id, OTHER.id),
        (OTHER.id, OWN.id),
    }
    found = sheet(asked, by_key(asyncio.run(ask_once(asked))), None)
    assert [row.criterion.name for row in found.rated][:2] == ["Opening", "Middle"]
    assert {row.scale for row in found.rated} == {"1-5"}
    assert all(row.judgment is not None and row.judgment.rating is not None for row in found.rated)
    # The control does not look at the order, so both orders agree on every criterion.
    assert found.preferences == {"own": 10}
    assert (found.answered, found.statuses) == (30, {"ok": 30})


def test_an_eval_prompt_of_several_criteria_fills_all_rows() -> None:
    asked = questions(Asking(eval_prompts=("joint1",), only=("Coherence",)), OWN)
    assert len(asked.queries) == 1
    assert len(sheet(asked, by_key(asyncio.run(ask_once(asked))), None).rated) == 6


def test_what_it_costs_is_said_before() -> None:
    free = expected_cost(questions(Asking(), OWN))
    assert (free.requests, free.dollars, free.words) == (6, 0.0, "6 requests, no tokens: free.")
    local = expected_cost(questions(Asking(judge="local/smollm2"), OWN))
    assert local.dollars == 0
    assert local.prompt_tokens > 100
    paid = expected_cost(questions(Asking(judge="openai/gpt-4o-mini"), OWN))
    # 2024's list price, $0.15 and $0.60 for a million tokens.
    assert paid.dollars == pytest.approx((paid.prompt_tokens * 0.15 + paid.completion_tokens * 0.60) / 1e6)
    assert "$" in paid.words
    unknown = expected_cost(questions(Asking(judge="openai/mine", base_url="http://127.0.0.1:1/v1"), OWN))
    assert unknown.dollars is None
    assert "dollars not known" in unknown.words


@pytest.mark.parametrize(
    ("asking", "other", "sentence"),
    [
        (Asking(eval_prompts=("pair2",)), None, "compares two stories, and one is given"),
        (Asking(), OTHER, "asks for the rating of one"),
        (Asking(eval_prompts=("ep1", "ep1")), None, "named twice"),
        (Asking(), Story("empty", "", "unknown", " \n"), "empty is empty"),
    ],
)
def test_what_cannot_be_asked_is_a_sentence(asking: Asking, other: Story | None, sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        questions(asking, OWN, other)


def test_lost_answers_are_typed_and_the_others_stay(loopback: Callable[..., LoopbackServer]) -> None:
    server = loopback(fixed_text="I would rather not say.")
    asked = questions(Asking(judge="openai/mock", base_url=server.url, only=("CH", "EG")), OWN)
    found = sheet(asked, by_key(asyncio.run(ask_once(asked))), {})
    assert sum(found.statuses.values()) == 2
    assert "ok" not in found.statuses
    assert all(row.judgment is not None and row.judgment.rating is None for row in found.rated)


def test_a_stopped_trial_says_of_each_question_that_it_was_not_asked() -> None:
    asked = questions(Asking(), OWN)
    trial = Trial(asked)
    trial.stop("stopped")

    async def work() -> None:
        from judge.backends import Settings, open_backend

        await trial.ask(open_backend("surface", Settings()))

    asyncio.run(work())
    found = sheet(asked, trial.answers, None)
    assert found.statuses == {"not_answered": 6}
    assert {row.error for row in found.rated} == {"stopped"}


def _run(*command: str) -> None:
    with pytest.raises(SystemExit) as ended:
        main(list(command))
    assert ended.value.code in (0, None)


def test_try_prints_a_sheet_for_all_criteria(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one, other = tmp_path / "one.txt", tmp_path / "other.txt"
    one.write_text(OWN.text)
    other.write_text(OTHER.text)
    command = ["try", str(one), "--criteria", "storyer", "--criterion", "all", "--against", str(other)]
    _run(*command)
    shown = capsys.readouterr()
    assert "30 requests, no tokens: free." in shown.err
    assert "one.txt: ratings by surface" in shown.out
    assert "preferences of surface" in shown.out
    _run(*command, "--format", "json")
    rows = json.loads(capsys.readouterr().out)
    assert [row.get("rating") is not None for row in rows] == [True] * 10 + [False] * 20


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--serve", "--criterion", "CH"], "--criterion"),
        (["--serve", "--format", "json"], "--format"),
        (["one.txt", "--port", "0"], "--port"),
        (["one.txt", "--open"], "--open"),
        ([], "STORY.txt"),
    ],
)
def test_options_without_effect_are_refused(
    options: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["try", *options])
    assert ended.value.code == 2
    assert complaint in capsys.readouterr().err
