"""A dataset for notebooks: its stories and people's ratings as pandas frames."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from judge.datasets import Dataset


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
        """One row a person's rating: `story, system, criterion, rater, rating`; rater is null where unknown.

        Where ratings are labels, `rating` is the label's code, and a column `label` holds the word.
        """
        import pandas as pd

        rows = [(s.id, s.system, r.criterion, r.rater, r.value) for s in self.dataset.stories() for r in s.ratings]
        frame = pd.DataFrame(rows, columns=["story", "system", "criterion", "rater", "rating"])
        labels = self.dataset.labels
        if not labels:
            return frame
        scales = [labels.of(criterion) for criterion in frame["criterion"]]
        words = [scale and scale.label_of(code) for scale, code in zip(scales, frame["rating"], strict=True)]
        return frame.assign(label=pd.Series(words, dtype=object))

    def __repr__(self) -> str:
        return f"LoadedDataset({self.dataset.name!r})"


def load_dataset(name_or_path: str, *, columns: Mapping[str, Any] | None = None) -> LoadedDataset:
    """Open a dataset by name or path; `columns` is a column map for tables."""
    from judge.datasets import open_dataset

    return LoadedDataset(open_dataset(name_or_path, columns=columns))
