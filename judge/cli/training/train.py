"""`judge train`: an evaluator of one's own out of people's preferences and ratings. The work is in `training`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judge.cli.table_options import Form, Quiet

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def train(
    data: Annotated[list[str], typer.Argument(metavar="PAIRS|DATASET...", help="datasets by name or path")],
    output: Annotated[Path, typer.Option("-o", "--output", help="folder to write, such as models/NAME")],
    criterion: Annotated[
        list[str] | None, typer.Option("--criterion", help="only this criterion; may be given several times")
    ] = None,
    embed: Annotated[
        str | None,
        typer.Option("--embed", metavar="MODEL", help="also embeddings by this sentence-transformers model"),
    ] = None,
    encoder: Annotated[
        str | None,
        typer.Option("--encoder", metavar="MODEL", help="train a cross-encoder on from this model (extra train)"),
    ] = None,
    epochs: Annotated[int | None, typer.Option("--epochs", help="of an encoder, at most [default: 4]")] = None,
    batch_size: Annotated[
        int | None, typer.Option("--batch-size", help="of an encoder: stories or lists a step [default: 8]")
    ] = None,
    learning_rate: Annotated[
        float | None, typer.Option("--learning-rate", help="of an encoder [default: 2e-5]")
    ] = None,
    max_length: Annotated[
        int | None, typer.Option("--max-length", help="tokens that an encoder reads [default: all that it can]")
    ] = None,
    criteria: Annotated[
        str | None,
        typer.Option("--criteria", metavar="SET", help="criteria set whose definitions an encoder reads"),
    ] = None,
    negatives: Annotated[
        Path | None,
        typer.Option("--negatives", metavar="FILE", help="stories of judge stress make: the perturbed one loses"),
    ] = None,
    column: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="FIELD=COLUMN", help="for tables: which column holds what; several times"),
    ] = None,
    folds: Annotated[int, typer.Option("--folds", help="folds of story-prompts for the check")] = 5,
    foldings: Annotated[
        int | None, typer.Option("--foldings", help="how often folds are dealt [default: 5; of an encoder 1]")
    ] = None,
    resamples: Annotated[int, typer.Option("--resamples", min=1, help="resamples for intervals")] = 1000,
    seed: Annotated[int, typer.Option("--seed", help="of folds and resamples")] = 1,
    form: Form = "table",
    quiet: Quiet = False,
) -> None:
    """Train an evaluator on pairs or ratings, and print how it does on stories that it has not seen.

    It weighs surface features, and embeddings where a model is named. Accuracy is out of fold by story-prompt,
    by difference of length, beside longer-wins and the control. Judge with it: judge: trained/FOLDER in run.yaml.

    Example: judge train storyer_pairs -o models/pairs

    Example: judge train mans_roc -o models/roc --embed all-MiniLM-L6-v2

    With an encoder it reads the texts, wants a GPU for real models, and goes on where it was stopped when called again.

    Example: judge train storyer_pairs -o models/bert --encoder answerdotai/ModernBERT-base
    """
    from judge.cli.option_words import emit
    from judge.cli.stories.data import column_options
    from judge.datasets import open_dataset
    from judge.training.options import TrainOptions, encoder_options
    from judge.training.printed import tables
    from judge.training.telling import Telling
    from judge.training.train import train as make

    options = TrainOptions(
        criteria=tuple(criterion or ()),
        embed=embed,
        encoder=encoder_options(
            encoder,
            epochs=epochs,
            batch_size=batch_size,
            learning_rate=learning_rate,
            max_length=max_length,
            criteria=criteria,
        ),
        negatives=negatives,
        folds=folds,
        foldings=foldings if foldings is not None else 5 if encoder is None else 1,
        seed=seed,
        resamples=resamples,
    )
    columns = column_options(column)
    opened = [open_dataset(name, columns=columns) for name in data]
    other = None if negatives is None else open_dataset(str(negatives))
    telling = Telling(lambda line: None if quiet else typer.echo(line, err=True), quiet=quiet)
    made = make(opened, output, options, other, telling)
    emit(tables(made), form)
    typer.echo(f"{made.folder}: judge with it by `judge: trained/{made.folder}` in run.yaml", err=True)
