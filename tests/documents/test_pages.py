"""Pages of docs: generated ones are fresh, examples fit the program, links and lists are those of the code."""

from __future__ import annotations

import asyncio
import itertools
import re
import shlex
import tomllib
from functools import cache
from pathlib import Path
from typing import get_args

import typer

from judge.answers.journal.database import TABLES
from judge.asking.run_definition.spec import GenerationSpec, RunSpec
from judge.backends import recorded
from judge.backends.protocol import Settings
from judge.base.records import STATUSES, Outcome
from judge.cli.commands import COMMANDS, app_of
from judge.cli.declared import EVERYWHERE, KEYS
from judge.ratings.ratings_table import COLUMNS
from tests.documents.blocks import ROOT, blocks, commands_in, prose_pages
from tests.documents.generated import fresh, stale
from tests.documents.language_models import nav, paths
from tests.documents.layers import layers

PAGES = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in prose_pages()}


@cache
def commands() -> dict[str, typer.main.click.Command]:  # type: ignore[name-defined]
    """Path -> command, subcommands included."""
    by_path = {}
    for name in COMMANDS:
        command = typer.main.get_command(app_of(name))
        parts = getattr(command, "commands", None)
        by_path |= {f"{name} {key}": part for key, part in parts.items()} if parts else {name: command}
    return by_path


def test_generated_pages_are_fresh() -> None:
    assert stale(fresh()) == [], "stale: make docs"


def test_every_command_has_help_with_an_example() -> None:
    assert [path for path, one in commands().items() if f"Example: judge {path}" not in (one.help or "")] == []


def test_every_example_names_commands_and_options_that_exist() -> None:
    for line in {line for text in PAGES.values() for line in commands_in(text)}:
        _assert_exists(line)


def _assert_exists(line: str) -> None:
    words = shlex.split(line)[1:]
    ends = [place for place, word in enumerate(words) if word in ("|", ">", "||", "&&")]
    words = words[: ends[0]] if ends else words
    known = commands()
    path = " ".join(words[:2]) if " ".join(words[:2]) in known else words[0]
    assert path in known or path in COMMANDS or path.startswith("--") or path in "NAME", line
    if path in known:
        options = {name for parameter in known[path].params for name in (*parameter.opts, *parameter.secondary_opts)}
        used = {word.split("=")[0] for word in words if word.startswith("--")}
        assert used <= options | {"--help"} | {f"--{name}" for name in EVERYWHERE}, line
        keys = getattr(known[path].callback, KEYS, {})
        if keys:
            given = {after.partition("=")[0] for word, after in itertools.pairwise(words) if word == "--set"}
            assert given <= {*keys, "KEY"}, line


def _slug(heading: str) -> str:
    """As GitHub makes it and the site does: lower case, punctuation gone, blanks as hyphens."""
    return re.sub(r"[^\w\- ]", "", re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).lower()).replace(" ", "-")


def test_links_lead_to_pages_and_headings() -> None:
    for name, text in PAGES.items():
        outside = re.sub(r"(?ms)^```.*?^```", "", text)
        for target in re.findall(r"\]\(([^)\s]+)\)", outside):
            if not target.startswith("http"):
                _assert_leads(name, target)


def _assert_leads(name: str, target: str) -> None:
    page, _, anchor = target.partition("#")
    path = (ROOT / name).parent / page if page else ROOT / name
    if path.suffix == ".ipynb":  # made of the tutorial of that name when the site is built
        path = path.with_suffix(".md")
    assert path.is_file(), f"{name}: {target}"
    if anchor:
        text = re.sub(r"(?ms)^```.*?^```", "", path.read_text(encoding="utf-8"))
        assert anchor in {_slug(heading) for heading in re.findall(r"(?m)^#{1,6} (.+)$", text)}, f"{name}: {target}"


def test_the_site_lists_every_page() -> None:
    listed = paths(nav(ROOT / "mkdocs.yml"))
    assert len(listed) == len(set(listed))
    assert set(listed) == {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}


def test_lists_in_the_reference_are_the_codes() -> None:
    formats = PAGES["docs/reference/file_formats.md"]
    assert f"`{', '.join(COLUMNS)}`" in formats
    for key in RunSpec.model_fields:
        assert f"| `{key}` |" in PAGES["docs/reference/run_yaml.md"], key
    for key in GenerationSpec.model_fields:
        assert f"`{key}`" in PAGES["docs/reference/run_yaml.md"], key
    for status in STATUSES:
        assert f"| `{status}` |" in PAGES["docs/guides/reading_answers.md"]
    for outcome in get_args(Outcome):
        assert f"`{outcome}`" in formats


def test_columns_of_the_journal_are_the_codes() -> None:
    lines = PAGES["docs/reference/file_formats.md"].splitlines()
    for statement in re.sub(r"--.*", "", TABLES).split("CREATE TABLE ")[1:]:
        table = statement.split()[0]
        row = next(line for line in lines if line.startswith(f"| `{table}` |"))
        columns = re.findall(r"(\w+) (?:TEXT|INTEGER|REAL)\b", statement.split(";")[0])
        assert columns
        if table != "replaced":
            assert [column for column in columns if not re.search(rf"\b{column}\b", row)] == []


def test_the_picture_of_the_layers_holds_every_part_of_the_package() -> None:
    drawn = {name for row in layers() for name in row}
    parts = {
        path.stem for path in (ROOT / "judge").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    assert parts - {"__init__", "__main__"} == drawn


def test_paths_named_in_pages_exist() -> None:
    named = {path for text in PAGES.values() for path in re.findall(r"`((?:judge|tests)/[\w./]+)`", text)}
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_a_blank_line_stands_before_every_heading() -> None:
    for name, text in PAGES.items():
        pairs = itertools.pairwise(re.sub(r"(?ms)^```.*?^```", "```", text).splitlines())
        assert [line for before, line in pairs if line.startswith("#") and before] == [], name


def test_the_template_in_the_guide_is_a_template(tmp_path: Path) -> None:
    from judge.base.records import Story
    from judge.inputs.criteria import load_criteria
    from judge.inputs.eval_prompts import load_eval_prompt

    guide = PAGES["docs/guides/criteria_and_prompts.md"]
    (template,) = [block.text for block in blocks(guide) if block.kind == "jinja"]
    (tmp_path / "mine.jinja").write_text(template)
    prompt = load_eval_prompt(tmp_path / "mine.jinja")
    (criterion,) = load_criteria("overall").criteria
    system, user = prompt.render(Story("s", "", "x", "A lamp."), criterion)
    assert system.content == "You are a careful reader."
    assert "5: " in user.content
    assert user.content.endswith("Rating:")


def test_the_stored_answers_in_the_reference_are_read(tmp_path: Path) -> None:
    section = PAGES["docs/reference/file_formats.md"].split("## Stored answers")[1].split("\n## ")[0]
    (lines,) = [block.text for block in blocks(section) if block.kind == "json"]
    (tmp_path / "answers.jsonl").write_text(lines)
    opened = recorded.open(str(tmp_path / "answers.jsonl"), Settings())
    assert asyncio.run(opened.probe())["answers"] == len(lines.splitlines())


def test_pins_hold_the_declared_packages() -> None:
    pinned = {re.split("==", line)[0].lower() for line in (ROOT / "constraints.txt").read_text().splitlines()}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    named = [*project["dependencies"], *extras["dev"], *extras["docs"], *extras["stats"], *extras["data"]]
    names = {re.split(r"[<>=\[]", name)[0].lower() for name in named} - {"storyjudge"}
    assert names <= pinned
