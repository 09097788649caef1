"""README cannot lie: its reference is fresh, its examples run, its lists are the code's."""

from __future__ import annotations

import importlib
import itertools
import re
import shlex
from pathlib import Path
from typing import get_args

import pytest
import typer

from judge.cli.commands import COMMANDS
from judge.demo import run_demo
from judge.journal.schema import TABLES
from judge.ratings_table import COLUMNS
from judge.records import STATUSES, Outcome
from judge.run_definition.spec import GenerationSpec, RunSpec
from tests.readme_reference import README, with_reference

TEXT = README.read_text(encoding="utf-8")
PROSE = TEXT.split("<!-- command reference: begin -->")[0]


def commands() -> dict[str, typer.main.click.Command]:  # type: ignore[name-defined]
    """Path -> command, subcommands included."""
    found = {}
    for name, (module, _) in COMMANDS.items():
        command = typer.main.get_command(importlib.import_module(f"judge.cli.{module}").app)
        parts = getattr(command, "commands", None)
        found |= {f"{name} {key}": one for key, one in parts.items()} if parts else {name: command}
    return found


def test_the_command_reference_is_fresh() -> None:
    assert with_reference(TEXT) == TEXT, "stale: make docs"


@pytest.mark.parametrize("path", sorted(commands()))
def test_every_command_has_help_with_an_example(path: str) -> None:
    assert f"Example: judge {path}" in (commands()[path].help or "")


def examples() -> list[str]:
    blocks = re.findall(r"```bash\n(.*?)```", PROSE, re.DOTALL)
    inline = re.findall(r"`(judge [a-z][^`]*)`", PROSE)
    lines = [line.split("  #")[0].strip() for block in blocks for line in block.splitlines()]
    return [line for line in [*lines, *inline] if line.startswith("judge ")]


@pytest.mark.parametrize("line", examples())
def test_every_example_names_commands_and_options_that_exist(line: str) -> None:
    words = shlex.split(line)[1:]
    known = commands()
    path = " ".join(words[:2]) if " ".join(words[:2]) in known else words[0]
    assert path in known or path in COMMANDS, line
    if path in known:
        options = {name for parameter in known[path].params for name in (*parameter.opts, *parameter.secondary_opts)}
        used = {word for word in words if word.startswith("--")}
        assert used <= options, line


def test_the_lists_in_the_specification_are_the_codes() -> None:
    assert f"`{', '.join(COLUMNS)}`" in TEXT
    for key in RunSpec.model_fields:
        assert f"| `{key}` |" in TEXT, key
    for key in GenerationSpec.model_fields:
        assert f"`{key}`" in TEXT, key
    for status in STATUSES:
        assert f"| `{status}` |" in TEXT
    for outcome in get_args(Outcome):
        assert f"`{outcome}`" in TEXT
    for statement in re.sub(r"--.*", "", TABLES).split("CREATE TABLE ")[1:]:
        table = statement.split()[0]
        row = next(line for line in TEXT.splitlines() if line.startswith(f"| `{table}` |"))
        columns = re.findall(r"(\w+) (?:TEXT|INTEGER|REAL)\b", statement.split(";")[0])
        assert columns
        if table != "replaced":
            assert [column for column in columns if not re.search(rf"\b{column}\b", row)] == []


def test_the_layers_in_readme_are_the_contracts() -> None:
    import tomllib

    contracts = tomllib.loads((README.parent / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    section = " ".join(TEXT.split("## How the code lies")[1].split("## Studies")[0].split())
    assert ", ".join(f"`{layer}`" for layer in contracts[0]["layers"]) in section


def test_paths_in_readme_exist() -> None:
    for path in re.findall(r"`((?:judge|tests)/[\w./]+)`", TEXT):
        assert (README.parent / path).exists(), path


def test_the_notebook_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_demo(tmp_path / "runs" / "demo", quiet=True)
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(code, "README.md", "exec"), names)  # noqa: S102  the example as printed
    assert len(names["ratings"]) > 1728  # type: ignore[arg-type]
    assert len(names["stories"]) == 48  # type: ignore[arg-type]


def test_the_template_in_readme_is_a_template(tmp_path: Path) -> None:
    from judge.criteria import load_criteria
    from judge.eval_prompts import load_eval_prompt
    from judge.records import Story

    (template,) = re.findall(r"```jinja\n(.*?)```", TEXT, re.DOTALL)
    (tmp_path / "mine.jinja").write_text(template)
    prompt = load_eval_prompt(tmp_path / "mine.jinja")
    (criterion,) = load_criteria("overall").criteria
    system, user = prompt.render(Story("s", "", "x", "A lamp."), criterion)
    assert system.content == "You are a careful reader."
    assert "5: " in user.content
    assert user.content.endswith("Rating:")


def anchor(heading: str) -> str:
    """As GitHub makes it: lower case, punctuation gone, blanks as hyphens."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_five_minutes_leads_to_every_section_and_every_link_to_one() -> None:
    outside = re.sub(r"```.*?```", "", TEXT, flags=re.DOTALL)
    headings = re.findall(r"^#{2,4} (.+)$", outside, re.MULTILINE)
    start = outside.split("## Five minutes")[1].split("\n## ")[0]
    linked = set(re.findall(r"\]\(#([^)]+)\)", start))
    sections = {anchor(one) for one in re.findall(r"^## (.+)$", outside, re.MULTILINE)}
    assert sections - {"five-minutes"} == linked
    assert set(re.findall(r"\]\(#([^)]+)\)", outside)) <= {anchor(one) for one in headings}


def test_a_blank_line_stands_before_every_heading() -> None:
    outside = re.sub(r"```.*?```", "```", TEXT, flags=re.DOTALL).splitlines()
    pairs = itertools.pairwise(outside)
    assert [line for before, line in pairs if line.startswith("#") and before and not before.startswith("<!--")] == []
