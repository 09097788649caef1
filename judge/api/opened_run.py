"""Results of runs for notebooks: ratings, analyses, explanations and reports. `run` also executes a run definition."""

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
    from judge.analysis.options import choices
    from judge.analysis.options import table_options as options
    from judge.analysis.options.agreement_options import ChosenMeasure
    from judge.audit.results.frames import OpenedAudit
    from judge.explanations.mapping.explanation_map import ExplanationMap
    from judge.ratings_table import RatingsTable
    from judge.stats.correlation.coefficients import Coefficient

Names = str | Sequence[str]
"""One name or several: a string is one name, never its letters."""


class OpenedRun:
    """Results of one or more runs. Answers are parsed by `parser`, once, when they are first needed.

    Each analysis returns a `Result` with `.frame`, `.tables`, `.signature`, `.notes` and `.plot()`. Its arguments are
    the options of the command of the same name. An argument that takes several names also accepts one name as a string.
    """

    def __init__(self, runs: Path | str | Sequence[Path | str], parser: str = "ours") -> None:
        from judge.run_folder import resolve

        folders = [folder.path for folder in resolve([runs] if isinstance(runs, str | Path) else runs)]
        self._source = Source(folders, parser)

    @property
    def folders(self) -> list[Path]:
        """Paths of the result folders."""
        return self._source.folders

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
        from judge.run_folder.layout import ResultFolder

        return pd.DataFrame([status_row(ResultFolder(path)) for path in self.folders])

    def summary(
        self,
        *,
        drop_systems: Names = (),
        epsilon: float = 0.1,
        margin: float = 0.1,
        resamples: int = 300,
        readings: options.Readings = "mean",
        positions: bool = False,
        own: Names = (),
        no_own: bool = False,
        seed: int = 1,
    ) -> Result:
        """Summary of the runs: whether the judge may replace a rater, the best Eval-Prompt, problems, and recommended
        steps.

        `.value` is a `judge.summary.result.Summary`; `judge.summary.screen.text` prints it on one screen. The arguments
        are options of the command `judge summary`.
        """
        return self._analysed("outcome:summary", locals())

    def coverage(self, by: Names = ("judge", "criterion", "eval_prompt"), *, drop_systems: Names = ()) -> Result:
        """Counts of repeats that were requested, answered and rated. `by` says how they are grouped: by any of judge,
        criterion, eval_prompt, system.
        """
        return self._analysed("outcome:coverage", locals())

    def consistency(self, *, drop_systems: Names = (), engine: options.Engine = "ours") -> Result:
        """Consistency of each judge's ratings over repeats: intraclass correlations (ICC), exact agreement and flip
        rate.

        `engine` says what computes the ICC: this program (``ours``) or the package pingouin.
        """
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
        """Agreement of judges with people by the number of repeats, by the way to combine them, and by how much people
        disagree.

        A last table has distances between the distributions of human and judge ratings. The arguments are options of
        the command `judge repeats`.
        """
        return self._analysed("self_agreement:repeats", locals())

    def components(self, *, drop_systems: Names = (), target: float = 0.8, seed: int = 1) -> Result:
        """Variance components of judges' ratings (e.g. of systems, story-prompts, judges and repeats), and the decision
        study.

        `target` is the reliability that the decision study plans for.
        """
        return self._analysed("self_agreement:components", locals())

    def d_study(self, *, drop_systems: Names = (), target: float = 0.8, seed: int = 1) -> Result:
        """Decision study: numbers of repeats, Eval-Prompts and judges needed for a reliability of `target`."""
        return self._analysed("self_agreement:d_study", locals())

    def correlate(
        self,
        *,
        coefficient: Coefficient = "kendall",
        level: choices.Level = "overall",
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
        """Correlations of each judge with human ratings, with the human ceiling and, if `control`, the control judge.

        The arguments are options of the command `judge correlate`. `interval_kind` is its option "interval".
        """
        return self._analysed("agreement:correlate", locals())

    def within(
        self,
        *,
        coefficient: Coefficient = "kendall",
        drop_systems: Names = (),
        against: str | None = None,
        ci: options.Interval = "auto",
        resamples: int = 1000,
        seed: int = 1,
    ) -> Result:
        """Correlations with human ratings over all stories, and within each author (people or models), system and
        dataset.

        A correlation over all stories is marked if tests show that it misleads about the correlations within these
        classes. The arguments are options of the command `judge correlate` with its option "within".
        """
        return self._analysed("agreement:within", locals())

    def panels(
        self,
        *,
        coefficient: Coefficient = "kendall",
        drop_systems: Names = (),
        against: str | None = None,
        ci: options.Interval = "auto",
        resamples: int = 1000,
        seed: int = 1,
    ) -> Result:
        """Agreement within and between panels of raters, agreement of each judge with each panel, and the differences
        between a judge's agreement with two panels.

        The arguments are options of the command `judge panels`.
        """
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
        """Confusion of each judge's labels with the majority labels of human raters.

        For comparison, the result also has rows for one human rater against the other raters, and for null judges,
        which answer without reading the story. The arguments are options of the command `judge confusion`.
        """
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
        """Share of pairs of stories, and of systems, that each judge ranks in the same order as human raters.

        The arguments are options of the command `judge accuracy`.
        """
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
        resamples: int = 1000,
        seed: int = 1,
    ) -> Result:
        """The alternative annotator test of every judge: whether it may replace a human annotator.

        The arguments are options of the command `judge replace`.
        """
        return self._analysed("agreement:replace", locals())

    def diagnose(
        self,
        *,
        drop_systems: Names = (),
        against: str | None = None,
        own: Names = (),
        alpha: float = 0.05,
        no_own: bool = False,
    ) -> Result:
        """Tests for known biases of judges, in comparison with human ratings of the same stories.

        The arguments are options of the command `judge diagnose`.
        """
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
        """Comparison of perturbed stories with the untouched stories that they were made from: which changes a judge
        notices, and which attacks succeed.

        The arguments are options of the command `judge stress report`.
        """
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
        """Means and ranks of systems, by human raters and by judges, and groups of systems that do not differ
        significantly.

        The arguments are options of the command `judge systems`. `mean_interval` and `holm_over` are its options
        "interval" and "family".
        """
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
        """Differences of mean ratings between all pairs of systems on the same story-prompts, with adjusted p values.

        The arguments are options of the command `judge systems`. `mean_interval` and `holm_over` are its options
        "interval" and "family".
        """
        return self._analysed("comparing:system_differences", locals())

    def system_separation(self, *, drop_systems: Names = ()) -> pd.DataFrame:
        """Counts of pairs of systems that differ significantly by human ratings, by a judge's ratings, or by both.

        There is one row for each judge and Eval-Prompt. `drop_systems` names systems to leave out.
        """
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
        """Analysis of whether the criteria measure different things. `view` chooses which table is the result's
        `.frame`.

        The other arguments are options of the command `judge criteria`.
        """
        return self._analysed("failings:criteria", locals())

    def aspects(
        self, *, ci: Literal["boot-inputs", "none"] = "boot-inputs", resamples: int = 1000, seed: int = 1
    ) -> Result:
        """How many of the aspects of a story that readers commented on are among those that a judge finds most salient
        (recall), with baselines for comparison.

        The result also has the correlations of judges' ratings of these aspects with readers' ratings. The arguments
        are options of the command `judge aspects`.
        """
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
        """Preferences between two stories: agreement with human raters, order effects, systems, stories, and
        transitivity.

        `.frame` is the frame of agreement. `.value` is a `Ranked` with `.agreement`, `.order`, `.systems`, `.stories`
        and `.transitivity`, each with its `.frame`. In a run that rates single stories, a judge counts as preferring
        the story with the higher mean rating. The arguments are options of the command `judge rank`.
        """
        return self._analysed("comparing:rank", locals())

    def disagreements(self, *, drop_systems: Names = (), between: options.Between = "people", top: int = 10) -> Result:
        """The `top` stories on which ratings differ most, with their texts; 0 = all stories.

        `between` says which ratings are compared: by default, those of judges and people.
        """
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
        """Ratings of several judges (a jury) combined into one rating, with cross-validation.

        The combined rating is compared with the best single judge, with the mean of the judges and with the control
        judge. The arguments are options of the command `judge jury`.
        """
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
        """Plan of a study, with these results as its pilot study. It also says which additional data would be most
        useful.

        The arguments are options of the command `judge plan`.
        """
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
        """Tests of whether the judge of `new` may replace the judge of these results.

        The other arguments are options of the command `judge succeed`.
        """
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
        """Differences in agreement with human ratings on the same stories (contrasts). `by` says what is compared:
        eval_prompt, judge, structured, parser or run.

        Rows of the frame whose criterion is "mean over criteria" also hold a sentence with the result of the contrast.
        The other arguments are options of the command `judge compare`.
        """
        return self._analysed("comparing:compare", locals())

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
        from judge.report import ReportInputs, ReportOptions
        from judge.report.write import write_methods, write_page

        settings = {"parser": self.parser, "command": f"open_run(...).report({str(output)!r})"} | options
        inputs = ReportInputs.read(self.folders, _options(ReportOptions, **settings))
        write_page(inputs, Path(output), quiet=True)
        return [Path(output), *(write_methods(inputs, Path(output)) if methods else [])]

    def _analysed(self, name: str, words: Mapping[str, Any]) -> Result:
        """The result of the analysis `name` (``module:function`` of `judge.api.analyses`), called with the arguments
        `words` of the calling method.
        """
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
    from judge.audit.results.frames import OpenedAudit

    return OpenedAudit(path)


def _options(kind: Any, **words: Any) -> Any:
    from judge.analysis.options.table_options import from_words

    return from_words(kind, **words)
