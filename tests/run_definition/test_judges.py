"""`judges:` in run.yaml: which keys are whose, what is refused, and that a single judge's definition is what it was."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from judge.answers.journal import JournalReader
from judge.asking.plan import make_plan
from judge.asking.run_definition.judges import ENTRY, OF_EACH, OF_ONE, OF_THE_RUN
from judge.asking.run_definition.spec import RunSpec, Specs, json_schema, load_run_spec, load_run_specs, names_judge
from judge.base.errors import SpecError

JOURNALS = Path(__file__).resolve().parents[1] / "journals"

SHARED: dict[str, Any] = {
    "name": "several",
    "dataset": "mans_roc",
    "criteria": "overall",
    "eval_prompts": ["ep1"],
    "generation": {"temperature": 1.0, "max_tokens": 200},
    "concurrency": 8,
}
JUDGES: list[Any] = [
    {"judge": "openai/a", "base_url": "http://a/v1", "api_key_env": "A_KEY", "requests_per_minute": 60},
    {"judge": "openai/b", "concurrency": 2, "generation": {"temperature": None}, "structured": "json", "max_cost": 1.0},
    "surface",
]


def load(folder: Path, data: dict[str, Any], *overrides: str, judges: tuple[str, ...] = ()) -> Specs[RunSpec]:
    path = folder / "run.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    return load_run_specs(path, overrides, judges)


def test_every_key_of_a_definition_has_one_owner() -> None:
    owners = [*ENTRY, *(key for key in OF_THE_RUN if key != "judges")]
    assert sorted(owners) == sorted(RunSpec.model_fields)


def test_each_judge_has_its_own_keys_over_those_of_the_run(tmp_path: Path) -> None:
    found = load(tmp_path, SHARED | {"judges": JUDGES, "max_cost": 3.0})
    a, b, control = found.asked
    assert found.max_cost == 3.0
    assert (a.base_url, a.api_key_env, a.requests_per_minute, a.concurrency) == (["http://a/v1"], "A_KEY", 60, 8)
    assert (b.base_url, b.api_key_env, b.requests_per_minute, b.concurrency) == ([], None, None, 2)
    # An entry's generation is joined with the run's key by key.
    assert (b.generation.temperature, b.generation.max_tokens) == (None, 200)
    assert (a.structured, b.structured, control.judge) == ("none", "json", "surface")
    # The budget of all is none of one judge's.
    assert (a.max_cost, b.max_cost) == (None, 1.0)


@pytest.mark.parametrize(
    ("judges", "words"),
    [
        ([{"judge": "openai/a", "base_ulr": "x"}], "entry 1 (openai/a): unknown key 'base_ulr', did you mean"),
        ([{"judge": "openai/a", "frobnicate": 1}], f"an entry takes {', '.join(ENTRY)}"),
        (["surface", {"judge": "openai/a", "repeats": 3}], "entry 2 (openai/a): key 'repeats' belongs to the run"),
        ([{"base_url": "http://a/v1"}], "entry 1 does not say which judge"),
        ([["openai/a"]], "entry 1 does not say which judge"),
        ([], "judges must be a list of judges"),
        ({"openai/a": {}}, "judges must be a list of judges"),
        (["openai/a", {"judge": "openai/a", "concurrency": 3}], "judges names openai/a twice"),
        ([{"judge": "openai/a", "requests_per_minute": 0}, "surface"], "judges (openai/a): requests_per_minute: "),
        ([{"judge": "openai/a", "generation": {"temprature": 1}}], "unknown key 'generation.temprature'"),
    ],
)
def test_a_mistake_in_the_list_names_its_entry(tmp_path: Path, judges: Any, words: str) -> None:
    with pytest.raises(SpecError) as caught:
        load(tmp_path, SHARED | {"judges": judges})
    assert words in str(caught.value)
    assert str(tmp_path / "run.yaml") in str(caught.value)


def test_a_mistake_in_what_all_share_is_no_judges(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(tmp_path, SHARED | {"judges": JUDGES, "repeats": "three"})
    assert str(caught.value).startswith(f"{tmp_path / 'run.yaml'}: repeats: ")
    with pytest.raises(SpecError, match="max_cost: "):
        load(tmp_path, SHARED | {"judges": JUDGES, "max_cost": -1})


@pytest.mark.parametrize("key", OF_ONE)
def test_what_belongs_to_one_server_cannot_stand_beside_the_list(tmp_path: Path, key: str) -> None:
    value: Any = {"x": "y"} if key in ("headers", "engine") else "X_KEY"
    with pytest.raises(SpecError, match=f"{key} beside judges would hold for every provider"):
        load(tmp_path, SHARED | {"judges": JUDGES, key: value})


def test_one_judge_and_a_list_exclude_each_other(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="judge and judges exclude each other"):
        load(tmp_path, SHARED | {"judges": JUDGES, "judge": "openai/c"})


def test_a_key_in_an_entry_is_refused_with_its_line(tmp_path: Path) -> None:
    # Written as it would be by hand, so that the line counts.
    lines = ["dataset: mans_roc", "criteria: overall", "eval_prompts: ep1", "judges:", "  - judge: openai/a"]
    text = "\n".join([*lines, "    headers: {Authorization: Bearer sk-live-0123456789abcdef}"])
    (tmp_path / "run.yaml").write_text(text, encoding="utf-8")
    with pytest.raises(SpecError) as caught:
        load_run_specs(tmp_path / "run.yaml")
    assert "line 6" in str(caught.value)
    assert "0123456789abcdef" not in str(caught.value)


def test_named_judges_come_with_their_entries_and_others_with_the_runs_keys(tmp_path: Path) -> None:
    data = SHARED | {"judges": JUDGES, "max_cost": 3.0}
    only = load(tmp_path, data, judges=("openai/a",))
    assert ([spec.base_url for spec in only.asked], only.max_cost) == ([["http://a/v1"]], None)
    assert only.asked[0].max_cost == 3.0  # alone, the budget of all is its own
    assert load(tmp_path, data, judges=("openai/b",)).asked[0].max_cost == 1.0
    two = load(tmp_path, data, judges=("openai/c", "openai/a"))
    assert [(spec.judge, spec.base_url) for spec in two.asked] == [("openai/c", []), ("openai/a", ["http://a/v1"])]
    assert load_run_spec(tmp_path / "run.yaml", ["judge=openai/a"]).requests_per_minute == 60
    with pytest.raises(SpecError, match="names 3 judges, and one is wanted: openai/a, openai/b, surface"):
        load_run_spec(tmp_path / "run.yaml")


def test_two_revisions_of_a_judge_are_told_apart(tmp_path: Path) -> None:
    judges = [{"judge": "openai/a", "base_url": "http://one/v1"}, {"judge": "openai/a", "revision": "v2"}]
    assert len(load(tmp_path, SHARED | {"judges": judges}, judges=("openai/a",)).asked) == 2
    path = tmp_path / "run.yaml"
    assert load_run_spec(path, ["judge=openai/a"], revision=None).base_url == ["http://one/v1"]
    assert load_run_spec(path, ["judge=openai/a"], revision="v2").revision == "v2"
    assert names_judge(path, "openai/a", "v2")
    assert not names_judge(path, "openai/a", "v3")


def test_overrides_hold_for_every_judge_and_the_budget_for_all(tmp_path: Path) -> None:
    data = SHARED | {"judges": JUDGES}
    found = load(tmp_path, data, "concurrency=5", "generation.temperature=0.5", "max_cost=2", "base_url=http://g/v1")
    assert {spec.concurrency for spec in found.asked} == {5}
    assert {spec.generation.temperature for spec in found.asked} == {0.5}
    assert {tuple(spec.base_url) for spec in found.asked} == {("http://g/v1",)}
    assert [spec.max_cost for spec in found.asked] == [None, 1.0, None]
    assert found.max_cost == 2
    assert [spec.judge for spec in load(tmp_path, data, "judges=[openai/x, openai/y]").asked] == [
        "openai/x",
        "openai/y",
    ]


def test_a_judge_of_another_provider_is_not_asked_at_this_ones_address(tmp_path: Path) -> None:
    data = SHARED | {"judge": "openai/a", "base_url": "https://llm.example/v1", "api_key_env": "A_KEY"}
    with pytest.raises(SpecError, match="base_url is for openai/a, and other/b is of another provider"):
        load(tmp_path, data, judges=("openai/a", "other/b"))
    # The same provider's models share an address, and who asks no server has no use for one.
    found = load(tmp_path, data, judges=("openai/b", "hf/c", "surface"))
    assert [spec.judge for spec in found.asked] == ["openai/b", "hf/c", "surface"]
    moved = load(tmp_path, data, "base_url=http://127.0.0.1:1/v1", "api_key_env=none", judges=("other/b",))
    assert moved.asked[0].base_url == ["http://127.0.0.1:1/v1"]


def test_the_schema_knows_the_list(tmp_path: Path) -> None:
    schema = json_schema()
    entry = schema["properties"]["judges"]["items"]["anyOf"][1]
    assert set(entry["properties"]) == set(ENTRY) == {"judge", *OF_ONE, *OF_EACH}
    assert schema["oneOf"] == [{"required": ["judge"]}, {"required": ["judges"]}]
    with pytest.raises(SpecError, match="did you mean 'judges'"):
        load(tmp_path, SHARED | {"judgs": JUDGES})


def test_a_journal_from_before_there_were_lists_has_the_same_hashes(tmp_path: Path) -> None:
    """The hashes are those that an earlier version stored: its journal, and its manifest's `asked` as run.yaml."""
    shutil.copy(JOURNALS / "format-1.sqlite", tmp_path / "journal.sqlite")
    stored = json.loads((JOURNALS / "format-1.manifest.json").read_text(encoding="utf-8"))
    with JournalReader(tmp_path / "journal.sqlite") as journal:
        stories, before = list(journal.stories()), journal.meta()["definition"]
        asked = {key: (story, criterion, prompt) for key, story, criterion, prompt in journal.queries()}
    (found,) = load(tmp_path, stored["asked"]).asked
    assert found.judge_key() == before["judge_key"] == "b2:e41c076ec179133ec2647c9e5a809b88"
    plan = make_plan(found, folder=tmp_path)
    keys = {
        plan.query(story, prompt, criterion).key: (story.id, criterion.name, prompt.name)
        for story in stories
        for prompt in plan.eval_prompts
        for criterion in plan.criteria
    }
    assert keys == asked
    # As one judge of a list it is the same judge, asked the same.
    listed = {key: value for key, value in stored["asked"].items() if key != "judge"}
    of_list = load(tmp_path, listed | {"judges": [stored["judge"], "surface"]}).asked[0]
    assert of_list == found
