"""`judge prompts`: what a person sees, and the exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from judge.base.errors import SpecError
from judge.base.files import shipped
from judge.cli.commands import app_of

app = app_of("prompts")


def prompts(*words: str | Path) -> Result:
    """Run the command; a mistake of the user is raised, as `main` gets it."""
    result = CliRunner().invoke(app, [str(w) for w in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def story(tmp_path: Path) -> Path:
    file = tmp_path / "story.txt"
    file.write_text("It {{ opened }}.\n", encoding="utf-8")
    return file


def test_list_names_all_that_ships_with_what_it_needs() -> None:
    tables = json.loads(prompts("list", "--format", "json").stdout)
    assert [row["name"] for row in tables[0]["rows"]] == [
        *("ep1", "ep2", "ep3", "ep4", "ep5"),
        *("pair1", "pair2", "pair3", "pair4", "pair5"),
        *("joint1", "joint2", "joint3", "joint4"),
    ]
    assert {row["name"]: row["abbreviations"] for row in tables[1]["rows"]}["hanna"] == "RE CH EM SU EG CX"


@pytest.mark.parametrize(("name", "file"), [("ep3", "eval_prompts/ep3.jinja"), ("hanna", "criteria/hanna.yaml")])
def test_show_prints_the_file(name: str, file: str) -> None:
    assert prompts("show", name).stdout == (shipped("prompts") / file).read_text(encoding="utf-8")


def test_show_of_an_unknown_name_gives_the_nearest() -> None:
    with pytest.raises(SpecError, match=r"'hana' is not known; did you mean 'hanna'\?"):
        prompts("show", "hana")


def test_render_prints_what_would_be_sent(story: Path) -> None:
    words = ("render", "--eval-prompt", "ep1", "--criterion", "coherence", "--set", f"story_file={story}")
    shown = prompts(*words, "--set", "story_prompt=A door.").stdout
    story_part = "Story prompt: A door.\n\nStory: It {{ opened }}.\n\n"
    request = "Judge this story's Coherence (how much the story makes sense) by a number from 1 to 5.\n\nRating:"
    assert shown == f"=== user ===\n{story_part}{request}\n"


def test_render_as_json_is_the_messages_and_nothing_else(story: Path) -> None:
    words = (
        "render",
        "--eval-prompt",
        "ep4",
        "--criterion",
        "CH",
        "--set",
        f"story_file={story}",
        "--set",
        f"reference={story}",
    )
    result = prompts(*words, "--system", "You judge {{ criterion.name }}.", "--format", "json")
    messages = json.loads(result.stdout)
    assert [m["role"] for m in messages] == ["system", "user"]
    assert messages[0]["content"] == "You judge Coherence."
    assert "Story to judge: It {{ opened }}.\n\n" in messages[1]["content"]
    assert result.stderr == "flags: reference_is_target\n"


def test_render_takes_a_story_of_a_dataset() -> None:
    from judge.inputs.datasets import open_dataset

    first = next(iter(open_dataset("demo").stories()))
    shown = prompts(
        "render", "--eval-prompt", "ep2", "--criterion", "RE", "--dataset", "demo", "--story", first.id
    ).stdout
    assert f"Story prompt: {first.story_prompt}\n\nStory: {first.text}\n\n" in shown


def test_render_in_the_published_words(studies: Path, story: Path) -> None:
    wording = studies / "hanna" / "eval_prompts.json"
    words = (
        "render",
        "--eval-prompt",
        "ep1",
        "--criterion",
        "CH",
        "--set",
        f"story_file={story}",
        "--set",
        f"wording={wording}",
    )
    assert prompts(*words).stdout.startswith(
        "=== user ===\nPrompt: \n\nStory: It {{ opened }}.\n\nRate the story on a "
    )


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--criterion", "CH"), r"which story\? Give --set story_file=FILE, or --dataset NAME with --story ID"),
        (("--criterion", "CH", "--dataset", "demo"), r"which story\?"),
        (("--criterion", "CH", "--dataset", "demo", "--story", "nobody"), "demo: there is no story 'nobody' among its"),
        (("--criterion", "CH,RE", "--dataset", "demo", "--story", "x"), "for one criterion; --criterion names 2"),
    ],
)  # fmt: skip
def test_what_render_cannot_do_is_said(words: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        prompts("render", "--eval-prompt", "ep1", *words)


def test_check_finds_all_that_ships_sound() -> None:
    result = prompts("check")
    assert (result.exit_code, result.stdout) == (0, "19 files checked, all sound\n")


def test_check_of_a_folder_lists_every_problem_and_exits_with_4(tmp_path: Path) -> None:
    (tmp_path / "good.jinja").write_text("{{ story }} {{ criterion.name }}", encoding="utf-8")
    (tmp_path / "bad.jinja").write_text("{{ stroy }}", encoding="utf-8")
    (tmp_path / "bad.yaml").write_text("name: x\n", encoding="utf-8")
    (tmp_path / "run.yaml").write_text("not ours: true\n", encoding="utf-8")
    result = prompts("check", tmp_path, "ep3", "--format", "json")
    assert result.exit_code == 4
    table = json.loads(result.stdout)
    assert [row["file"] for row in table["rows"]] == ["bad.jinja", "bad.yaml"]
    assert "variable 'stroy' is not offered" in table["rows"][0]["problem"]
    assert "criteria is missing" in table["rows"][1]["problem"]
    assert table["signature"] == "checked:4|failed:2"


def test_check_of_an_empty_folder_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"there is no \.jinja or \.yaml file in it"):
        prompts("check", tmp_path)
