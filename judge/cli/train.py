"""Command `judge train`: trains an evaluator on human preferences and ratings. The implementation is in
`judge.lab.training`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from judge.base.choices import RESAMPLES
from judge.cli.table_options import Form, Quiet

_Data = Annotated[list[str], typer.Argument(metavar="PAIRS|DATASET...", help="datasets by name or path")]
_Output = Annotated[Path, typer.Option("-o", "--output", help="folder to write, such as models/NAME")]
_Criterion = Annotated[
    list[str] | None, typer.Option("--criterion", help="only this criterion; may be given several times")
]
_Embed = Annotated[
    str | None,
    typer.Option("--embed", metavar="MODEL", help="sentence-transformers model whose embeddings are weighed too"),
]
_Encoder = Annotated[
    str | None,
    typer.Option(
        "--encoder", metavar="MODEL", help="model from which a cross-encoder is trained further (extra train)"
    ),
]
_Epochs = Annotated[int | None, typer.Option("--epochs", help="largest number of epochs of an encoder [default: 4]")]
_BatchSize = Annotated[
    int | None,
    typer.Option("--batch-size", help="stories, or lists of stories, in a training step of an encoder [default: 8]"),
]
_LearningRate = Annotated[
    float | None, typer.Option("--learning-rate", help="learning rate of an encoder [default: 2e-5]")
]
_MaxLength = Annotated[
    int | None,
    typer.Option("--max-length", help="largest number of tokens that an encoder reads [default: its own limit]"),
]
_Criteria = Annotated[
    str | None,
    typer.Option("--criteria", metavar="SET", help="criteria set whose definitions an encoder reads"),
]
_Negatives = Annotated[
    Path | None,
    typer.Option(
        "--negatives", metavar="FILE", help="file of judge stress make: each perturbed story loses to its origin"
    ),
]
_Column = Annotated[
    list[str] | None,
    typer.Option(
        "--column", metavar="FIELD=COLUMN", help="for tables: column that holds a field; may be given several times"
    ),
]
_Folds = Annotated[int, typer.Option("--folds", help="number of folds of story-prompts for the check")]
_Foldings = Annotated[
    int | None, typer.Option("--foldings", help="number of times that folds are dealt [default: 5; for an encoder 1]")
]
_Resamples = Annotated[int, typer.Option("--resamples", min=1, help="number of resamples for intervals")]


def train(
    data: _Data,
    output: _Output,
    criterion: _Criterion = None,
    embed: _Embed = None,
    encoder: _Encoder = None,
    epochs: _Epochs = None,
    batch_size: _BatchSize = None,
    learning_rate: _LearningRate = None,
    max_length: _MaxLength = None,
    criteria: _Criteria = None,
    negatives: _Negatives = None,
    column: _Column = None,
    folds: _Folds = 5,
    foldings: _Foldings = None,
    resamples: _Resamples = RESAMPLES,
    seed: Annotated[int, typer.Option("--seed", help="seed of folds and resamples")] = 1,
    form: Form = "table",
    quiet: Quiet = False,
) -> None:
    """Train an evaluator on pairs or ratings, and print how it does on stories that it has not seen.

    It weighs surface features, and embeddings where a model is named. Accuracy is out of fold by story-prompt,
    by difference of length, beside longer-wins and the control. An encoder reads the texts, wants a GPU for real
    models, and continues after a stop. Judge with the result: judge: trained/FOLDER in run.yaml.

    Example: judge train storyer_pairs -o models/pairs

    Example: judge train mans_roc -o models/roc --embed all-MiniLM-L6-v2

    Example: judge train storyer_pairs -o models/bert --encoder answerdotai/ModernBERT-base
    """
    from judge.cli.table_options import emit
    from judge.inputs.datasets import open_dataset
    from judge.inputs.datasets.files.column_guess import column_options
    from judge.lab.training.evaluation import training_tables
    from judge.lab.training.options import Telling, TrainOptions, encoder_options
    from judge.lab.training.train import train as make

    sizes = {"epochs": epochs, "batch_size": batch_size, "learning_rate": learning_rate, "max_length": max_length}
    options = TrainOptions(
        criteria=tuple(criterion or ()),
        embed=embed,
        encoder=encoder_options(encoder, **sizes, criteria=criteria),
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
    trained = make(opened, output, options, other, telling)
    emit(training_tables(trained), form)
    typer.echo(f"{trained.folder}: judge with it by `judge: trained/{trained.folder}` in run.yaml", err=True)
