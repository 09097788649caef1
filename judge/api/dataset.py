"""A dataset for notebooks: its stories, human ratings and preferences as pandas frames."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from judge.inputs.datasets import Dataset


class LoadedDataset:
    """A dataset with its stories and human ratings as pandas frames."""

    def __init__(self, dataset: Dataset) -> None:
        self.dataset = dataset

    @cached_property
    def stories(self) -> pd.DataFrame:
        """One row for each story: `story, story_prompt, system, text, reference`.

        `reference` is a story that a person wrote for the same story-prompt; null if there is none.
        """
        import pandas as pd

        columns = ["story", "story_prompt", "system", "text", "reference"]
        rows = [(s.id, s.story_prompt, s.system, s.text, s.reference) for s in self.dataset.stories()]
        return pd.DataFrame(rows, columns=columns)

    @cached_property
    def ratings(self) -> pd.DataFrame:
        """One row for each human rating: `story, system, criterion, rater, rating`; `rater` is null if it is unknown.

        For a label scale, `rating` is the label's code, and a column `label` holds the label. If raters belong to
        panels, a column `panel` names the panel. If raters wrote comments, a column `comment` holds them.
        """
        import pandas as pd

        given = [(s, r) for s in self.dataset.stories() for r in s.ratings]
        rows = [(s.id, s.system, r.criterion, r.rater, r.value) for s, r in given]
        frame = pd.DataFrame(rows, columns=["story", "system", "criterion", "rater", "rating"])
        panels = [rating.panel for _, rating in given]
        if any(panels):
            frame.insert(4, "panel", pd.Series(panels, dtype=object))
        if any(r.comment is not None for _, r in given):
            frame = frame.assign(comment=pd.Series([r.comment for _, r in given], dtype=object))
        labels = self.dataset.labels
        if not labels:
            return frame
        scales = [labels.of(criterion) for criterion in frame["criterion"]]
        words = [scale and scale.label_of(code) for scale, code in zip(scales, frame["rating"], strict=True)]
        return frame.assign(label=pd.Series(words, dtype=object))

    @cached_property
    def preferences(self) -> pd.DataFrame:
        """One row for each preference of a rater: `pair, story_prompt, first, second, criterion, rater, preference`.

        A pair without any preference has one row, in which criterion and preference are null. The frame is empty for a
        dataset without pairs.
        """
        import pandas as pd

        pairs = () if self.dataset.pairs is None else self.dataset.pairs()
        rows = [
            (pair.id, pair.story_prompt, pair.first, pair.second)
            + ((None, None, None) if preference is None else (preference.criterion, preference.rater, preference.value))
            for pair in pairs
            for preference in pair.preferences or (None,)
        ]
        columns = ["pair", "story_prompt", "first", "second", "criterion", "rater", "preference"]
        return pd.DataFrame(rows, columns=columns)

    def __repr__(self) -> str:
        return f"LoadedDataset({self.dataset.name!r})"


def load_dataset(name_or_path: str, *, columns: Mapping[str, Any] | None = None) -> LoadedDataset:
    """Open a dataset by its name or path. If the path is a table (such as a CSV file), `columns` maps the names that
    the program expects to the table's columns.
    """
    from judge.inputs.datasets import open_dataset

    return LoadedDataset(open_dataset(name_or_path, columns=columns))
