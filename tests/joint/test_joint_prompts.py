"""Eval-Prompts that ask for several criteria: what they show, what is wrong with one, and what a query of one is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest

from judge.answers.parsing.asked_form import has_asked_form
from judge.asking.execution.ray.blocks import decode, encode
from judge.asking.plan import Plan, make_plan
from judge.asking.run_definition.spec import parse_run_spec
from judge.backends.dialect import schema
from judge.base.errors import SpecError, TemplateError
from judge.base.records import Criterion, Query, Response, Scale, Story, joint_name, names_in
from judge.inputs.criteria import load_criteria
from judge.inputs.eval_prompts import load_eval_prompt, prefix_order, shipped_eval_prompts
from judge.inputs.eval_prompts.check import problems
from tests.joint.conftest import CRITERIA

HANNA = load_criteria("hanna").criteria
STORY = Story("s", "A storm comes.", "m", "It rained.", reference="The roof went.")
SHIPPED = [name for name in shipped_eval_prompts() if load_eval_prompt(name).criteria is not None]
MINE = "{{ story }}\n{% for one in criteria %}\n- {{ one.name }} ({{ one.definition }})\n{% endfor %}\n"


def plan(**changes: Any) -> Plan:
    data = {"name": "t", "dataset": "x", "judge": "openai/m", "criteria": "hanna", "eval_prompts": ["joint1"]}
    return make_plan(parse_run_spec(data | changes, "test"))


def query(**changes: Any) -> Query:
    made = plan(**changes)
    return made.query(STORY, made.eval_prompts[0], made.asked_by(made.eval_prompts[0])[0])


def mine(folder: Path, front: str, body: str = MINE) -> Path:
    file = folder / "mine.jinja"
    file.write_text(f"---\n{front}\n---\n{body}", encoding="utf-8")
    return file


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_ones_name_every_criterion_and_share_the_story_first(name: str) -> None:
    prompt = load_eval_prompt(name)
    assert problems(prompt.file) == []
    (message,) = prompt.render(STORY, HANNA)
    for criterion in HANNA:
        assert f"- {criterion.name} ({criterion.definition}), by a number from 1 to 5" in message.content
    assert message.content == message.content.strip()
    assert prefix_order(prompt, HANNA)[-2:] == ("story", "criterion")


@pytest.mark.parametrize("name", SHIPPED)
def test_labels_and_steps_stand_beside_their_own_criterion(name: str) -> None:
    points = ("It stops.", "It ends.")
    labelled = Criterion("Ending", "EN", "is it earned?", Scale.of_labels(["No", "Yes"]), points)
    halves = replace(HANNA[0], scale=Scale(0, 1, 0.5), guidelines=("Low.", "Middle.", "High."))
    (message,) = load_eval_prompt(name).render(STORY, (halves, labelled))
    assert "by a number from 0 to 1 in steps of 0.5" in message.content
    assert "- Ending (is it earned?), by one of these labels:" in message.content
    assert ("  Yes: It ends." if name == "joint3" else "labels: No, Yes") in message.content


@pytest.mark.parametrize(
    ("front", "body", "sentence"),
    [
        ("criteria: all\ncompares: true", MINE, "compares goes with no criteria"),
        ("criteria: all\npublished: EP1", MINE, "criteria goes with none of published"),
        ("criteria: all\nrating_pattern: 'x(.)'", MINE, "criteria goes with none of published, rating_pattern"),
        ("criteria: [Coherence]", MINE, "criteria names two or more"),
        ("criteria: [Coherence, coherence]", MINE, "criteria names two or more, each once"),
        ("criteria: some", MINE, "line 2: criteria"),
        ("criteria: all", "{{ story }} {{ criterion.name }}", "'criterion' is not offered; did you mean 'criteria'"),
        ("criteria: all", MINE.replace("one.name", "one.nam"), "'criterion.nam' is not offered; did you mean"),
        ("criteria: all", MINE.replace("one.name", "one.scale.top"), "'criterion.scale.top' is not offered"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, front: str, body: str, sentence: str) -> None:
    with pytest.raises(TemplateError) as caught:
        load_eval_prompt(mine(tmp_path, front, body))
    assert sentence in str(caught.value)


def test_the_check_finds_unused_and_unsaid_guidelines(tmp_path: Path) -> None:
    assert problems(mine(tmp_path, "criteria: all", MINE + "x")) == []
    assert "never names criteria" in problems(mine(tmp_path, "criteria: all", "{{ story }}"))[0]
    assert "says needs_guidelines" in problems(mine(tmp_path, "criteria: all\nneeds_guidelines: true", MINE + "x"))[0]
    told = MINE.replace("one.definition", "one.guidelines | first")
    assert "does not say needs_guidelines" in problems(mine(tmp_path, "criteria: all", told + "x"))[0]


def test_the_one_name_of_several_reads_back() -> None:
    names = ('A "quoted", one', "Überraschung", "B")
    assert names_in(joint_name(names)) == names
    assert names_in("Coherence") == ("Coherence",)
    assert names_in('["half') == ('["half',)
    assert Criterion.together(HANNA).name == joint_name(CRITERIA)


def test_a_list_asks_for_some_in_its_own_order(tmp_path: Path) -> None:
    file = mine(tmp_path, "criteria: [CH, relevance]")
    made = query(eval_prompts=[str(file)])
    assert [one.name for one in made.criteria] == ["Coherence", "Relevance"]
    with pytest.raises(SpecError, match="mine rates CH too, and the run does not ask for it"):
        query(eval_prompts=[str(file)], criteria={"set": "hanna", "only": ["RE", "EG"]})


def test_one_query_a_story_beside_one_for_each_criterion() -> None:
    made = plan(eval_prompts=["ep1", "joint1"])
    assert made.queries_per_subject == 7
    asked = [one for group in made.groups(lambda: iter([STORY])) for one in group]
    assert [len(one.criteria) for one in asked if one.criteria] == [6]
    assert len({one.key for one in asked}) == 7


def test_the_key_holds_the_criteria_and_what_an_answer_is_held_to() -> None:
    first, second = query(), query(criteria={"set": "hanna", "only": ["RE", "CH"]})
    assert len({first.key, second.key, query(structured="json").key}) == 3
    assert query().key == first.key


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"structured": "choice"}, "no choice of one point"), ({"scoring": "logprobs"}, "tell no rating of each")],
)
def test_what_cannot_hold_several_ratings_is_refused(changes: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        plan(**changes)


def test_it_stands_in_no_run_of_comparisons() -> None:
    with pytest.raises(SpecError, match="rates one"):
        plan(eval_prompts=["pair1", "joint1"], pairs="all")


def test_a_schema_has_a_rating_under_each_name() -> None:
    bare = schema(query(structured="json"))
    assert list(bare["properties"]) == bare["required"] == list(CRITERIA)
    assert bare["properties"]["Empathy"] == {"type": "integer", "enum": [1, 2, 3, 4, 5]}
    told = schema(query(structured="json-explanation-first", eval_prompts=["joint2"]))
    assert list(told["properties"]["Empathy"]["properties"]) == ["explanation", "rating"]


def test_the_asked_form_is_one_object_with_all_names() -> None:
    whole = dict.fromkeys(CRITERIA, 3)
    assert has_asked_form(Response(orjson.dumps(whole).decode()), HANNA, "json")
    assert not has_asked_form(Response(orjson.dumps(whole | {"Empathy": 9}).decode()[:-9] + "}"), HANNA, "json")
    assert not has_asked_form(Response("Relevance: 3"), HANNA, "json")


def test_a_block_for_a_worker_keeps_them_together() -> None:
    asked = query(eval_prompts=["joint3"])
    ((back, repeats),) = decode(encode([[(asked, (0, 1))]]))[0]
    assert (back, repeats) == (replace(asked, story=back.story), (0, 1))
