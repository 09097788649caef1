"""The plan: what is asked, under which key, in which order, and what it would take."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.asking.plan import Plan, Price, make_plan
from judge.asking.plan.forecast import Measured, forecast
from judge.asking.plan.queries import missing_reference, query_key
from judge.asking.run_definition.spec import GenerationSpec, RunSpec, parse_run_spec
from judge.base.errors import SpecError
from judge.base.records import Criterion, Message, Story


def plan(folder: Path | None = None, **changes: Any) -> Plan:
    data = {"name": "t", "dataset": "d", "judge": "openai/m", "criteria": "hanna", "eval_prompts": ["ep1", "ep2"]}
    return make_plan(parse_run_spec(data | changes, "test"), folder=folder)


def story(number: int, prompt: int = 0) -> Story:
    return Story(f"s{number}", f"Story-prompt {prompt}", "x", f"Text {number}.", f"Human {prompt}.")


def key(asked: Plan, told: Story | None = None, prompt: int = 0, criterion: int = 0) -> str:
    return asked.query(told or story(1), asked.eval_prompts[prompt], asked.criteria[criterion]).key


def test_the_query_key_is_the_same_in_every_process_and_version() -> None:
    spec = plan(generation={"temperature": 0.7, "max_tokens": 64, "stop": ["###"]}).spec
    messages = (Message("system", "You rate."), Message("user", "Der Leuchtturm – Rating:"))
    found = query_key("s1", Criterion("Coherence", "CH", "how much it makes sense"), "ep1", messages, spec)
    # A snapshot: journals that exist hold keys made this way, and a resumed run must find them again.
    assert found == "b2:c2599d16f6bcca69e6e21c2c84ab5335"


@pytest.mark.parametrize(
    "changes",
    [
        {"generation": {"temperature": 1.0}},
        {"generation": {"top_p": 0.5}},
        {"generation": {"max_tokens": 9}},
        {"generation": {"seed": 1}},
        {"generation": {"stop": ["#"]}},
        {"api": "completions"},
        {"structured": "json"},
        {"structured": "choice"},
        {"system": "Be brief."},
    ],
)
def test_whatever_an_answer_depends_on_moves_the_key(changes: dict[str, Any]) -> None:
    assert key(plan(**changes)) != key(plan())


def test_story_criterion_eval_prompt_and_text_move_the_key() -> None:
    asked = plan()
    keys = {
        key(asked),
        key(asked, prompt=1),
        key(asked, criterion=1),
        key(asked, replace(story(1), text="Other.")),
        key(asked, replace(story(1), story_prompt="Other.")),
        key(asked, replace(story(1), id="other")),
    }
    assert len(keys) == 6


@pytest.mark.parametrize(
    "changes",
    [
        {"judge": "openai/other"},
        {"base_url": "http://h/v1"},
        {"repeats": 9},
        {"concurrency": 3},
        {"engine": {"top_k": 3}},
        {"note": "x"},
        {"name": "u"},
    ],
)
def test_executors_and_judges_have_equal_keys(changes: dict[str, Any]) -> None:
    assert key(plan(**changes)) == key(plan())


def test_every_key_of_a_definition_is_accounted_for() -> None:
    """A new field must be given a place: in the query key, in the judge key, in the content asked, or as harmless."""
    in_query_key = {"generation", "api", "structured", "scoring", "system"}
    in_judge_key = {"judge", "revision", "identity", "engine"}
    content = {"dataset", "columns", "criteria", "eval_prompts"}
    harmless = {"name", "repeats", "base_url", "concurrency", "attempt_timeout", "max_attempts", "max_cost", "note"}
    harmless |= {"people"}  # what criteria are set against, which decides nothing that is asked
    harmless |= {"probe_timeout", "headers", "api_key_env"}
    harmless |= {"requests_per_minute", "tokens_per_minute"}
    compared = {"pairs", "orders", "ties", "across"}
    assert set(RunSpec.model_fields) == in_query_key | in_judge_key | content | compared | harmless
    assert set(GenerationSpec.model_fields) == {"temperature", "top_p", "max_tokens", "seed", "stop"}


def test_the_judge_key_moves_with_who_judges_and_not_with_how_fast() -> None:
    base = plan().spec.judge_key()
    for changes in ({"judge": "openai/other"}, {"revision": "r"}, {"engine": {"dtype": "fp8"}}):
        assert plan(**changes).spec.judge_key() != base
    for changes in ({"engine": {"gpu_memory_utilization": 0.9}}, {"base_url": "http://h"}):
        assert plan(**changes).spec.judge_key() == base


def test_executors_are_one_judge_only_where_the_definition_says_so() -> None:
    judges = ("openai/m", "vllm/m", "hf//a/folder")
    assert len({plan(judge=judge).spec.judge_key() for judge in judges}) == 3
    assert len({plan(judge=judge, identity="m at float32").spec.judge_key() for judge in judges}) == 1
    assert plan(identity="one").spec.judge_key() != plan(identity="two").spec.judge_key()
    assert plan(identity="m", engine={"dtype": "fp8"}).spec.judge_key() != plan(identity="m").spec.judge_key()


def groups(asked: Plan, stories: list[Story]) -> list[list[tuple[str, str, str]]]:
    return [
        [(q.story.id, q.eval_prompt, q.criterion.name) for q in group] for group in asked.groups(lambda: iter(stories))
    ]


def test_prefix_groups_share_what_their_templates_show_first() -> None:
    asked = plan(eval_prompts=["ep1", "ep2", "ep3", "ep4"], criteria={"set": "hanna", "only": ["CH", "EG"]})
    stories = [story(n, n // 3) for n in range(6)]
    found = groups(asked, stories)
    assert sorted(place for group in found for place in group) == sorted(
        (s.id, p.name, c.name) for s in stories for p in asked.eval_prompts for c in asked.criteria
    )
    for group in found:
        if any(prompt == "ep4" for _, prompt, _ in group):
            assert len(group) == 6  # three stories x two criteria, behind one human story
        else:
            assert len({s for s, _, _ in group}) == 1
            assert len(group) == 6  # three Eval-Prompts x two criteria on one story


def test_within_a_group_rendered_texts_are_neighbours() -> None:
    asked = plan(eval_prompts=["ep1", "ep2", "ep3"])
    for group in asked.groups(lambda: iter([story(n, n) for n in range(4)])):
        texts = [q.messages[-1].content for q in group]
        assert texts == sorted(texts)


def test_a_template_that_begins_with_the_criterion_gets_a_pass_for_each(tmp_path: Path) -> None:
    (tmp_path / "first.jinja").write_text(
        "---\nexplains: false\n---\nRate {{ criterion.name }}.\n{{ story }}\nRating:\n"
    )
    asked = plan(tmp_path, eval_prompts=["first"], criteria={"set": "hanna", "only": ["CH", "EG"]})
    order = [place for group in groups(asked, [story(n, n) for n in range(40)]) for place in group]
    assert [criterion for _, _, criterion in order] == ["Coherence"] * 40 + ["Engagement"] * 40


def test_the_plan_is_lazy() -> None:
    pulled = 0

    def stories() -> Iterator[Story]:
        nonlocal pulled
        for number in range(10_000):
            pulled += 1
            yield story(number, 0)

    asked = plan().groups(stories)
    for _ in range(3):
        next(asked)
    assert pulled <= 33


def test_a_missing_reference_is_found_before_anything_is_asked() -> None:
    asked = plan(eval_prompts=["ep1", "ep4"])
    bare = replace(story(7), reference=None)
    with pytest.raises(SpecError, match="ep4 needs a reference story and story 's7' has none"):
        list(missing_reference(asked, [story(1), bare]))
    assert list(missing_reference(plan(), [bare])) == [bare]
    own = Story("h", "P", "Human", "Human text.", "Human text.")
    assert asked.query(own, asked.eval_prompts[1], asked.criteria[0]).flags == ("reference_is_target",)


def test_a_plan_that_cannot_be_asked_is_refused() -> None:
    with pytest.raises(SpecError, match="names one twice"):
        plan(eval_prompts=["ep1", "ep1"])
    with pytest.raises(SpecError, match="needs guidelines"):
        plan(eval_prompts=["ep3"], criteria="storyer")


def test_a_forecast_says_what_it_rests_on() -> None:
    asked = plan(repeats=3, generation={"max_tokens": 20})
    guess = forecast(asked, iter([story(1)]), 10, price=Price(1, 1), one_call=True)
    assert (guess.queries, guess.answers) == (120, 360)
    assert guess.completion_tokens == round(360 * (5 + 20) / 2)
    assert guess.seconds is None
    assert "estimated" in guess.basis
    assert guess.cost == pytest.approx((guess.prompt_tokens + guess.completion_tokens) / 1e6)
    found = Measured(50, prompt_tokens=100.0, completion_tokens=10.0, answers_per_second=20.0)
    told = forecast(asked, iter([]), 10, price=None, one_call=False, measured=found)
    assert (told.prompt_tokens, told.completion_tokens, told.seconds, told.cost) == (36_000, 3_600, 18.0, None)
    assert "measured" in told.basis
