"""`judge stress`: stories changed on purpose, to see what a judge notices. The work is in `stress`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.cli.stress.report import report
from judge.cli.table_options import Form, Output, Quiet
from judge.errors import OptionError

if TYPE_CHECKING:
    from judge.stress.options import MakeOptions

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)
app.command("report")(report)


@app.callback()
def stress() -> None:
    """Stories changed on purpose: what a good judge rates lower, rates the same, and does not fall for."""


@app.command("list")
def list_(form: Form = "table", output: Output = None) -> None:
    """Every perturbation: what it does, what ought to follow, and whether it can be made here.

    Example: judge stress list
    """
    from judge.cli.option_words import emit
    from judge.stress.listing import tables

    emit(tables(), form, output)


@app.command("make")
def make(
    dataset: Annotated[str, typer.Argument(metavar="DATASET", help="stories by name or path")],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="file for the stories (.jsonl); facts go beside it, .facts.jsonl")
    ],
    perturbation: Annotated[
        list[str] | None, typer.Option("--perturbation", metavar="NAME", help="this one; may be given several times")
    ] = None,
    perturbation_set: Annotated[
        str | None,
        typer.Option(
            "--set",
            help="openmeva, discrimination, invariance, attack, degenerate or all; default openmeva, or what "
            "--perturbation names",
        ),
    ] = None,
    strength: Annotated[
        str, typer.Option("--strength", metavar="N,...", help="how strong, where there is more and less: 1, 2, 4")
    ] = "1",
    system: Annotated[
        list[str] | None, typer.Option("--system", help="only this system's stories; may be given several times")
    ] = None,
    references: Annotated[
        bool, typer.Option("--references", help="change the reference stories instead, as system Human")
    ] = False,
    limit: Annotated[int | None, typer.Option("--limit", help="number of stories, the first ones; default all")] = None,
    seed: Annotated[int, typer.Option("--seed", help="seed of what is chosen, together with each story's id")] = 1,
    tagger: Annotated[
        str | None, typer.Option("--tagger", metavar="MODEL", help="a model of spaCy's; default en_core_web_sm")
    ] = None,
    top: Annotated[
        str | None, typer.Option("--top", help="the scale's highest point, as injections write it; default 5")
    ] = None,
    rewriter: Annotated[
        str | None,
        typer.Option("--rewriter", metavar="JUDGE", help="model that paraphrases, as run.yaml names judges"),
    ] = None,
    base_url: Annotated[str | None, typer.Option("--base-url", help="where the rewriter is served")] = None,
    encoder: Annotated[
        str | None,
        typer.Option("--encoder", metavar="FOLDER", help="sentence encoder: paraphrases need a cosine of .8"),
    ] = None,
    back_translations: Annotated[
        Path | None,
        typer.Option("--back-translations", metavar="FILE", help="paraphrases from a file of OpenMEVA's form"),
    ] = None,
    grammar: Annotated[
        str | None,
        typer.Option(
            "--grammar", metavar="MODEL", help="folder of a sentence classifier; leave out what it calls ungrammatical"
        ),
    ] = None,
    grammar_label: Annotated[
        int | None, typer.Option("--grammar-label", help="the number of its label for grammatical; default 1")
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="FIELD=COLUMN", help="for tables: which column holds what; several times"),
    ] = None,
    form: Form = "table",
    quiet: Quiet = False,
) -> None:
    """Write stories and their perturbed versions as a dataset for judge run.

    An untouched story is ORIGIN@none, with people's ratings; a perturbed one ORIGIN@PERTURBATION.STRENGTH, with the
    origin's story-prompt and system. What is changed where stands in the file of facts.

    Example: judge stress make mans_roc -o stress.jsonl --references

    Example: judge stress make mine.jsonl -o same.jsonl --set invariance --rewriter openai/MODEL

    Example: judge stress make mans_roc -o typos.jsonl --perturbation typos --strength 1,2,4 --system gpt
    """
    from judge.cli.option_words import emit
    from judge.cli.stories.data import column_options
    from judge.datasets import open_dataset
    from judge.perturbations.catalogue import CATALOGUE
    from judge.stress import options as stress_options
    from judge.stress.availability import lacking
    from judge.stress.coverage import tables
    from judge.stress.session import make as make_stories
    from judge.stress.signature import notes, signature

    if grammar_label is not None and grammar is None:
        raise OptionError("grammar_label", grammar_label, "has no effect without a model of grammar")
    names, skipped = list(perturbation or []), {}
    if perturbation_set or not names:
        for name in stress_options.of_set(perturbation_set or "openmeva"):
            missing = lacking(CATALOGUE[name], reworded=bool(rewriter or back_translations))
            if missing is None:
                names.append(name)
            else:
                skipped[name] = missing
    options: MakeOptions = stress_options.MakeOptions(
        wanted=stress_options.wanted(names, _strengths(strength)),
        systems=tuple(system or ()),
        references=references,
        limit=limit,
        seed=seed,
        tagger=tagger,
        top=top or "5",
        rewriter=rewriter,
        base_url=(base_url,) if base_url else (),
        encoder=encoder,
        back_translations=back_translations,
        grammar=grammar,
        grammar_label=1 if grammar_label is None else grammar_label,
    )
    opened = open_dataset(dataset, columns=column_options(column))
    made = make_stories(opened, options, output, None if quiet else _progress)
    emit(tables(made.coverage, signature(made.made_of), notes(made.made_of, skipped)), form)
    typer.echo(f"{made.stories}: to be judged like any dataset; {made.facts}: what was changed where", err=True)


def _strengths(said: str) -> list[int]:
    """`1,2,4` as numbers."""
    try:
        return [int(part) for part in said.split(",")]
    except ValueError as error:
        raise OptionError("strength", said, "is no list of whole numbers such as 1,2,4") from error


def _progress(done: int) -> None:
    """A line for each hundred stories, on stderr."""
    if done % 100 == 0:
        typer.echo(f"{done} stories", err=True)
