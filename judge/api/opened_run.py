"""Results of runs for notebooks: ratings, analyses, explanations, reports; and running a definition."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judge.api.result import Result

if TYPE_CHECKING:
    import pandas as pd

    from judge.analysis.correlation import Correlations
    from judge.analysis.inputs.selection import Selection
    from judge.analysis.options import agreement_options as agreement
    from judge.analysis.options import table_options as options
    from judge.analysis.options.agreement_options import ChosenMeasure
    from judge.analysis.systems.systems import Systems
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

        self.folders = [folder.path for folder in resolve([runs] if isinstance(runs, str | Path) else runs)]
        self.parser = parser
        self._kept: tuple[Selection, ...] = ()

    @cached_property
    def table(self) -> RatingsTable:
        """The ratings table with stories and facts, as the commands use it."""
        return self._read(self.parser)

    def _read(self, parser: str, *, perturbed: bool = False) -> RatingsTable:
        from judge.analysis.inputs.selection import narrowed
        from judge.ratings_table import read

        table = read(self.folders, parser, perturbed=perturbed)
        for keep in self._kept:
            table = narrowed(table, keep)
        return table

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
        from judge.analysis.inputs.selection import Selection, narrowed

        keep = Selection.of(criterion, judge, eval_prompt, pass_rate=pass_rate, panel=panel)
        part = OpenedRun(self.folders, self.parser)
        part._kept = (*self._kept, keep)
        part.table = narrowed(self.table, keep)
        return part

    def ratings(self) -> pd.DataFrame:
        """The ratings table: one row for each repeat and each rater. `rating` is NaN where there is none."""
        return self.table.frame.copy()

    def status(self) -> pd.DataFrame:
        """How far each result folder is: answered, planned, failed by cause, tokens, cost in dollars, hours."""
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
        """What the runs come to: may the judge replace a person, which prompt, what goes wrong, what next.

        `.value` is a `judge.summary.result.Summary`; `judge.summary.screen.text` prints it on one screen.
        """
        from judge.summary import screen
        from judge.summary.evidence import Evidence
        from judge.summary.options import EvidenceOptions
        from judge.summary.summarize import summarize

        chosen = _options(
            EvidenceOptions,
            drop_systems=drop_systems,
            epsilon=epsilon,
            resamples=resamples,
            readings=readings,
            seed=seed,
        )
        found = summarize(Evidence(self.table, chosen), [str(folder) for folder in self.folders])
        return Result(found.frame, screen.tables(found), value=found)

    def coverage(self, by: Names = ("judge", "criterion", "eval_prompt"), *, drop_systems: Names = ()) -> Result:
        """Requested, answered and rated repeats by any of judge, criterion, eval_prompt, system."""
        from judge.analysis.coverage import tables
        from judge.analysis.coverage.counts import count
        from judge.analysis.coverage.coverage import coverage
        from judge.analysis.options.table_options import CoverageOptions, names

        found = coverage(self.table, CoverageOptions(drop_systems=names(drop_systems)))
        counts = count(self.table, names(by), drop_systems=found.options.drop_systems)
        return Result(counts.frame, tables.tables(found), value=found)

    def consistency(self, *, drop_systems: Names = (), engine: options.Engine = "ours") -> Result:
        """ICC family, exact agreement, flip rate over repeats."""
        from judge.analysis.options.table_options import ConsistencyOptions
        from judge.analysis.reliability import consistency_tables
        from judge.analysis.reliability.consistency import consistency

        chosen = _options(ConsistencyOptions, drop_systems=drop_systems, engine=engine)
        found = consistency(self.table, chosen)
        return Result(found.frame, consistency_tables.tables(found), value=found)

    def repeats(
        self,
        *,
        drop_systems: Names = (),
        against: str | None = None,
        ci: options.RepeatsInterval = "boot-inputs",
        resamples: int = 1000,
        seed: int = 1,
    ) -> Result:
        """How many repeats, how to sum them, strata by people's disagreement, distances between distributions."""
        from judge.analysis import repeats
        from judge.analysis.options.table_options import RepeatsOptions

        chosen = _options(
            RepeatsOptions, drop_systems=drop_systems, against=against, ci=ci, resamples=resamples, seed=seed
        )
        found = repeats.repeats(repeats.with_stated(self.table, self.parser), chosen)
        return Result(found.frame, repeats.tables(found), value=found)

    def components(self, *, drop_systems: Names = (), target: float = 0.8, seed: int = 1) -> Result:
        """What ratings vary over: variance components."""
        from judge.analysis.options.table_options import ComponentsOptions
        from judge.analysis.reliability import components_tables
        from judge.analysis.reliability.variance_components import components

        chosen = _options(ComponentsOptions, drop_systems=drop_systems, target=target, seed=seed)
        found = components(self.table, chosen)
        return Result(found.frame, components_tables.tables(found), value=found)

    def d_study(self, *, drop_systems: Names = (), target: float = 0.8, seed: int = 1) -> Result:
        """How many repeats, Eval-Prompts, judges... a `target` reliability takes."""
        from judge.analysis.options.table_options import ComponentsOptions
        from judge.analysis.reliability import components_tables
        from judge.analysis.reliability.variance_components import components

        chosen = _options(ComponentsOptions, drop_systems=drop_systems, target=target, seed=seed)
        found = components(self.table, chosen)
        return Result(found.plans, components_tables.plan_tables(found), value=found)

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
        from judge.analysis import classes, correlation
        from judge.analysis.options.table_options import CorrelationOptions

        chosen = _options(
            CorrelationOptions,
            coefficient=coefficient,
            level=level,
            drop_systems=drop_systems,
            against=against,
            ci=ci,
            resamples=resamples,
            seed=seed,
            control=control,
            given=given,
            interval_kind=interval_kind,
            readings=readings,
        )
        found = correlation.correlations(self.table, chosen, predict=_control() if control else None)
        made = classes.beside(correlation.tables(found), classes.classes(found), full=False)
        return Result(found.frame, made, lambda: _heatmap(found), value=found)

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
        """Correlations over all stories beside those within author, system and dataset; flags what pooling hides."""
        from judge.analysis import classes, correlation
        from judge.analysis.options.table_options import CorrelationOptions

        chosen = _options(
            CorrelationOptions,
            coefficient=coefficient,
            drop_systems=drop_systems,
            against=against,
            ci=ci,
            resamples=resamples,
            seed=seed,
        )
        found = classes.classes(correlation.correlations(self.table, chosen))
        return Result(found.frame, classes.tables(found), value=found)

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
        from judge.analysis import panels
        from judge.analysis.options.table_options import CorrelationOptions

        chosen = _options(
            CorrelationOptions,
            coefficient=coefficient,
            drop_systems=drop_systems,
            against=against,
            ci=ci,
            resamples=resamples,
            seed=seed,
        )
        found = panels.panels(self.table, chosen)
        return Result(found.frame, panels.tables(found), value=found)

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
        from judge.analysis import labels
        from judge.analysis.options.agreement_options import ConfusionOptions

        chosen = _options(
            ConfusionOptions, drop_systems=drop_systems, against=against, ci=ci, resamples=resamples, seed=seed
        )
        found = labels.confusions(self.table, chosen)
        return Result(found.frame, labels.tables(found), value=found)

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
        """How often judges put two stories, and systems, in people's order."""
        from judge.analysis.agreement import accuracy, accuracy_tables
        from judge.analysis.options.agreement_options import AccuracyOptions

        chosen = _options(
            AccuracyOptions,
            level=level,
            drop_systems=drop_systems,
            against=against,
            folds=folds,
            flips=flips,
            ci=ci,
            resamples=resamples,
            seed=seed,
            control=control,
        )
        found = accuracy.accuracies(self.table, chosen, predict=_control() if control else None)
        return Result(found.frame, accuracy_tables.tables(found), value=found)

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
        from judge.analysis.agreement import replacement, replacement_tables
        from judge.analysis.options.agreement_options import ReplacementOptions

        chosen = _options(
            ReplacementOptions,
            drop_systems=drop_systems,
            against=against,
            epsilon=epsilon,
            measure=measure,
            positions=positions,
            rated=rated,
            seed=seed,
        )
        found = replacement.replacement(self.table, chosen)
        return Result(found.frame, replacement_tables.tables(found), value=found)

    def diagnose(
        self, *, drop_systems: Names = (), against: str | None = None, own: Names = (), alpha: float = 0.05
    ) -> Result:
        """Known ways in which judges go wrong, as tests against people's ratings of the same stories."""
        from judge.analysis import diagnose
        from judge.analysis.options.table_options import DiagnoseOptions

        chosen = _options(DiagnoseOptions, drop_systems=drop_systems, against=against, own=own, alpha=alpha)
        found = diagnose.diagnose(self.table, chosen)
        return Result(found.frame, diagnose.tables(found, full=True), value=found)

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
        from judge.analysis import stress
        from judge.analysis.options.table_options import StressOptions

        chosen = _options(
            StressOptions,
            drop_systems=drop_systems,
            margin=margin,
            adjust=adjust,
            alpha=alpha,
            control=control,
            as_published=as_published,
        )
        found = stress.stress(self._read(self.parser, perturbed=True), chosen)
        return Result(found.frame, stress.tables(found), value=found)

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
        from judge.analysis.systems import tables

        found = self._systems(drop_systems, mean_interval, holm_over, resamples, seed)
        return Result(found.frame, tables.tables(found), value=found)

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
        from judge.analysis.systems import tables

        found = self._systems(drop_systems, mean_interval, holm_over, resamples, seed)
        return Result(found.differences, tables.tables(found, differences=True), value=found)

    def system_separation(self, *, drop_systems: Names = ()) -> pd.DataFrame:
        """Which pairs of systems judges tell apart as people do, see alone or miss."""
        from judge.analysis.options.table_options import SystemsOptions
        from judge.analysis.systems.separation import separation

        return separation(self.table, _options(SystemsOptions, drop_systems=drop_systems)).frame

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
        from judge.analysis.criteria import tables
        from judge.analysis.criteria.criteria import criteria
        from judge.analysis.options.table_options import CriteriaOptions

        chosen = _options(CriteriaOptions, drop_systems=drop_systems, ci=ci, resamples=resamples, seed=seed)
        found = criteria(self.table, chosen)
        return Result(found.view(view), tables.tables(found), value=found)

    def aspects(
        self, *, ci: Literal["boot-inputs", "none"] = "boot-inputs", resamples: int = 1000, seed: int = 1
    ) -> Result:
        """Recall of the aspects that readers commented on, and correlations with their ratings, beside floors."""
        from judge.analysis.aspects import printed
        from judge.analysis.aspects.compute import aspects
        from judge.analysis.options.table_options import AspectsOptions

        found = aspects(self.table, _options(AspectsOptions, ci=ci, resamples=resamples, seed=seed))
        return Result(found.frame, printed.tables(found), value=found)

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
        from judge.analysis.options.table_options import RankOptions
        from judge.analysis.preference import printed
        from judge.analysis.preference.ranked import ranked
        from judge.analysis.preference.reading import narrowed, read

        table = read(self.folders)
        for keep in self._kept:
            table = narrowed(table, keep.criteria, keep.judges, keep.eval_prompts)
        chosen = _options(
            RankOptions, drop_systems=drop_systems, ties=ties, bootstraps=bootstraps, seed=seed, control=control
        )
        found = ranked(table, chosen)
        return Result(found.agreement.frame, printed.tables(found), value=found)

    def disagreements(self, *, drop_systems: Names = (), between: options.Between = "people", top: int = 10) -> Result:
        """Stories on which ratings differ most, with texts."""
        from judge.analysis.disagreements import disagreements, tables
        from judge.analysis.options.table_options import DisagreementsOptions

        chosen = _options(DisagreementsOptions, drop_systems=drop_systems, between=between, top=top)
        found = disagreements.disagreements(self.table, chosen)
        return Result(found.frame, tables.tables(found), value=found)

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
        """A panel's ratings as one, out of fold, beside its best member, mean and control."""
        from judge.analysis.jury import jury, tables
        from judge.analysis.options.table_options import JuryOptions

        chosen = _options(
            JuryOptions,
            combiner=combiner,
            members=members,
            min_members=min_members,
            all_criteria=all_criteria,
            with_features=with_features,
            calibrate=calibrate,
            hold_out=hold_out,
            folds=folds,
            foldings=foldings,
            drop_systems=drop_systems,
            predict=predict,
            carry_over=carry_over,
            ci=ci,
            resamples=resamples,
            seed=seed,
        )
        found = jury.jury(self.table, chosen)
        return Result(found.frame, tables.tables(found), value=found)

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
        """What a study would take, with these results as its pilot, and what is worth paying for next."""
        from judge.analysis import planning
        from judge.analysis.options.planning_options import PlanOptions

        chosen = _options(
            PlanOptions,
            half_width=half_width,
            difference=difference,
            reliability=reliability,
            power=power,
            epsilon=epsilon,
            prompts=prompts,
            repeats=repeats,
            positions=positions,
            rater_price=rater_price,
            drop_systems=drop_systems,
            against=against,
            seed=seed,
        )
        found = planning.plan(self.table, chosen)
        return Result(found.frame, planning.tables(found), value=found)

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
        from judge.analysis import succession
        from judge.analysis.options.planning_options import SuccessionOptions

        chosen = _options(
            SuccessionOptions,
            margin=margin,
            points=points,
            cut=cut,
            power=power,
            folds=folds,
            top=top,
            drop_systems=drop_systems,
            against=against,
            seed=seed,
        )
        found = succession.succession(self.table, new.table, chosen)
        return Result(found.frame, succession.tables(found), value=found)

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
        from judge.analysis.comparison import comparison, tables
        from judge.analysis.options.table_options import CompareOptions

        chosen = _options(
            CompareOptions,
            by=by,
            baseline=baseline,
            level=level,
            drop_systems=drop_systems,
            against=against,
            adjust=adjust,
            family=family,
            swap=swap,
            resamples=resamples,
            permutations=permutations,
            seed=seed,
        )
        table = self.table
        if chosen.by == "parser":
            ours = table if self.parser == "ours" else self._read("ours")
            table = comparison.both_parsers(ours, self._read("as-published"))
        found = comparison.compared(table, chosen)
        return Result(found.frame, tables.tables(found, pairs=True), value=found)

    def explain(self, **options: Any) -> ExplanationMap:
        """Explanations embedded, mapped and clustered: `.frame` has `cluster, x, y`. `ExplainOptions`' fields.

        `judge.explanations.look.look` computes from what this gives what `judge explain` prints.
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

        said = {"parser": self.parser, "command": f"open_run(...).report({str(output)!r})"} | options
        inputs = ReportInputs.read(self.folders, _options(ReportOptions, **said))
        write_page(inputs, Path(output), quiet=True)
        return [Path(output), *(write_methods(inputs, Path(output)) if methods else [])]

    def _systems(self, drop_systems: Names, mean_interval: str, holm_over: str, resamples: int, seed: int) -> Systems:
        from judge.analysis.options.table_options import SystemsOptions
        from judge.analysis.systems.systems import systems

        words = {"mean_interval": mean_interval, "holm_over": holm_over, "resamples": resamples, "seed": seed}
        return systems(self.table, _options(SystemsOptions, drop_systems=drop_systems, **words))

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


def _control() -> Callable[..., Any]:
    from judge.analysis.inputs.control import Control

    return Control()


def _heatmap(found: Correlations) -> Any:
    from judge.analysis.agreement.correlation_grid import layouts
    from judge.charts.heatmap import heat_map
    from judge.figures import heatmap

    return heatmap.draw(heat_map(_only(layouts(found))))


def _only(grids: Sequence[Any]) -> Any:
    """The grid of the only dataset."""
    from judge.errors import SpecError

    if len(grids) != 1:
        raise SpecError(f"a picture shows one dataset; these results have {len(grids)}", hint="open one run alone")
    return grids[0]
