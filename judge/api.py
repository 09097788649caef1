"""What notebooks import: datasets and runs as pandas frames. Never prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from judge.analysis.correlation import CorrelationRow, Correlations
    from judge.analysis.inputs.selection import Selection
    from judge.audit.results.frames import OpenedAudit
    from judge.datasets import Dataset
    from judge.explanations.mapping.explanation_map import ExplanationMap
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


class ShownCorrelations:
    """Correlations with people; a notebook shows them as the printed table, with signature and notes.

    `result` is the value that tables, figures and the report are made from.
    """

    def __init__(self, result: Correlations) -> None:
        self.result = result

    @property
    def rows(self) -> tuple[CorrelationRow, ...]:
        """One typed row a correlation."""
        return self.result.rows

    @property
    def frame(self) -> pd.DataFrame:
        """The same as `OpenedRun.correlate` gives."""
        return self.result.frame

    @property
    def notes(self) -> tuple[str, ...]:
        """What is to be said of the numbers."""
        return self.result.notes

    @property
    def signature(self) -> str:
        """Each choice that can move a number."""
        return self.result.signature

    def _repr_html_(self) -> str:
        from judge.analysis.correlation import tables
        from judge.pages.html_table import html_table

        return "".join(html_table(table, copies=False) for table in tables(self.result))

    def __repr__(self) -> str:
        return f"ShownCorrelations({len(self.rows)} rows, {self.signature})"


class OpenedRun:
    """Results of one or more RUNs. Answers are parsed once, when first needed, by `parser`.

    Wherever an option takes several names, a string is one name.
    """

    def __init__(self, runs: Path | str | Sequence[Path | str], parser: str = "ours") -> None:
        from judge.run_folder import resolve

        self.folders = [folder.path for folder in resolve([runs] if isinstance(runs, str | Path) else runs)]
        self.parser = parser
        self._kept: tuple[Selection, ...] = ()

    @cached_property
    def table(self) -> RatingsTable:
        """The ratings table with stories and facts, as the commands use it."""
        return self._read(self.parser)

    def _read(self, parser: str) -> RatingsTable:
        from judge.analysis.inputs.selection import narrowed
        from judge.ratings_table import read

        table = read(self.folders, parser)
        for keep in self._kept:
            table = narrowed(table, keep)
        return table

    def ratings(self) -> pd.DataFrame:
        """The ratings table: one row for each repeat and each rater. `rating` is NaN where there is none."""
        return self.table.frame.copy()

    def coverage(
        self, by: str | Sequence[str] = ("judge", "criterion", "eval_prompt"), *, drop_systems: str | Sequence[str] = ()
    ) -> pd.DataFrame:
        """Asked, answered and rated repeats by any of judge, criterion, eval_prompt, system."""
        from judge.analysis.coverage.coverage import coverage
        from judge.analysis.options.table_options import names

        return coverage(self.table, names(by), drop_systems=names(drop_systems))

    def consistency(self, **options: Any) -> pd.DataFrame:
        """ICC family, exact agreement, flip rate over repeats. Options are `ConsistencyOptions`' fields."""
        from judge.analysis.options.table_options import ConsistencyOptions, from_words
        from judge.analysis.reliability.consistency import consistency

        return consistency(self.table, from_words(ConsistencyOptions, **options))

    def components(self, **options: Any) -> pd.DataFrame:
        """What ratings vary over: variance components. Options are `ComponentsOptions`' fields."""
        from judge.analysis.options.table_options import ComponentsOptions, from_words
        from judge.analysis.reliability.variance_components import components

        return components(self.table, from_words(ComponentsOptions, **options))

    def d_study(self, **options: Any) -> pd.DataFrame:
        """How many repeats, Eval-Prompts, judges... a `target` takes. Options are `ComponentsOptions`' fields."""
        from judge.analysis.options.table_options import ComponentsOptions, from_words
        from judge.analysis.reliability.variance_components import plans

        return plans(self.table, from_words(ComponentsOptions, **options))

    def correlate(self, **options: Any) -> pd.DataFrame:
        """Correlations with people. Options are `CorrelationOptions`' fields, e.g. `level="system", ci="none"`.

        The frame's `attrs` hold `signature` and `notes`.
        """
        return self.correlations(**options).frame

    def correlations(self, **options: Any) -> ShownCorrelations:
        """The same with typed rows, `frame`, `notes` and `signature`, shown in a notebook as the printed table."""
        from judge.analysis.correlation import correlations
        from judge.analysis.options.table_options import CorrelationOptions, from_words

        return ShownCorrelations(correlations(self.table, from_words(CorrelationOptions, **options)))

    def only(
        self,
        *,
        criterion: str | Sequence[str] = (),
        judge: str | Sequence[str] = (),
        eval_prompt: str | Sequence[str] = (),
    ) -> OpenedRun:
        """The same results narrowed to some criteria, judges and Eval-Prompts, e.g. `run.only(eval_prompt="ep1")`."""
        from judge.analysis.inputs.selection import Selection, narrowed

        keep = Selection.of(criterion, judge, eval_prompt)
        part = OpenedRun(self.folders, self.parser)
        part._kept = (*self._kept, keep)
        part.table = narrowed(self.table, keep)
        return part

    def systems(self, **options: Any) -> pd.DataFrame:
        """Means, ranks and groups of systems by people and judges. Options are `SystemsOptions`' fields."""
        from judge.analysis.options.table_options import SystemsOptions, from_words
        from judge.analysis.systems.systems import systems

        return systems(self.table, from_words(SystemsOptions, **options))

    def system_differences(self, **options: Any) -> pd.DataFrame:
        """All pairs of systems on the same story-prompts, p adjusted. Options are `SystemsOptions`' fields."""
        from judge.analysis.options.table_options import SystemsOptions, from_words
        from judge.analysis.systems.systems import differences

        return differences(self.table, from_words(SystemsOptions, **options))

    def system_separation(self, *, drop_systems: str | Sequence[str] = ()) -> pd.DataFrame:
        """Which pairs of systems judges tell apart as people do, see alone or miss."""
        from judge.analysis.options.table_options import names
        from judge.analysis.systems.separation import separation

        return separation(self.table, drop_systems=names(drop_systems))

    def criteria(self, view: str = "halo", **options: Any) -> pd.DataFrame:
        """One of the views "halo", "pairs", "multitrait" and "scale-use". Options are `CriteriaOptions`' fields."""
        from judge.analysis.criteria.criteria import criteria
        from judge.analysis.options.table_options import CriteriaOptions, from_words

        return criteria(self.table, from_words(CriteriaOptions, **options), view=view)

    def disagreements(self, **options: Any) -> pd.DataFrame:
        """Stories on which ratings differ most, with texts. Options are `DisagreementsOptions`' fields."""
        from judge.analysis.disagreements.disagreements import disagreements
        from judge.analysis.options.table_options import DisagreementsOptions, from_words

        return disagreements(self.table, from_words(DisagreementsOptions, **options))

    def explain(self, **options: Any) -> ExplanationMap:
        """Explanations embedded, mapped and clustered: `.rows` has `cluster, x, y`. `ExplainOptions`' fields.

        `judge.explanations.tables.tables` makes the tables of `judge explain` from what this gives.
        """
        from judge.analysis.options.table_options import from_words
        from judge.explanations.corpus.from_runs import of_table
        from judge.explanations.mapping.explanation_map import map_explanations
        from judge.explanations.mapping.options import ExplainOptions

        return map_explanations(of_table(self.table), from_words(ExplainOptions, **options))

    def jury(self, **options: Any) -> pd.DataFrame:
        """A panel's ratings as one, out of fold, beside its best member, mean and control; `JuryOptions`' fields."""
        from judge.analysis.jury.jury import jury
        from judge.analysis.options.table_options import JuryOptions, from_words

        return jury(self.table, from_words(JuryOptions, **options))

    def compare(self, by: str = "eval_prompt", **options: Any) -> pd.DataFrame:
        """Paired contrasts on the same stories, `by` eval_prompt, judge, structured, parser or run.

        Options are `CompareOptions`' fields, e.g. `baseline="ep1", drop_systems=("Human",)`; the rows with criterion
        "mean over criteria" carry the contrast's sentence.
        """
        from judge.analysis.comparison.comparison import both_parsers, compare
        from judge.analysis.options.table_options import CompareOptions, from_words

        chosen = from_words(CompareOptions, by=by, **options)
        if chosen.by == "parser":
            ours = self.table if self.parser == "ours" else self._read("ours")
            return compare(both_parsers(ours, self._read("as-published")), chosen)
        return compare(self.table, chosen)

    def report(self, output: Path | str, *, methods: bool = False, **options: Any) -> list[Path]:
        """Write `judge report`'s page, with `methods` the three files beside it; the paths written.

        Options are `ReportOptions`' fields, e.g. `drop_systems=("Human",), resamples=200`.
        """
        from judge.analysis.options.table_options import from_words
        from judge.report import ReportInputs, ReportOptions
        from judge.report.write import write_methods, write_page

        said = {"parser": self.parser, "command": f"open_run(...).report({str(output)!r})"} | options
        inputs = ReportInputs.read(self.folders, from_words(ReportOptions, **said))
        write_page(inputs, Path(output), quiet=True)
        return [Path(output), *(write_methods(inputs, Path(output)) if methods else [])]

    def __repr__(self) -> str:
        return f"OpenedRun({', '.join(map(str, self.folders))})"


def load_dataset(name_or_path: str, *, columns: Mapping[str, Any] | None = None) -> LoadedDataset:
    """Open a dataset by name or path; `columns` is a column map for tables."""
    from judge.datasets import open_dataset

    return LoadedDataset(open_dataset(name_or_path, columns=columns))


def open_run(*runs: Path | str, parser: str = "ours") -> OpenedRun:
    """Open results: run.yaml files, their folders, or result folders."""
    return OpenedRun(runs, parser)


def open_audit(path: Path | str) -> OpenedAudit:
    """Open an audit of explanations (`judge audit sample` makes one) to read its items, answers and tables."""
    from judge.audit.results.frames import OpenedAudit

    return OpenedAudit(path)
