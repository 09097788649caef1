"""Summary printed at the end of `judge run`. If the summary cannot be computed, the run is still complete."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judge.cli.option_words import complaint

if TYPE_CHECKING:
    from judge.asking.run_folder import ResultFolder


def print_summary(run: Path, folders: Sequence[ResultFolder]) -> None:
    """Print the summary of a run's result folders in the form of `judge summary`. If there is an error, print it
    instead.
    """
    from judge.base.errors import JudgeError
    from judge.questions.summary import screen
    from judge.questions.summary.of_runs import of_runs

    try:
        summaries = of_runs([folder.path for folder in folders], named=[str(run)])
    except JudgeError as error:
        sys.stderr.write(f"no summary: {complaint(error)}\n")
        return
    sys.stdout.write(screen.printed(summaries))
