"""Command `judge stress`: makes perturbed stories that test which changes a judge notices. The implementation is in
`judge.lab.stress`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from judge.base.errors import OptionError
from judge.cli.asking import command_of
from judge.cli.table_options import Form, Output, Quiet
from judge.questions.registry import question

if TYPE_CHECKING:
    from judge.lab.stress.session import Made

app = typer.Typer(no_args_is_help=True, add_completion=False, rich_markup_mode=None)
app.command("report")(command_of(question("stress")))

_Output = Annotated[
    Path, typer.Option("-o", "--output", help="file for the stories (.jsonl); facts go beside it, .facts.jsonl")
]
_Perturbation = Annotated[
    list[str] | None,
    typer.Option(
        "--perturbation",
        metavar="NAME",
        help="perturbation, or a set of them: openmeva, discrimination, invariance, attack, degenerate or all; may be "
        "given several times; default: openmeva",
    ),
]
_Strength = Annotated[
    str, typer.Option("--strength", metavar="N,...", help="strengths of perturbations that have several: 1, 2, 4")
]
_System = Annotated[
    list[str] | None,
    typer.Option("--system", help="system whose stories are used; may be given several times; default: all"),
]
_References = Annotated[
    bool, typer.Option("--references", help="reference stories in place of the systems' stories, as system Human")
]
_Tagger = Annotated[
    str | None, typer.Option("--tagger", metavar="MODEL", help="name of a spaCy model; default: en_core_web_sm")
]
_Top = Annotated[
    str | None, typer.Option("--top", help="highest point of the scale, as injected texts name it; default: 5")
]
_Rewriter = Annotated[
    str | None,
    typer.Option("--rewriter", metavar="JUDGE", help="model that paraphrases, named as a judge in run.yaml"),
]
_BaseUrl = Annotated[str | None, typer.Option("--base-url", help="address of the rewriter's server")]
_Encoder = Annotated[
    str | None,
    typer.Option(
        "--encoder", metavar="FOLDER", help="folder of a sentence encoder; paraphrases need a cosine similarity of 0.8"
    ),
]
_BackTranslations = Annotated[
    Path | None,
    typer.Option("--back-translations", metavar="FILE", help="file of paraphrases in OpenMEVA's format"),
]
_Grammar = Annotated[
    str | None,
    typer.Option(
        "--grammar",
        metavar="MODEL",
        help="folder of a sentence classifier; texts that it calls ungrammatical are left out",
    ),
]
_GrammarLabel = Annotated[
    int | None, typer.Option("--grammar-label", help="number of the classifier's label for grammatical; default: 1")
]
_Column = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="FIELD=COLUMN", help="column of a table that holds a field; may be given several times"
    ),
]


@app.callback()
def stress() -> None:
    """Stories changed on purpose: what a good judge rates lower, rates the same, and does not fall for."""


@app.command("list")
def list_(form: Form = "table", output: Output = None) -> None:
    """List of perturbations: what each does, what should follow, and whether it can be made here.

    Example: judge stress list
    """
    from judge.cli.table_options import emit
    from judge.lab.stress.making import perturbation_tables

    emit(perturbation_tables(), form, output)


_Dataset = Annotated[str, typer.Argument(metavar="DATASET", help="dataset of stories, by name or path")]
_Limit = Annotated[int | None, typer.Option("--limit", help="number of stories, from the first on; default: all")]
_Seed = Annotated[int, typer.Option("--seed", help="seed of random choices, combined with each story's id")]


@app.command("make")
def make(
    dataset: _Dataset,
    output: _Output,
    perturbation: _Perturbation = None,
    strength: _Strength = "1",
    system: _System = None,
    references: _References = False,
    limit: _Limit = None,
    seed: _Seed = 1,
    tagger: _Tagger = None,
    top: _Top = None,
    rewriter: _Rewriter = None,
    base_url: _BaseUrl = None,
    encoder: _Encoder = None,
    back_translations: _BackTranslations = None,
    grammar: _Grammar = None,
    grammar_label: _GrammarLabel = None,
    column: _Column = None,
    form: Form = "table",
    quiet: Quiet = False,
) -> None:
    """Write stories and their perturbed versions as a dataset for judge run.

    An unchanged story has the id ORIGIN@none and people's ratings; a perturbed one has the id
    ORIGIN@PERTURBATION.STRENGTH and the story-prompt and system of its origin. The file of facts lists every change.

    Example: judge stress make mans_roc -o stress.jsonl --references

    Example: judge stress make mine.jsonl -o same.jsonl --perturbation invariance --set rewriter=openai/MODEL

    Example: judge stress make mans_roc -o typos.jsonl --perturbation typos --strength 1,2,4 --system gpt
    """
    from judge.inputs.datasets import open_dataset
    from judge.inputs.datasets.files.column_guess import column_options
    from judge.lab.stress.making import MakeOptions, wanted
    from judge.lab.stress.session import make as make_stories

    if grammar_label is not None and grammar is None:
        raise OptionError("grammar_label", grammar_label, "has no effect without a model of grammar")
    names, skipped = _named(perturbation or ["openmeva"], reworded=bool(rewriter or back_translations))
    options = MakeOptions(
        wanted=wanted(names, _strengths(strength)),
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
    made_stories = make_stories(opened, options, output, None if quiet else _progress)
    _say(made_stories, skipped, form)


def _named(perturbation: list[str], *, reworded: bool) -> tuple[list[str], dict[str, str]]:
    """Only perturbations of a set are skipped; those that are named never are."""
    from judge.inputs.perturbations.perturbation import CATALOGUE
    from judge.lab.stress.making import SETS, lacking, of_set

    names = [name for name in perturbation if name not in SETS]
    skipped = {}
    for name in dict.fromkeys(member for given in perturbation if given in SETS for member in of_set(given)):
        missing = lacking(CATALOGUE[name], reworded=reworded)
        if missing is None:
            names.append(name)
        else:
            skipped[name] = missing
    return names, skipped


def _strengths(text: str) -> list[int]:
    """From `1,2,4`; OptionError for other texts."""
    try:
        return [int(part) for part in text.split(",")]
    except ValueError as error:
        raise OptionError("strength", text, "is no list of whole numbers such as 1,2,4") from error


def _say(made_stories: Made, skipped: dict[str, str], form: str) -> None:
    from judge.cli.table_options import emit
    from judge.lab.stress.making import coverage_tables, notes, signature

    emit(
        coverage_tables(made_stories.coverage, signature(made_stories.made_of), notes(made_stories.made_of, skipped)),
        form,
    )
    typer.echo(
        f"{made_stories.stories}: to be judged like any dataset; {made_stories.facts}: what was changed where", err=True
    )


def _progress(done: int) -> None:
    if done % 100 == 0:
        typer.echo(f"{done} stories", err=True)
