"""Reader of explanations from the sources named on the command line: runs, a user's table, or a study's own file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from judge.base.errors import SpecError
from judge.base.wording import Advice
from judge.explanations.corpus.corpus import ExplanationTexts
from judge.explanations.corpus.from_file import read_file
from judge.explanations.corpus.from_runs import read_runs
from judge.explanations.corpus.from_studies import NAMES
from judge.explanations.corpus.from_ttcw import NAME
from judge.inputs.datasets.files.table_file import SUFFIXES


def read_texts(
    runs_or_file: str | Path | Sequence[str | Path],
    *,
    parser: str = "ours",
    columns: Mapping[str, str] | None = None,
) -> ExplanationTexts:
    """Explanations from runs, from one table, or from a study's file given by the study's name.

    `columns` maps a field to the table's column that holds it (fields: `explanations.corpus.from_file.FIELDS`). Raises
    RunFolderError, DataError or SpecError with a message that says what is wrong.
    """
    given = [runs_or_file] if isinstance(runs_or_file, str | Path) else list(runs_or_file)
    if not given:
        raise SpecError("nothing to read: name a RUN or a FILE")
    files = [path for path in given if is_file(path)]
    if not files:
        if columns:
            raise SpecError(Advice("{columns} is for a file of explanations; runs need none"))
        return read_runs(given, parser)
    if len(given) > 1:
        raise SpecError(f"{files[0]} is a file of explanations: give one file alone, or RUNs alone")
    return read_file(files[0], parser, columns)


def is_file(named: str | Path) -> bool:
    """Whether an argument of the command line names a file of explanations (by its path or a study's name) and not a
    run.
    """
    return str(named) in (*NAMES, NAME) or Path(named).suffix.lower() in SUFFIXES
