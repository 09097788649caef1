"""Results of runs for notebooks: ratings, analyses, explanations and reports. `run` also executes a run definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.questions import registry
from judge.questions.answer import Answer
from judge.questions.methods import method
from judge.questions.source import Source

if TYPE_CHECKING:
    import pandas as pd

    from judge.explanations.audit.results.frames import OpenedAudit
    from judge.explanations.mapping.explanation_map import ExplanationMap
    from judge.ratings.ratings_table import RatingsTable

Names = str | Sequence[str]
"""One name or several: a string is one name, never its letters."""


class OpenedRun:
    """Results of one or more runs. Answers are parsed by `parser`, once, when they are first needed.

    Each question is a method, such as `correlate`, and returns an `Answer` with `.frame`, `.tables`, `.signature`,
    `.notes` and `.figure()`. Its arguments are the options of the command of the same name. An argument that takes
    several names also accepts one name as a string.
    """

    def __init__(self, runs: Path | str | Sequence[Path | str], parser: str = "ours") -> None:
        from judge.asking.run_folder import resolve

        several = [runs] if isinstance(runs, str | Path) else list(runs)
        folders = [folder.path for folder in resolve(several)]
        self._source = Source(folders, parser, named=[str(run) for run in several])

    @property
    def folders(self) -> list[Path]:
        """Paths of the result folders."""
        return [Path(folder) for folder in self._source.folders]

    @property
    def parser(self) -> str:
        """Name of the parser that reads the answers: ``ours`` or ``as-published``."""
        return self._source.parser

    @property
    def table(self) -> RatingsTable:
        """The ratings table of the runs, with the stories and a description of each run."""
        return self._source.table

    def only(
        self,
        *,
        criterion: Names = (),
        judge: Names = (),
        eval_prompt: Names = (),
        pass_rate: bool = False,
        panel: str | None = None,
    ) -> OpenedRun:
        """A copy of these results, restricted to some criteria, judges and Eval-Prompts, e.g.
        `run.only(eval_prompt="ep1")`.

        `pass_rate` adds a criterion ``pass rate``: the share of binary criteria that a story passes. `panel` restricts
        the human raters to one panel.
        """
        from judge.analysis.inputs.selection import Selection

        keep = Selection.of(criterion, judge, eval_prompt, pass_rate=pass_rate, panel=panel)
        part = OpenedRun(self.folders, self.parser)
        part._source = self._source.only(keep)
        return part

    def ratings(self) -> pd.DataFrame:
        """The ratings table: one row for each repeat of a judge and for each human rating. `rating` is NaN if there is
        none.
        """
        return self.table.frame.copy()

    def status(self) -> pd.DataFrame:
        """Progress of each result folder: answers received and planned, failures by cause, tokens, cost in dollars,
        hours.
        """
        import pandas as pd

        from judge.api.status import status_row
        from judge.asking.run_folder.layout import ResultFolder

        return pd.DataFrame([status_row(ResultFolder(path)) for path in self.folders])

    def explain(self, **options: Any) -> ExplanationMap:
        """Map of the explanations, which are embedded, placed on a plane and clustered; its `.frame` has `cluster, x,
        y`. Options are the fields of `ExplainOptions`.

        `judge.explanations.results.results` computes from the returned map the tables that `judge explain` prints.
        """
        from judge.explanations.corpus.from_runs import of_table
        from judge.explanations.mapping.explanation_map import map_explanations
        from judge.explanations.mapping.options import ExplainOptions

        return map_explanations(of_table(self.table), _options(ExplainOptions, **options))

    def report(self, output: Path | str, *, methods: bool = False, **options: Any) -> list[Path]:
        """Write the page of `judge report` and, with `methods`, its three accompanying files. Returns the paths
        written.

        Options are `ReportOptions`' fields, e.g. `drop_systems=("Human",), resamples=200`.
        """
        from judge.show.report import ReportInputs, ReportOptions
        from judge.show.report.write import write_methods, write_page

        settings = {"parser": self.parser, "command": f"open_run(...).report({str(output)!r})"} | options
        inputs = ReportInputs.read(self.folders, _options(ReportOptions, **settings))
        write_page(inputs, Path(output), quiet=True)
        return [Path(output), *(write_methods(inputs, Path(output)) if methods else [])]

    def ask(self, question: str, **words: Any) -> Answer:
        """The answer to a question by its name, such as ``correlate``, with options as words. Options that take several
        names also accept one name as a string.

        Raises SpecError for an unknown question, option or value, and for an option that has no effect.
        """
        return registry.question(question).ask(self._source, **words)

    def __getattr__(self, name: str) -> Callable[..., Answer]:
        """A question as a method: `run.correlate(level="system")` is `run.ask("correlate", level="system")`."""
        if name.startswith("_") or name not in registry.names():
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return method(registry.question(name), self._source)

    def __dir__(self) -> list[str]:
        return sorted([*super().__dir__(), *registry.names()])

    def succeeded_by(self, new: OpenedRun, **words: Any) -> Answer:
        """Tests of whether the judge of `new` may replace the judge of these results.

        The other arguments are the fields of `SuccessionOptions`, options of the command `judge succeed`.
        """
        from judge.analysis import succession
        from judge.analysis.options.planning_options import SuccessionOptions
        from judge.questions.way import Way

        options = _options(SuccessionOptions, **words)
        found = succession.succession(self.table, new.table, options)
        way = Way(options=SuccessionOptions, compute=succession.succession, tables=succession.tables)
        return Answer(found, self.table, options, way, {})

    def __repr__(self) -> str:
        return f"OpenedRun({', '.join(map(str, self.folders))})"


def run(
    definition: Path | str,
    *,
    overrides: Mapping[str, object] | None = None,
    limit: int | None = None,
    quiet: bool = True,
    parser: str = "ours",
) -> OpenedRun:
    """Send all queries that a run.yaml defines to its judges, and return the results. A folder stands for the run.yaml
    in it.

    Answers that the run already has are kept and not requested again, as by `judge run`. `overrides` replaces values of
    run.yaml, e.g. `{"repeats": 3}`. `limit` is the number of stories to use, from the first. `parser` reads the
    answers: ``ours`` or ``as-published``. The function also works inside a running event loop, as in a notebook. Raises
    JudgeError if nothing was answered. Repeats that are still missing at the end are counted in `.status()`.
    """
    from judge.api.sitting import run_all

    return OpenedRun(run_all(Path(definition), overrides or {}, limit, quiet=quiet), parser)


def open_run(*runs: Path | str, parser: str = "ours") -> OpenedRun:
    """The results of runs, given as run.yaml files, their folders, or result folders.

    `parser` reads the judges' answers: ``ours`` or ``as-published``.
    """
    return OpenedRun(runs, parser)


def open_audit(path: Path | str) -> OpenedAudit:
    """Open an audit of explanations (created by `judge audit sample`) to read its items, answers and tables."""
    from judge.explanations.audit.results.frames import OpenedAudit

    return OpenedAudit(path)


def _options(kind: Any, **words: Any) -> Any:
    from judge.analysis.options.table_options import from_words

    return from_words(kind, **words)
