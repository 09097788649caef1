"""Results of runs for notebooks: ratings, analyses, explanations, reports; and running a definition."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judge.api.result import Result
from judge.api.source import Source

if TYPE_CHECKING:
    import pandas as pd

    from judge.analysis.options import agreement_options as agreement
    from judge.analysis.options import table_options as options
    from judge.analysis.options.agreement_options import ChosenMeasure
    from judge.audit.results.frames import OpenedAudit
    from judge.explanations.mapping.explanation_map import ExplanationMap
    from judge.ratings_table import RatingsTable

Names = str | Sequence[str]
"""One name or several: a string is one name, never its letters."""


class OpenedRun:
    """Results of one or more RUNs. Answers are parsed once, when first needed, by `parser`.

    Each analysis gives a `Result`: `.frame`, `.tables`, `.signature`, `.notes`, `.plot()`. Its arguments are the
    options of the command of that name. Wherever one takes several names, a string is one name.
    """

    def __init__(self, runs: Path | str | Sequence[Path | str], parser: str = "ours") -> None:
        from judge.run_folder import resolve

        folders = [folder.path for folder in resolve([runs] if isinstance(runs, str | Path) else runs)]
        self._source = Source(folders, parser)

    @property
    def folders(self) -> list[Path]:
        """The result folders."""
        return self._source.folders

    @property
    def parser(self) -> str:
        """Parser of the answers: ours or as-published."""
        return self._source.parser

    @property
    def table(self) -> RatingsTable:
        """The ratings table with stories and facts, as the commands use it."""
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
        """The same results narrowed to some criteria, judges and Eval-Prompts, e.g. `run.only(eval_prompt="ep1")`.

        With `pass_rate` the share of a story's binary criteria passed is one more criterion, ``pass rate``; with
        `panel` people are those of one panel.
        """
        from judge.analysis.inputs.selection import Selection

        keep = Selection.of(criterion, judge, eval_prompt, pass_rate=pass_rate, panel=panel)
        part = OpenedRun(self.folders, self.parser)
        part._source = self._source.only(keep)
        return part

    def ratings(self) -> pd.DataFrame:
        """The ratings table: one row for each repeat and each rater. `rating` is NaN where there is none."""
        return self.table.frame.copy()

    def status(self) -> pd.DataFrame:
        """Progress of each result folder: answered, planned, failed by cause, tokens, cost in dollars, hours."""
        import pandas as pd

        from judge.api.status import status_row
        from judge.run_folder.layout import ResultFolder

        return pd.DataFrame([status_row(ResultFolder(path)) for path in self.folders])

    def summary(
        self,
        *,
        drop_systems: Names = (),
        epsilon: float = 0.1,
        resamples: int = 300,
        readings: options.Readings = "mean",
        seed: int = 1,
    ) -> Result:
        """Summary of the runs: whether the judge may replace a person, the best prompt, what goes wrong, what to do
        next.

        `.value` is a `judge.summary.result.Summary`; `judge.summary.screen.text` prints it on one screen.
        """
        return self._analysed("outcome:summary", locals())

    def coverage(self, by: Names = ("judge", "criterion", "eval_prompt"), *, drop_systems: Names = ()) -> Result:
        """Requested, answered and rated repeats by any of judge, criterion, eval_prompt, system."""
        return self._analysed("outcome:coverage", locals())

    def consistency(self, *, drop_systems: Names = (), engine: options.Engine = "ours") -> Result:
        """ICC family, exact agreement, flip rate over repeats."""
        return self._analysed("self_agreement:consistency", locals())

    def repeats(
        self,
        *,
        drop_systems: Names = (),
        against: str | None = None,
        ci: options.RepeatsInterval = "boot-inputs",
        resamples: int = 1000,
        seed: int = 1,
    ) -> Result:
        """Number of repeats, ways to combine them, strata by people's disagreement, distances between distributions."""
        return self._analysed("self_agreement:repeats", locals())

    def components(self, *, drop_systems: Names = (), target: float = 0.8, seed: int = 1) -> Result:
        """Variance components of the ratings."""
        return self._analysed("self_agreement:components", locals())

    def d_study(self, *, drop_systems: Names = (), target: float = 0.8, seed: int = 1) -> Result:
        """Numbers of repeats, Eval-Prompts, judges... needed for a `target` reliability."""
        return self._analysed("self_agreement:d_study", locals())

    def correlate(
        self,
        *,
        coefficient: options.Coefficient = "kendall",
        level: options.Level = "overall",
        drop_systems: Names = (),
        against: str | None = None,
        ci: options.Interval = "auto",
        resamples: int = 1000,
        seed: int = 1,
        control: bool = True,
        given: str | None = None,
        interval_kind: options.IntervalKind = "auto",
        readings: options.Readings = "mean",
    ) -> Result:
        """Correlations of each judge with people, beside human ceiling and, with `control`, the control judge."""
        return self._analysed("agreement:correlate", locals())

    def within(
        self,
        *,
        coefficient: options.Coefficient = "kendall",
        drop_systems: Names = (),
        against: str | None = None,
        ci: options.Interval = "auto",
        resamples: int = 1000,
        seed: int = 1,
    ) -> Result:
        """Correlations over all stories and within author, system and dataset; flags differences that pooling hides."""
        return self._analysed("agreement:within", locals())

    def panels(
        self,
        *,
        coefficient: options.Coefficient = "kendall",
        drop_systems: Names = (),
        against: str | None = None,
        ci: options.Interval = "auto",
        resamples: int = 1000,
        seed: int = 1,
    ) -> Result:
        """Panels of people: agreement within and between them, each judge against each, and the differences."""
        return self._analysed("agreement:panels", locals())

    def confusion(
        self,
        *,
        drop_systems: Names = (),
        against: str | None = None,
        ci: agreement.ConfusionInterval = "boot-inputs",
        resamples: int = 1000,
        seed: int = 1,
    ) -> Result:
        """Labels of each judge beside people's majorities, with one person against the others and null judges."""
        return self._analysed("agreement:confusion", locals())

    def accuracy(
        self,
        *,
        level: agreement.PairLevel = "overall",
        drop_systems: Names = (),
        against: str | None = None,
        folds: int = 5,
        flips: int = 1000,
        ci: agreement.PairInterval = "boot-inputs",
        resamples: int = 1000,
        seed: int = 1,
        control: bool = True,
    ) -> Result:
        """Share of pairs of stories, and of systems, that judges put in people's order."""
        return self._analysed("agreement:accuracy", locals())

    def replace(
        self,
        *,
        drop_systems: Names = (),
        against: str | None = None,
        epsilon: float = 0.1,
        measure: ChosenMeasure = "auto",
        positions: bool = False,
        rated: int | None = None,
        seed: int = 1,
    ) -> Result:
        """May a judge replace an annotator? The alternative annotator test of every judge."""
        return self._analysed("agreement:replace", locals())

    def diagnose(
        self, *, drop_systems: Names = (), against: str | None = None, own: Names = (), alpha: float = 0.05
    ) -> Result:
        """Tests for known failings of judges, against people's ratings of the same stories."""
        return self._analysed("failings:diagnose", locals())

    def stress(
        self,
        *,
        drop_systems: Names = (),
        margin: float = 0.25,
        adjust: options.Adjustment = "bh",
        alpha: float = 0.05,
        control: bool = True,
        as_published: bool = False,
    ) -> Result:
        """Perturbed stories against those that they were made of: what judges notice, are moved by, fall for."""
        return self._analysed("failings:stress", locals())

    def systems(
        self,
        *,
        drop_systems: Names = (),
        mean_interval: options.MeanInterval = "clustered",
        holm_over: options.Family = "cell",
        resamples: int = 1000,
        seed: int = 1,
    ) -> Result:
        """Means, ranks and groups of systems by people and judges."""
        return self._analysed("comparing:systems", locals())

    def system_differences(
        self,
        *,
        drop_systems: Names = (),
        mean_interval: options.MeanInterval = "clustered",
        holm_over: options.Family = "cell",
        resamples: int = 1000,
        seed: int = 1,
    ) -> Result:
        """All pairs of systems on the same story-prompts, p adjusted."""
        return self._analysed("comparing:system_differences", locals())

    def system_separation(self, *, drop_systems: Names = ()) -> pd.DataFrame:
        """Counts of pairs of systems that judges tell apart as people do, see alone or miss."""
        from judge.api.analyses.comparing import system_separation

        return system_separation(self._source, drop_systems=drop_systems)

    def criteria(
        self,
        view: Literal["halo", "pairs", "multitrait", "scale-use", "together"] = "halo",
        *,
        drop_systems: Names = (),
        ci: Literal["boot-inputs", "none"] = "boot-inputs",
        resamples: int = 1000,
        seed: int = 1,
    ) -> Result:
        """Whether criteria measure different things; `view` says which frame."""
        return self._analysed("failings:criteria", locals())

    def aspects(
        self, *, ci: Literal["boot-inputs", "none"] = "boot-inputs", resamples: int = 1000, seed: int = 1
    ) -> Result:
        """Recall of the aspects that readers commented on, and correlations with their ratings, beside floors."""
        return self._analysed("failings:aspects", locals())

    def rank(
        self,
        *,
        drop_systems: Names = (),
        ties: options.PairTies = "davidson",
        bootstraps: int = 0,
        seed: int = 1,
        control: bool = True,
    ) -> Result:
        """Preferences between two stories: agreement with people, order, systems, stories, transitivity.

        `.frame` is that of agreement; `.value` is a `Ranked` with `.agreement`, `.order`, `.systems`, `.stories` and
        `.transitivity`, each with its `.frame`. Rating runs count by what their means imply.
        """
        return self._analysed("comparing:rank", locals())

    def disagreements(self, *, drop_systems: Names = (), between: options.Between = "people", top: int = 10) -> Result:
        """Stories on which ratings differ most, with texts."""
        return self._analysed("failings:disagreements", locals())

    def jury(
        self,
        *,
        combiner: options.Combiner = "auto",
        members: Names = (),
        min_members: int = 1,
        all_criteria: bool = True,
        with_features: bool = False,
        calibrate: options.Calibrate = "none",
        hold_out: options.HeldOut = "story-prompt",
        folds: int = 5,
        foldings: int = 5,
        drop_systems: Names = (),
        predict: float | None = None,
        carry_over: float | None = None,
        ci: options.JuryInterval = "boot-inputs",
        resamples: int = 1000,
        seed: int = 1,
    ) -> Result:
        """Ratings of a panel combined into one, out of fold, compared with its best member, mean and control."""
        return self._analysed("comparing:jury", locals())

    def plan(
        self,
        *,
        half_width: float = 0.05,
        difference: float = 0.05,
        reliability: float = 0.8,
        power: float = 0.8,
        epsilon: float = 0.1,
        prompts: int | None = None,
        repeats: int | None = None,
        positions: bool = False,
        rater_price: float | None = None,
        drop_systems: Names = (),
        against: str | None = None,
        seed: int = 1,
    ) -> Result:
        """Plan of a study, with these results as its pilot, and what is worth paying for next."""
        return self._analysed("outcome:plan", locals())

    def succeeded_by(
        self,
        new: OpenedRun,
        *,
        margin: float = 0.05,
        points: float = 0.25,
        cut: float | None = None,
        power: float = 0.8,
        folds: int = 5,
        top: int = 10,
        drop_systems: Names = (),
        against: str | None = None,
        seed: int = 1,
    ) -> Result:
        """Whether the judge of `new` may replace the judge of these results."""
        return self._analysed("comparing:succeeded_by", locals())

    def compare(
        self,
        by: options.Factor = "eval_prompt",
        *,
        baseline: str | None = None,
        level: options.ContrastLevel = "overall",
        drop_systems: Names = (),
        against: str | None = None,
        adjust: options.Adjustment = "bh",
        family: str | None = None,
        swap: options.Swap = "auto",
        resamples: int = 1000,
        permutations: int = 2000,
        seed: int = 1,
    ) -> Result:
        """Paired contrasts on the same stories, `by` eval_prompt, judge, structured, parser or run.

        Rows of the frame with criterion "mean over criteria" carry the contrast's sentence.
        """
        return self._analysed("comparing:compare", locals())

    def explain(self, **options: Any) -> ExplanationMap:
        """Explanations embedded, mapped and clustered: `.frame` has `cluster, x, y`. `ExplainOptions`' fields.

        `judge.explanations.results.results` computes from what this gives what `judge explain` prints.
        """
        from judge.explanations.corpus.from_runs import of_table
        from judge.explanations.mapping.explanation_map import map_explanations
        from judge.explanations.mapping.options import ExplainOptions

        return map_explanations(of_table(self.table), _options(ExplainOptions, **options))

    def report(self, output: Path | str, *, methods: bool = False, **options: Any) -> list[Path]:
        """Write `judge report`'s page, with `methods` the three files beside it; the paths written.

        Options are `ReportOptions`' fields, e.g. `drop_systems=("Human",), resamples=200`.
        """
        from judge.report import ReportInputs, ReportOptions
        from judge.report.write import write_methods, write_page

        settings = {"parser": self.parser, "command": f"open_run(...).report({str(output)!r})"} | options
        inputs = ReportInputs.read(self.folders, _options(ReportOptions, **settings))
        write_page(inputs, Path(output), quiet=True)
        return [Path(output), *(write_methods(inputs, Path(output)) if methods else [])]

    def _analysed(self, name: str, words: Mapping[str, Any]) -> Result:
        """Result of the function `name`, as module:function of `judge.api.analyses`, for a method's arguments."""
        module, _, function = name.partition(":")
        analysis = getattr(importlib.import_module(f"judge.api.analyses.{module}"), function)
        result: Result = analysis(self._source, **{word: value for word, value in words.items() if word != "self"})
        return result

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
    """Send everything that a run.yaml, or the one in a folder, defines to its judges, and open the results.

    Answers that are there already are kept and not requested again, as by `judge run`. `overrides` are keys of run.yaml
    with other values, e.g. `{"repeats": 3}`; `limit` takes the first so many stories. Works where an event loop runs
    already, as in a notebook. Raises JudgeError where nothing was answered; repeats that are missing at the end are in
    `.status()`.
    """
    from judge.api.sitting import run_all

    return OpenedRun(run_all(Path(definition), overrides or {}, limit, quiet=quiet), parser)


def open_run(*runs: Path | str, parser: str = "ours") -> OpenedRun:
    """Open results: run.yaml files, their folders, or result folders."""
    return OpenedRun(runs, parser)


def open_audit(path: Path | str) -> OpenedAudit:
    """Open an audit of explanations (`judge audit sample` makes one) to read its items, answers and tables."""
    from judge.audit.results.frames import OpenedAudit

    return OpenedAudit(path)


def _options(kind: Any, **words: Any) -> Any:
    from judge.analysis.options.table_options import from_words

    return from_words(kind, **words)
