"""judge init: every key with a comment, a dataset's columns guessed, and a file that runs."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest
import yaml

from judge.asking.run_definition.spec import CriteriaSpec, GenerationSpec, RunSpec, load_run_spec, load_run_specs
from judge.base.files import shipped
from judge.base.records import Scale
from judge.cli.main import main
from judge.inputs.criteria import load_criteria

Run = Callable[..., tuple[int, str, str]]
STORY = "The lamp went out at nine, and Mara waited on the stairs and counted to forty."
TEMPLATES = sorted(path.parent.name for path in shipped("runs").glob("*/run.yaml"))


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    monkeypatch.chdir(tmp_path)

    def _run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as stop:
            main(list(words))
        out, err = capsys.readouterr()
        return int(stop.value.code or 0), out, err

    return _run


def _every_key() -> set[str]:
    nested = {"generation": GenerationSpec, "criteria": CriteriaSpec}
    inner = {f"{key}.{name}" for key, model in nested.items() for name in model.model_fields}
    return set(RunSpec.model_fields) | inner


def _keys(text: str) -> dict[str, str]:
    """Dotted key -> its line, of keys that are set and of keys that stand as comments."""
    found: dict[str, str] = {}
    parent = ""
    for line in text.splitlines():
        match = re.match(r"^( *)(?:# )?([a-z_]+):", line)
        if match is None or line.startswith(("# The ", "# OpenMEVA", "# Every key")):
            continue
        if match[2] == "judges":  # in place of judge: no key of one judge's definition
            continue
        parent = parent if match[1] else match[2]
        found[f"{parent}.{match[2]}" if match[1] else match[2]] = line
    return found


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_key_stands_in_the_file_with_a_comment(template: str, run: Run) -> None:
    assert run("init", "mine", "--from", template)[0] == 0
    text = Path("runs/mine/run.yaml").read_text(encoding="utf-8")
    lines = _keys(text)
    assert set(lines) == _every_key()
    assert [key for key, line in lines.items() if "  # " not in line] == []
    shipped_spec = load_run_spec(shipped("runs") / template / "run.yaml")
    assert load_run_spec(Path("runs/mine/run.yaml")) == shipped_spec.model_copy(update={"name": "mine"})


def test_every_key_that_stands_as_a_comment_can_be_uncommented(run: Run) -> None:
    assert run("init", "mine", "--dataset", "demo")[0] == 0
    path = Path("runs/mine/run.yaml")
    text = path.read_text(encoding="utf-8")
    silent = [line for line in text.splitlines() if re.match(r"^ *# (?!judges:)[a-z_]+: ", line)]
    assert len(silent) > 15
    for line in silent:
        path.write_text(text.replace(line, line.replace("# ", "", 1)), encoding="utf-8")
        load_run_spec(path)


def _csv(name: str, head: str, *rows: str) -> None:
    Path(name).write_text("\n".join([head, *rows]) + "\n", encoding="utf-8")


def _columns() -> dict[str, Any]:
    return dict(yaml.safe_load(Path("runs/mine/run.yaml").read_text(encoding="utf-8"))["columns"])


def test_columns_of_a_table_are_guessed_written_and_run(run: Run) -> None:
    _csv("stories.csv", "Story ID,Prompt,Story,Model,coh,emp", f'a,Go,"{STORY}",m,4,2', f'b,Go,"{STORY} Again.",n,3,1')
    code, out, _ = run("init", "mine", "--dataset", "stories.csv")
    assert code == 0
    assert "stories.csv: 2 stories by 2 systems; ratings of Coherence, Empathy" in out
    assert _columns() == {
        "id": "Story ID",
        "text": "Story",
        "system": "Model",
        "story_prompt": "Prompt",
        "ratings": {"Coherence": "coh", "Empathy": "emp"},
    }
    spec = load_run_spec(Path("runs/mine/run.yaml"))
    assert (spec.criteria.set, spec.criteria.only) == ("hanna", ["Coherence", "Empathy"])
    assert spec.dataset == "../../stories.csv"
    text = Path("runs/mine/run.yaml").read_text(encoding="utf-8")
    assert {key.partition(".")[0] for key in _keys(text)} >= set(RunSpec.model_fields)
    # Two stories, two criteria, three Eval-Prompts, three repeats.
    code, out, _ = run("run", "runs/mine", "--dry-run", "--format", "json")
    assert code == 0
    row = yaml.safe_load(out)["rows"][0]
    assert (row["stories"], row["queries"], row["answers"]) == (2, 12, 36)
    assert run("run", "runs/mine", "--judge", "surface", "--quiet")[0] == 0


def test_tables_of_other_forms_are_guessed_too(run: Run) -> None:
    book = openpyxl.Workbook()
    for row in (["id", "story", "model", "rater_1", "rater_2"], [1, STORY, "m", 3, 4]):
        book.worksheets[0].append(row)
    book.save("stories.xlsx")
    assert run("init", "mine", "--dataset", "stories.xlsx")[0] == 0
    assert _columns() == {
        "id": "id",
        "text": "story",
        "system": "model",
        "ratings": {"Overall": "rater_1,rater_2"},
    }
    assert run("run", "runs/mine", "--dry-run")[0] == 0


def test_columns_that_are_given_with_their_raters_are_ratings_of_known_persons(run: Run) -> None:
    _csv("stories.csv", "id,story,model,coh_ann,coh_bob", f'1,"{STORY}",m,3,4', f'2,"{STORY} Again.",m,2,5')
    given = "ratings.Coherence=ann:coh_ann,bob:coh_bob"
    assert run("init", "mine", "--dataset", "stories.csv", "--column", given)[0] == 0
    assert _columns() == {
        "id": "id",
        "text": "story",
        "system": "model",
        "ratings": {"Coherence": "ann:coh_ann,bob:coh_bob"},
    }
    assert run("run", "runs/mine", "--judge", "surface", "--quiet")[0] == 0
    assert run("init", "numbered", "--dataset", "stories.csv", "--column", "ratings.Coherence=coh_ann,coh_bob")[0] == 0
    assert "rater: =unknown" in Path("runs/numbered/run.yaml").read_text(encoding="utf-8").replace("'", "")


def test_what_people_rated_becomes_the_criterion_where_no_shipped_set_has_it(run: Run) -> None:
    lines = ["id,text,system,quality"] + [f's{i},"{STORY} {i}",m{i % 2},{2 + i % 3}' for i in range(6)]
    Path("rated.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    code, out, err = run("init", "mine", "--dataset", "rated.csv")
    assert (code, err) == (0, "")
    assert "criteria.yaml beside run.yaml names what people rated: say there what it means" in out
    spec = load_run_spec(Path("runs/mine/run.yaml"))
    assert (spec.criteria.set, spec.eval_prompts) == ("criteria.yaml", ["ep1", "ep2"])
    (criterion,) = load_criteria("criteria.yaml", folder=Path("runs/mine")).criteria
    assert (criterion.name, criterion.abbreviation, criterion.scale) == ("quality", "QU", Scale(1, 5, 1))
    assert run("run", "runs/mine", "--dry-run")[0] == 0
    # A set that has it is still taken.
    Path("rated.csv").write_text("\n".join(lines).replace("quality", "Coherence") + "\n", encoding="utf-8")
    assert run("init", "other", "--dataset", "rated.csv")[0] == 0
    assert not Path("runs/other/criteria.yaml").exists()


def test_a_new_run_says_that_it_may_have_several_judges(run: Run) -> None:
    assert run("init", "mine")[0] == 0
    path = Path("runs/mine/run.yaml")
    text = path.read_text(encoding="utf-8")
    (line,) = [line for line in text.splitlines() if line.startswith("# judges:")]
    text = re.sub(r"(?m)^judge:.*$", "", text).replace(line, line.removeprefix("# "))
    path.write_text(text, encoding="utf-8")
    assert [spec.judge for spec in load_run_specs(path).asked] == ["openai/gpt-4.1-mini", "surface"]


def test_native_lines_need_no_columns(run: Run) -> None:
    Path("own.jsonl").write_text(f'{{"id": "a", "story_prompt": "p", "system": "s", "text": "{STORY}"}}\n')
    assert run("init", "mine", "--dataset", "own.jsonl")[0] == 0
    assert load_run_spec(Path("runs/mine/run.yaml")).columns is None
    assert run("run", "runs/mine", "--dry-run")[0] == 0


def test_what_cannot_be_guessed_is_asked_for_and_nothing_is_written(run: Run) -> None:
    _csv("stories.csv", "id,story,score", f'1,"{STORY}",4')
    code, _, err = run("init", "mine", "--dataset", "stories.csv")
    assert code == 1
    assert "no column could be guessed for system" in err
    assert "--column text=story --column ratings.Overall=score --column system==NAME" in err
    assert not Path("runs").exists()
    assert run("init", "mine", "--dataset", "stories.csv", "--column", "system==GPT-4")[0] == 0
    assert _columns()["system"] == "=GPT-4"
    assert run("run", "runs/mine", "--dry-run")[0] == 0


def test_a_cell_that_does_not_read_is_named_before_anything_is_written(run: Run) -> None:
    _csv("stories.csv", "id,story,model,score", f'1,"{STORY}",m,4', f'2,"{STORY}",m,NA')
    code, _, err = run("init", "mine", "--dataset", "stories.csv")
    assert code == 1
    assert "row 3, column 'score': not a rating; found 'NA'" in err
    assert "--column 'missing==NA'" in err
    assert run("init", "mine", "--dataset", "stories.csv", "--column", "missing==NA")[0] == 0
    assert run("run", "runs/mine", "--dry-run")[0] == 0


def test_a_dataset_that_is_not_there_is_refused(run: Run) -> None:
    assert "there is no such file" in run("init", "mine", "--dataset", "none.csv")[2]
    assert "dataset 'demi' is not known; did you mean 'demo'" in run("init", "mine", "--dataset", "demi")[2]
    assert "--column goes with --dataset" in run("init", "mine", "--column", "a=b")[2]


def test_a_copy_of_the_data_moves_with_the_run(run: Run) -> None:
    _csv("stories.csv", "id,story,model,coh", f'a,"{STORY}",m,4', f'b,"{STORY} Again.",n,11')
    code, out, _ = run("init", "mine", "--dataset", "stories.csv", "--copy-data")
    assert code == 0
    assert "look at this: 1 of 2 ratings of Coherence lies outside the scale 1-5 of the set hanna: 11 (story b)" in out
    assert load_run_spec(Path("runs/mine/run.yaml")).dataset == "stories.csv"
    Path("stories.csv").unlink()
    Path("runs/mine").rename("elsewhere")
    code, out, _ = run("run", "elsewhere", "--dry-run")
    assert code == 0
    assert "look at this: 1 of 2 ratings of Coherence lies outside the scale 1-5" in out
    assert "--copy-data goes with --dataset FILE" in run("init", "other", "--copy-data")[2]


def test_columns_that_are_not_read_are_named(run: Run) -> None:
    _csv("stories.csv", "id,story,model,ann1,ann2,gpt4,minutes", f'a,"{STORY}",m,4,3,2,10', f'b,"{STORY} 2",n,1,2,3,9')
    code, out, _ = run("init", "mine", "--dataset", "stories.csv")
    assert code == 0
    assert "people's ratings: Overall ann1,ann2" in out
    assert (
        "not read: gpt4 (a judge's, not people's), minutes (its name says that it counts or numbers something)" in out
    )


def test_numbered_columns_are_asked_about_and_refused_in_scripts(run: Run) -> None:
    _csv("stories.csv", "id,story,model,coh_1,coh_2", f'a,"{STORY}",m,4,3', f'b,"{STORY} 2",n,1,2')
    code, _, err = run("init", "mine", "--dataset", "stories.csv")
    assert code == 1
    assert "does each of the columns coh_1, coh_2 hold one person's ratings throughout?" in err
    assert "if yes: --column text=story --column system=model --column ratings.Coherence=1:coh_1,2:coh_2" in err
    assert "if no: --column text=story --column system=model --column ratings.Coherence=coh_1,coh_2" in err
    assert "--column rater==unknown" in err
    assert run("init", "mine", "--dataset", "stories.csv", "--column", "ratings.Coherence=1:coh_1,2:coh_2")[0] == 0
