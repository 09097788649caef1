"""Input of an analysis: result folders, the parser of their answers, and the selections applied."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from judge.base.errors import SpecError, nearest

if TYPE_CHECKING:
    from judge.analysis.inputs.control import RememberedControl
    from judge.analysis.options.selection import Selection
    from judge.inputs.datasets import Dataset
    from judge.ratings.preferences_table import PreferencesTable
    from judge.ratings.ratings_table import RatingsTable
    from judge.ratings.ratings_table.columns import Explanations
    from judge.ratings.ratings_table.judgments import Telling


class Source:
    """RUNs or result folders, the parser of their answers, and the selections (`kept`) of ratings; tables are read
    once. `telling` is told how far the reading is. `named` are the runs as commands name them; None: by their folders.
    """

    def __init__(
        self,
        folders: Sequence[Path | str],
        parser: str,
        kept: tuple[Selection, ...] = (),
        *,
        explanations: Explanations = True,
        telling: Telling | None = None,
        named: Sequence[str] | None = None,
    ) -> None:
        self.folders = list(folders)
        self.named = list(named) if named is not None else [str(folder) for folder in folders]
        self.parser = parser
        self.kept = kept
        self.explanations, self.telling = explanations, telling
        # Whether these runs compare stories beside others, of the same command, that rate them.
        self.beside_ratings = False

    @cached_property
    def dataset(self) -> Dataset | None:
        """The dataset that stands for its people in place of runs, where a single name or file of one is given."""
        from judge.inputs.datasets import known_datasets, open_dataset

        single = str(self.folders[0]) if len(self.folders) == 1 else None
        return open_dataset(single) if single and _is_dataset(single, known_datasets()) else None

    @cached_property
    def table(self) -> RatingsTable:
        """Ratings without perturbed stories."""
        return self._narrowed(self.whole)

    @cached_property
    def whole(self) -> RatingsTable:
        """These ratings before any selection."""
        return self._read(self.parser, perturbed=False)

    def kinds(self) -> list[Source]:
        """The source by what its runs do: one of those that rate stories, one of those that compare them."""
        from judge.asking.run_folder.layout import comparing

        if self.dataset is not None:
            return [self]
        compare, rate = comparing(self.folders)
        if not (compare and rate):
            return [self]
        rated, compared = self._of(rate, self.kept), self._of(compare, tuple(map(of_comparisons, self.kept)))
        compared.beside_ratings = True
        return [rated, compared]

    @property
    def judged(self) -> Source:
        """This source of runs. Raises SpecError where a dataset stands for its people."""
        if self.dataset is None:
            return self
        raise SpecError(
            f"{self.named[0]} is a dataset, and no judge was asked", hint="name a run that judges its stories"
        )

    @cached_property
    def compares(self) -> bool:
        """Whether every run compares stories, so that there is no rating to ask about."""
        from judge.asking.run_folder.layout import comparing

        return self.dataset is None and not comparing(self.folders)[1]

    @cached_property
    def preferences(self) -> PreferencesTable:
        """Preferences between two stories, of runs or of a dataset's people; restricted as the ratings are."""
        from judge.analysis.preference.sides import of_names, read

        table = read(self.folders)
        for keep in self.kept:
            table = of_names(table, keep.criteria, keep.judges, keep.eval_prompts)
        return table

    @cached_property
    def control(self) -> RememberedControl:
        """The control judge, which predicts each criterion once for all questions about this source."""
        from judge.analysis.inputs.control import RememberedControl

        return RememberedControl()

    def read(self, parser: str, *, perturbed: bool = False) -> RatingsTable:
        """Ratings read again with the given parser; `perturbed` includes perturbed stories."""
        return self._narrowed(self._read(parser, perturbed=perturbed))

    def _read(self, parser: str, *, perturbed: bool) -> RatingsTable:
        from judge.analysis.inputs.rating_sources import ratings_of
        from judge.ratings.ratings_table import read
        from judge.ratings.ratings_table.judgments import silent

        if self.dataset:
            return ratings_of(self.dataset)
        telling = self.telling or silent
        return read(self.folders, parser, explanations=self.explanations, telling=telling, perturbed=perturbed)

    def _narrowed(self, table: RatingsTable) -> RatingsTable:
        from judge.analysis.inputs.selection import narrowed

        for keep in self.kept:
            table = narrowed(table, keep)
        return table

    def of_run(self, place: int) -> Source:
        """The source of one of these runs."""
        return self._of([self.folders[place]], self.kept)

    def _of(self, folders: Sequence[Path | str], kept: tuple[Selection, ...]) -> Source:
        return Source(
            folders, self.parser, kept, explanations=self.explanations, telling=self.telling, named=self.named
        )

    def only(self, keep: Selection) -> Source:
        """The source with one more selection, by filtering its table; the result folders are not read again."""
        from judge.analysis.inputs.selection import narrowed

        part = self._of(self.folders, (*self.kept, keep))
        part.table, part.control = narrowed(self.table, keep), self.control
        return part


def of_comparisons(keep: Selection) -> Selection:
    """The selection without what is about ratings alone."""
    return replace(keep, panel=None, pass_rate=False)


def _is_dataset(name: str, names: Sequence[str]) -> bool:
    """A folder is a run; a file is a dataset unless it is YAML; another word if it is a known name."""
    path = Path(name)
    if path.is_dir():
        return False
    if path.is_file():
        return path.suffix.lower() not in (".yaml", ".yml")
    if name in names or path.name != name or path.suffix or path.exists():
        return name in names
    close = nearest(name, names)
    meant = f"; did you mean {close!r}?" if close else ""
    raise SpecError(
        f"{name} is neither a run nor a dataset{meant}", hint="RUN is a run.yaml, its folder, or one result folder"
    )
