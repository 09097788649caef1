"""The table that sets asking together beside asking one by one: calls, tokens, cost, what was lost, halo, tau."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.analysis import criteria as tables
from judge.analysis.criteria import criteria
from judge.answers.journal import JournalReader
from judge.asking.execution.session import sit
from judge.asking.run_folder import folder_cost
from judge.ratings.ratings_table import read
from tests.joint.conftest import CRITERIA, sitting
from tests.server.loopback import LoopbackServer

Start = Callable[..., LoopbackServer]


def test_calls_tokens_and_cost_stand_side_by_side(loopback: Start, stories: Path) -> None:
    server = loopback(style="joint", expected_repeats=2)
    asked = sitting(server, stories, eval_prompts=["ep1", "joint1"], repeats=2, judge="openai/gpt-4o-mini")
    sit(asked)
    found = criteria(read([asked.result.path]))
    frame = found.view("together").set_index("eval_prompt")
    assert list(frame["asked"]) == ["one by one", "together"]
    assert frame.loc["ep1", "calls"] == 6 * frame.loc["joint1", "calls"] == 72
    assert (frame["lost"] == 0).all()
    assert frame.loc["joint1", "prompt_tokens"] < frame.loc["ep1", "prompt_tokens"]
    assert frame["cost"].sum() == pytest.approx(folder_cost(asked.result).dollars)
    assert frame.loc["joint1", "cost"] < frame.loc["ep1", "cost"] / 6
    halo = found.view("halo").set_index("eval_prompt")["halo"]
    assert halo["joint1"] == pytest.approx(frame.loc["joint1", "halo"])
    (table,) = [one for one in tables.tables(found) if one.title.startswith("Several criteria in one answer")]
    assert [row["calls"] for row in table.rows] == list(frame["calls"])
    whole = json.dumps(tables.tables(found, long=True)[-1].rows, default=str)
    assert "one by one" in whole


def test_spending_by_eval_prompt_adds_up(loopback: Start, stories: Path) -> None:
    server = loopback(fixed_text="Relevance: 4\nCoherence: 2")
    prompts = ["ep1", "joint1", "joint2"]
    asked = sitting(server, stories, eval_prompts=prompts)
    sit(asked)
    server.configure(fixed_text=None, style="joint")
    sit(sitting(server, stories, eval_prompts=prompts, again="unparsed"))
    with JournalReader(asked.result.journal) as journal:
        whole, parts = journal.spending(), [journal.spending(prompt) for prompt in prompts]
        assert sum(part.live.prompt or 0 for part in parts) == whole.live.prompt
        assert sum(part.live.completion or 0 for part in parts) == whole.live.completion
        assert sum(part.answers for part in parts) == whole.answers
        assert {part.last for part in parts} == {whole.last}
        assert list(journal.taken()) == prompts
    assert folder_cost(asked.result).dollars is None


def test_ratings_that_answers_lack_are_counted_as_lost(loopback: Start, stories: Path) -> None:
    asked = sitting(loopback(fixed_text="Relevance: 4\nCoherence: 2"), stories)
    sit(asked)
    (row,) = criteria(read([asked.result.path])).view("together").to_dict("records")
    assert row["lost"] == pytest.approx(4 / len(CRITERIA))


def test_runs_without_such_answers_have_no_such_table(loopback: Start, stories: Path) -> None:
    asked = sitting(loopback(), stories, eval_prompts=["ep1"])
    sit(asked)
    found = criteria(read([asked.result.path]))
    assert found.askings == ()
    assert len(found.view("together")) == 0
    assert not any("in one answer" in one.title for one in tables.tables(found))


def test_planted_halo_of_joint_answers_is_seen(tmp_path: Path) -> None:
    rng = random.Random(5)
    stories, answers = [], []
    for number in range(80):
        merits = {name: rng.randint(1, 5) for name in CRITERIA}
        given = [{"rater": "a", "criterion": name, "value": value} for name, value in merits.items()]
        place = {"id": f"s{number}", "story_prompt": f"Prompt {number // 4}", "system": f"m{number % 4}"}
        stories.append({**place, "text": f"Story {number}.", "ratings": given})
        # One by one each merit is seen for itself; together the first stains the others.
        told = {"story": f"s{number}", "repeat": 0}
        answers += [
            {**told, "criterion": name, "eval_prompt": "ep1", "text": f"Rating: {value}"}
            for name, value in merits.items()
        ]
        first = merits[CRITERIA[0]]
        stained = "\n".join(f"{name}: {round((value + first) / 2)}" for name, value in merits.items())
        answers.append({**told, "criterion": list(CRITERIA), "eval_prompt": "joint1", "text": stained})
    (tmp_path / "stories.jsonl").write_text("\n".join(map(json.dumps, stories)), encoding="utf-8")
    (tmp_path / "answers.jsonl").write_text("\n".join(map(json.dumps, answers)), encoding="utf-8")
    judge = f"recorded/{tmp_path / 'answers.jsonl'}"
    asked = sitting(None, tmp_path / "stories.jsonl", eval_prompts=["ep1", "joint1"], judge=judge, base_url=[])
    assert sit(asked).missing == 0
    frame = criteria(read([asked.result.path])).view("together").set_index("eval_prompt")
    assert frame.loc["ep1", "halo_high"] < 0.2 < frame.loc["joint1", "halo_low"]
    assert frame.loc["joint1", "validity"] < frame.loc["ep1", "validity"] == pytest.approx(1)
