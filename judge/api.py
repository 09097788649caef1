"""What notebooks import: datasets and runs as pandas frames. Never prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from judge.datasets import Dataset
    from judge.ratings_table import RatingsTable


class LoadedDataset:
    """A dataset with its stories and people's ratings as frames."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset

    @cached_property
    def stories(self) -> pd.DataFrame:
        """One row a story: `story, story_prompt, system, text, reference`."""
        import pandas as pd

        columns = ["story", "story_prompt", "system", "text", "reference"]
        rows = [(s.id, s.story_prompt, s.system, s.text, s.reference) for s in self.dataset.stories()]
        return pd.DataFrame(rows, columns=columns)

    @cached_property
    def ratings(self) -> pd.DataFrame:
        """One row a person's rating: `story, system, criterion, rater, rating`; rater is null where unknown."""
        import pandas as pd

        rows = [(s.id, s.system, r.criterion, r.rater, r.value) for s in self.dataset.stories() for r in s.ratings]
        return pd.DataFrame(rows, columns=["story", "system", "criterion", "rater", "rating"])

    def __repr__(self) -> str:
        return f"LoadedDataset({self.dataset.name!r})"


class OpenedRun:
    """Results of one or more RUNs. Answers are parsed once, when first needed, by `parser`."""

    def __init__(self, runs: Sequence[Path | str], parser: str = "ours") -> None:
        from judge.run_folder import resolve

        self.folders = [folder.path for folder in resolve(runs)]
        self.parser = parser

    @cached_property
    def table(self) -> RatingsTable:
        """The ratings table with stories and facts, as the commands use it."""
        from judge.ratings_table import read

        return read(self.folders, self.parser)

    def ratings(self) -> pd.DataFrame:
        """The ratings table: one row for each repeat and each rater. `rating` is NaN where there is none."""
        return self.table.frame.copy()

    def coverage(self, by: Sequence[str] = ("judge", "criterion", "eval_prompt"), **options: Any) -> pd.DataFrame:
        """Asked, answered and rated repeats by any of judge, criterion, eval_prompt, system."""
        from judge.analysis.coverage import coverage

        return coverage(self.table, by, **options)

    def consistency(self, **options: Any) -> pd.DataFrame:
        """ICC family, exact agreement, flip rate over repeats. Options are `ConsistencyOptions`' fields."""
        from judge.analysis.consistency import consistency
        from judge.analysis.options import ConsistencyOptions

        return consistency(self.table, ConsistencyOptions(**options))

    def correlate(self, **options: Any) -> pd.DataFrame:
        """Correlations with people. Options are `CorrelationOptions`' fields, e.g. `level="system", ci="none"`."""
        from judge.analysis.correlation import correlate
        from judge.analysis.options import CorrelationOptions

        return correlate(self.table, CorrelationOptions(**options))

    def __repr__(self) -> str:
        return f"OpenedRun({', '.join(map(str, self.folders))})"


def load_dataset(name_or_path: str, *, columns: Mapping[str, Any] | None = None) -> LoadedDataset:
    """Open a dataset by name or path; `columns` is a column map for CSV, JSON Lines or Parquet tables."""
    from judge.datasets import open_dataset

    return LoadedDataset(open_dataset(name_or_path, columns=columns))


def open_run(*runs: Path | str, parser: str = "ours") -> OpenedRun:
    """Open results: run.yaml files, their folders, or result folders."""
    return OpenedRun(runs, parser)
