"""Command `judge prompts`: lists, shows, renders and checks Eval-Prompts and criteria sets. The implementation is in
`judge.inputs.criteria` and `judge.inputs.eval_prompts`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from judge.base.errors import JudgeError, SpecError, nearest, unknown
from judge.cli.table_options import Form, complaint

if TYPE_CHECKING:
    from judge.asking.plan import Plan
    from judge.base.records import Criterion, Message, Story
    from judge.inputs.criteria import CriteriaSet
    from judge.inputs.datasets import Dataset
    from judge.inputs.eval_prompts import EvalPrompt

app = typer.Typer(no_args_is_help=False, add_completion=False, rich_markup_mode=None)

_Output = Annotated[Path | None, typer.Option("-o", "--output", help="file for the output, in place of the screen")]


@app.command("list")
def list_(form: Form = "table", output: _Output = None) -> None:
    """List of the shipped Eval-Prompts and criteria sets, what they are for and what they need.

    Example: judge prompts list
    """
    from judge.base.printing.tables import Column, Table
    from judge.cli.table_options import emit
    from judge.inputs.criteria import load_criteria, shipped_criteria
    from judge.inputs.eval_prompts import load_eval_prompt, shipped_eval_prompts

    prompts = [load_eval_prompt(name) for name in shipped_eval_prompts()]
    sets = [load_criteria(name) for name in shipped_criteria()]
    prompt_columns = [Column("name", "Eval-Prompt"), Column("description", "description")]
    prompt_columns += [Column("guidelines", "guidelines"), Column("reference", "reference"), Column("why", "explains")]
    prompt_rows = [
        {
            "name": p.name,
            "description": p.description,
            "guidelines": p.needs_guidelines,
            "reference": p.needs_reference,
            "why": p.asks_explanation,
        }
        for p in prompts
    ]
    set_columns = [Column("name", "criteria"), Column("description", "description"), Column("abbreviations", "asks")]
    set_columns.append(Column("guidelines", "guidelines"))
    set_rows = [
        {
            "name": s.name,
            "description": s.description,
            "abbreviations": " ".join(c.abbreviation for c in s.criteria),
            "guidelines": all(c.guidelines for c in s.criteria),
        }
        for s in sets
    ]
    own = ("a file of your own works wherever a name does: give its path",)
    tables = [
        Table("Eval-Prompts", prompt_columns, prompt_rows, f"eval_prompts:{len(prompts)}", own),
        Table("Criteria sets", set_columns, set_rows, f"criteria:{len(sets)}", own),
    ]
    emit(tables, form, output)


@app.command("show")
def show(
    name: Annotated[str, typer.Argument(metavar="NAME|PATH", help="name or path of an Eval-Prompt or criteria set")],
) -> None:
    """Print the file of an Eval-Prompt or a criteria set as it is: a start for one of your own.

    Example: judge prompts show ep3 > my_prompt.jinja
    """
    from judge.inputs.prompt_file import read_text

    sys.stdout.write(_as_read(read_text(_file(name))))


@app.command("render")
def render(
    eval_prompt: Annotated[str, typer.Option("--eval-prompt", metavar="NAME|PATH", help="Eval-Prompt by name or path")],
    criterion: Annotated[
        str | None,
        typer.Option(
            "--criterion",
            help="criterion by name or abbreviation; where one answer rates several: some, or default: all",
        ),
    ] = None,
    criteria: Annotated[
        str | None,
        typer.Option("--criteria", metavar="NAME|PATH", help="criteria set; default: the run's, else hanna"),
    ] = None,
    story_file: Annotated[
        Path | None, typer.Option("--story-file", exists=True, dir_okay=False, help="text file with the story")
    ] = None,
    story_prompt: Annotated[str, typer.Option("--story-prompt", help="story-prompt that the author was given")] = "",
    reference: Annotated[
        Path | None, typer.Option("--reference", exists=True, dir_okay=False, help="file with the reference story")
    ] = None,
    dataset: Annotated[
        str | None, typer.Option("--dataset", metavar="NAME|PATH|RUN", help="dataset, or run, that holds the story")
    ] = None,
    story: Annotated[str | None, typer.Option("--story", metavar="ID", help="id of a story of the dataset")] = None,
    wording: Annotated[
        Path | None, typer.Option("--wording", exists=True, dir_okay=False, help="JSON file of published wordings")
    ] = None,
    system: Annotated[str | None, typer.Option("--system", help="text of a system message")] = None,
    form: Annotated[Literal["text", "json"], typer.Option("--format", help="form of the messages")] = "text",
) -> None:
    """Print one query exactly as it would be sent: every message, character by character.

    As text, a line `=== role ===` comes before each message and one newline after it; JSON holds the messages alone.
    One newline at the end of a story's file is not part of the story.

    Example: judge prompts render --eval-prompt ep3 --criterion CH --set story_file=story.txt

    Example: judge prompts render --dataset runs/demo --story lighthouse-original --eval-prompt ep1 --criterion Empathy
    """
    plan, source = _run_or_dataset(dataset)
    chosen, template = _asked(plan, criteria, wording, eval_prompt, system)
    picked = chosen.pick(criterion)
    if template.criteria is None and len(picked) != 1:
        raise SpecError(f"one query asks for one criterion; --criterion names {len(picked)}")
    if source is not None and story is not None and story_file is None:
        text = _story_of(source, story)
    elif story_file is not None and dataset is None and story is None:
        text = _story_from(story_file, story_prompt, reference)
    else:
        raise SpecError("which story? Give --set story_file=FILE, or --dataset NAME with --story ID")
    messages = template.render(
        text,
        picked[0] if template.criteria is None else _together(template, chosen, criterion),
        published=chosen.published,
    )
    _print(messages, form)
    if flags := template.flags(text, published=chosen.published):
        typer.echo(f"flags: {', '.join(flags)}", err=True)


def _asked(
    plan: Plan | None, criteria: str | None, wording: Path | None, eval_prompt: str, system: str | None
) -> tuple[CriteriaSet, EvalPrompt]:
    """Those of the run, unless a set, its wording or a system message is named; else by name or path."""
    from judge.inputs.criteria import load_criteria
    from judge.inputs.eval_prompts import load_eval_prompt

    if plan is not None and criteria is None and wording is None:
        chosen = plan.criteria_set
    else:
        chosen = load_criteria(criteria or "hanna", wording=wording)
    labels = any(each.scale.labels for each in chosen.criteria)
    of_run = plan.eval_prompts if plan is not None and system is None else ()
    own = next((each for each in of_run if each.name == eval_prompt), None)
    return chosen, own or load_eval_prompt(eval_prompt, system=system, labels=labels)


def _together(template: EvalPrompt, chosen: CriteriaSet, criterion: str | None) -> tuple[Criterion, ...]:
    """Those named, else those of the Eval-Prompt, else all of the set."""
    own = None if template.criteria == "all" else template.criteria
    return chosen.pick(criterion if criterion is not None else own)


@app.command("check")
def check(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="[NAME|PATH]...", help="Eval-Prompts and criteria sets; default: all shipped ones"),
    ] = None,
    form: Form = "table",
    output: _Output = None,
) -> None:
    """Test Eval-Prompts and criteria sets on invented stories; exit code 4 if one fails.

    Without names, those that ship with the program are tested. A folder means the .jinja and .yaml files in it.

    Example: judge prompts check my_prompts/ ep3
    """
    from judge.base.printing.tables import Column, Table
    from judge.cli.table_options import emit

    files = [file for name in names for file in _files(name)] if names else _shipped()
    problems = [(file, problem) for file in files for problem in _problems(file)]
    if not problems and form == "table":
        typer.echo(f"{len(files)} files checked, all sound")
        return
    columns = [Column("file", "file"), Column("problem", "problem")]
    rows = [{"file": file.name, "problem": problem} for file, problem in problems]
    bad = len({file for file, _ in problems})
    emit(Table("Problems", columns, rows, f"checked:{len(files)}|failed:{bad}"), form, output)
    if problems:
        raise typer.Exit(4)


def _file(name: str) -> Path:
    """Raises SpecError for an unknown name."""
    from judge.inputs.criteria import shipped_criteria
    from judge.inputs.eval_prompts import shipped_eval_prompts
    from judge.inputs.prompt_file import locate

    if name in shipped_criteria() or name.endswith((".yaml", ".yml")):
        return locate(name, kind="criteria", suffix=".yaml", kind_name="criteria set")
    if name in shipped_eval_prompts() or name.endswith(".jinja"):
        return locate(name, kind="eval_prompts", suffix=".jinja", kind_name="Eval-Prompt")
    files = [*shipped_eval_prompts(), *shipped_criteria()]
    raise SpecError(
        unknown("Eval-Prompt or criteria set", name, files), hint="your own: give the path of its .jinja or .yaml file"
    )


def _files(name: str) -> list[Path]:
    folder = Path(name)
    if not folder.is_dir():
        return [_file(name)]
    files = sorted(f for f in folder.iterdir() if f.suffix in (".jinja", ".yaml", ".yml") and f.name != "run.yaml")
    if not files:
        raise SpecError(f"{folder}: there is no .jinja or .yaml file in it")
    return files


def _shipped() -> list[Path]:
    from judge.inputs.criteria import shipped_criteria
    from judge.inputs.eval_prompts import shipped_eval_prompts

    return [_file(name) for name in (*shipped_eval_prompts(), *shipped_criteria())]


def _problems(file: Path) -> list[str]:
    if file.suffix == ".jinja":
        from judge.answers.parsing.asked_form import pattern_problems
        from judge.inputs.eval_prompts.check import problems

        return problems(file) + pattern_problems(file)
    from judge.inputs.criteria import load_criteria

    try:
        load_criteria(file)
    except JudgeError as error:
        return [complaint(error)]
    return []


def _story_from(file: Path, story_prompt: str, reference: Path | None) -> Story:
    from judge.base.records import Story
    from judge.inputs.prompt_file import read_text

    other = None if reference is None else read_text(reference).removesuffix("\n")
    return Story(file.stem, story_prompt, "unknown", read_text(file).removesuffix("\n"), other)


def _run_or_dataset(named: str | None) -> tuple[Plan | None, Dataset | None]:
    if named is None:
        return None, None
    path = Path(named)
    if path.is_dir() or path.suffix in (".yaml", ".yml"):
        from judge.asking.execution.preparation import stories_of_run

        return stories_of_run(path)
    from judge.inputs.datasets import open_dataset

    return None, open_dataset(named)


def _story_of(dataset: Dataset, story: str) -> Story:
    ids = []
    for candidate in dataset.stories():
        if candidate.id == story:
            return candidate
        ids.append(candidate.id)
    close = nearest(story, ids)
    guess = f"; did you mean {close!r}?" if close else ""
    raise SpecError(f"{dataset.name}: there is no story {story!r} among its {len(ids)}{guess}")


def _print(messages: tuple[Message, ...], form: str) -> None:
    if form == "json":
        import json

        shown = [{"role": m.role, "content": m.content} for m in messages]
        sys.stdout.write(json.dumps(shown, ensure_ascii=False, indent=2) + "\n")
        return
    for message in messages:
        sys.stdout.write(_as_read(f"=== {message.role} ===\n{message.content}\n"))


def _as_read(text: str) -> str:
    """On a terminal, control characters are made visible."""
    from judge.base.printing.text_layout import visible

    return visible(text) if sys.stdout.isatty() else text
