"""run.yaml: strict, every mistake named, nothing hidden."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.asking.run_definition.spec import RunSpec, json_schema, load_run_spec
from judge.asking.run_folder import resolve
from judge.asking.run_folder.layout import folder_for
from judge.base.errors import SpecError
from judge.base.records import Generation

GOOD = """
name: my-run
dataset: mans_roc
judge: openai/m
criteria: overall
eval_prompts: ep1
"""


def load(tmp_path: Path, text: str, *overrides: str) -> RunSpec:
    path = tmp_path / "run.yaml"
    path.write_text(text, encoding="utf-8")
    return load_run_spec(path, overrides)


def test_the_least_definition_hides_nothing(tmp_path: Path) -> None:
    spec = load(tmp_path, GOOD)
    assert spec.generation.record() == Generation()
    assert spec.eval_prompts == ["ep1"]
    assert spec.criteria.set == "overall"
    assert (spec.repeats, spec.base_url, spec.engine, spec.max_cost) == (1, [], {}, None)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ("eval_promts: ep1", "unknown key 'eval_promts', did you mean 'eval_prompts'?"),
        ("generation: {temprature: 1}", "unknown key 'generation.temprature', did you mean 'temperature'?"),
        ("criteria: {sett: hanna}", "did you mean 'set'?"),
        ("repeats: three", "repeats: input should be a valid integer; found 'three'"),
        ("repeats: 0", "repeats: input should be greater than or equal to 1"),
        ("generation: {temperature: -1}", "generation.temperature: "),
        ("api: response", "'chat', 'completions' or 'responses'"),
        ("structured: yes", "'none', 'choice', 'json' or 'json-explanation-first'"),
        ("name: a/b", "name: string should match pattern"),
        ("eval_prompts: []", "eval_prompts"),
        ("concurrency: 0", "concurrency"),
        ("scoring: logprob", "'text' or 'logprobs'"),
    ],
)
def test_every_mistake_names_its_key(tmp_path: Path, more: str, words: str) -> None:
    key = more.split(":", maxsplit=1)[0]
    kept = "\n".join(line for line in GOOD.splitlines() if not line.startswith(f"{key}:"))
    with pytest.raises(SpecError) as caught:
        load(tmp_path, f"{kept}\n{more}\n")
    assert words in str(caught.value)
    assert str(tmp_path / "run.yaml") in str(caught.value)


def test_missing_keys_are_all_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(SpecError) as caught:
        load(tmp_path, "name: x\n")
    for key in ("dataset", "judge", "criteria", "eval_prompts"):
        assert f"key '{key}' is missing" in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [("- a\n", "must hold keys and values"), ("a: [\n", "not valid YAML"), ("", "must hold keys and values")],
)
def test_what_is_no_definition_is_a_sentence(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(SpecError, match=words):
        load(tmp_path, text)


def test_unreadable_files_are_sentences(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="does not exist"):
        load_run_spec(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"name: caf\xe9\n")
    with pytest.raises(SpecError, match="not UTF-8"):
        load_run_spec(tmp_path / "latin.yaml")
    with pytest.raises(SpecError, match="cannot be read"):
        load_run_spec(tmp_path)


def test_yaml_runs_no_code(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="not valid YAML"):
        load(tmp_path, "name: !!python/object/apply:os.system ['true']\n")


def test_overrides_reach_nested_keys_and_are_yaml(tmp_path: Path) -> None:
    spec = load(tmp_path, GOOD, "generation.temperature=0.5", "eval_prompts=[ep1, ep2]", "base_url=http://h/v1")
    assert spec.generation.temperature == 0.5
    assert spec.eval_prompts == ["ep1", "ep2"]
    assert spec.base_url == ["http://h/v1"]
    for wrong, words in (
        ("repeats", "key=value"),
        ("name.x=1", "holds a single value"),
        ("repeats=[", "not valid YAML"),
    ):
        with pytest.raises(SpecError, match=words):
            load(tmp_path, GOOD, wrong)


def test_the_name_is_the_folders_where_the_file_does_not_say_it(tmp_path: Path) -> None:
    nameless = GOOD.replace("name: my-run\n", "")
    folder = tmp_path / "pilot-1"
    folder.mkdir()
    assert load(folder, nameless).name == "pilot-1"
    assert load(folder, f"name:\n{nameless}").name == "pilot-1"
    assert load(folder, GOOD).name == "my-run"
    assert load(folder, nameless, "name=other").name == "other"
    (folder / "second.yaml").write_text(nameless, encoding="utf-8")
    assert load_run_spec(folder / "second.yaml").name == "second"
    blank = tmp_path / "my run"
    blank.mkdir()
    with pytest.raises(SpecError, match="key 'name' is missing, and 'my run' cannot replace it"):
        load(blank, nameless)
    assert "name" not in json_schema()["required"]


def test_results_of_a_nameless_file_are_found_beside_it(tmp_path: Path) -> None:
    (tmp_path / "pilot.yaml").write_text(GOOD.replace("name: my-run\n", ""), encoding="utf-8")
    folder = folder_for(tmp_path / "pilot.yaml", load_run_spec(tmp_path / "pilot.yaml").name, "openai/m")
    folder.path.mkdir(parents=True)
    folder.imported.write_text("a table from elsewhere", encoding="utf-8")
    assert [found.path for found in resolve([tmp_path / "pilot.yaml"])] == [tmp_path / "pilot" / "openai-m"]


def test_every_key_is_described_in_the_schema() -> None:
    schema = RunSpec.model_json_schema()
    bare = {name for name, entry in schema["properties"].items() if "description" not in entry}
    assert bare <= {"generation"}
    for part in schema["$defs"].values():
        assert all("description" in entry for entry in part["properties"].values())
