"""The inputs of a report, read once: ratings table, manifests, options, and the analyses computed from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from judge.analysis import classes, panels
from judge.analysis.agreement.replacement import Replacement, replacement
from judge.analysis.classes import Classes
from judge.analysis.correlation import Correlations
from judge.analysis.correlation.margins import Margin
from judge.analysis.coverage.counts import VerdictCoverage, verdict_coverage
from judge.analysis.coverage.coverage import Coverage
from judge.analysis.diagnose import Diagnosis, diagnose
from judge.analysis.inputs.bars import Predict
from judge.analysis.inputs.control import RememberedControl
from judge.analysis.inputs.selection import of_panel, panels_of, with_pass_rate
from judge.analysis.labels import Confusions
from judge.analysis.options.agreement_options import ReplacementOptions
from judge.analysis.options.choices import Level
from judge.analysis.options.table_options import (
    CorrelationOptions,
    DiagnoseOptions,
    RankOptions,
    StressOptions,
    from_words,
)
from judge.analysis.panels import Panels
from judge.analysis.preference.ranked import Ranked, ranked
from judge.analysis.raters import Raters
from judge.analysis.reliability.consistency import Consistency
from judge.analysis.stress import Stress, stress
from judge.asking.run_folder import Cost, ResultFolder, folder_cost, read_manifest, resolve
from judge.asking.run_folder.layout import compares
from judge.base.choices import RESAMPLES
from judge.base.errors import OptionError, SpecError
from judge.base.wording import written
from judge.contamination import report as contamination_report
from judge.contamination import scores_file
from judge.contamination.report import ContaminationReport
from judge.contamination.scores_file import ScoresFile
from judge.exchange.tables.checked_table import Checked
from judge.explanations.audit import report as audit_report
from judge.explanations.audit.database import DEFAULT_NAME
from judge.explanations.audit.report import AuditReport
from judge.explanations.audit.store import AuditSnapshot, AuditStore, read_audit
from judge.explanations.mapping import stored_map
from judge.explanations.mapping.stored_map import StoredMap
from judge.questions.summary.evidence import Evidence
from judge.questions.summary.quality import Seen
from judge.questions.summary.result import EvidenceOptions, Summary
from judge.questions.summary.summarize import summarize
from judge.ratings.preferences_table import ComparisonFacts, PreferencesTable, unasked
from judge.ratings.preferences_table import read as read_preferences
from judge.ratings.rating_matrix import RatingMatrix
from judge.ratings.ratings_table import RatingsTable, RunFacts, read, without_perturbed
from judge.ratings.ratings_table.columns import COLUMNS, STORY_COLUMNS


@dataclass(frozen=True, slots=True)
class ReportOptions:
    """Options of a report. `panel` restricts human ratings to one. `pass_rate` adds a criterion: the share of binary
    criteria passed. `readings` compares with one person ``mean`` (of repeats) or ``single`` (each). `examples` counts
    disagreements shown."""

    title: str | None = None
    drop_systems: tuple[str, ...] = ()
    pass_rate: bool = False
    panel: str | None = None
    resamples: int = RESAMPLES
    permutations: int = 2000
    readings: str = "mean"
    seed: int = 1
    parser: str = "ours"
    audit: Path | None = None
    contamination: tuple[Path, ...] = ()
    examples: int = 6
    command: str = "judge report"

    def __post_init__(self) -> None:
        counts = {"resamples": self.resamples, "permutations": self.permutations, "examples": self.examples}
        for name, value in counts.items():
            if value < 1:
                raise OptionError(name, value, "must be 1 or more")
        self.correlation()  # refuses readings that are not known

    @property
    def evidence(self) -> EvidenceOptions:
        return EvidenceOptions(self.drop_systems, resamples=self.resamples, readings=self.readings, seed=self.seed)

    def correlation(self, level: Level = "overall") -> CorrelationOptions:
        """Options of correlations at a level."""
        return self.evidence.correlation(level)


@dataclass(frozen=True, slots=True, eq=False)
class AskedRun:
    """One result folder with its facts, its manifest and the cost of its answers."""

    fact: RunFacts | ComparisonFacts
    folder: ResultFolder
    manifest: dict[str, Any]
    cost: Cost


@dataclass(frozen=True, eq=False)
class ReportInputs:
    """The loaded runs of a report; all sections share one control and one set of rating matrices. `folders` hold
    ratings, `compared` comparisons. `stressed` is `table` with perturbed stories, None without any. `checked` is the
    table from outside, None for runs."""

    runs: tuple[str, ...]
    options: ReportOptions
    folders: tuple[ResultFolder, ...]
    table: RatingsTable
    manifests: tuple[dict[str, Any], ...]
    scores: tuple[ScoresFile, ...] = ()
    control: Predict = field(default_factory=RememberedControl)
    compared: tuple[ResultFolder, ...] = ()
    checked: Checked | None = None
    """The table that the ratings were read from, of a page about one."""
    stressed: RatingsTable | None = None

    @classmethod
    def read(cls, runs: Sequence[Path | str], options: ReportOptions | None = None) -> ReportInputs:
        """Read all inputs. Raises RunFolderError where a RUN has no results, DataError where a file is broken."""
        # The audit and scores files are opened first, so that an error is reported before long work begins.
        options = options or ReportOptions()
        if options.audit is not None:
            AuditStore.open(options.audit, writing=False).close()
        scores = tuple(scores_file.read(file) for file in options.contamination)
        resolved = tuple(resolve(runs))
        compared = tuple(folder for folder in resolved if compares(folder))
        folders = tuple(folder for folder in resolved if folder not in compared)
        if not folders:
            _needs_no_ratings(options)
        paths = [folder.path for folder in folders]
        whole = read(paths, options.parser, perturbed=True) if folders else _no_ratings()
        table = without_perturbed(whole)
        stressed = whole if table is not whole else None
        if options.panel is not None:
            table = of_panel(table, options.panel)
        if options.pass_rate:
            table = with_pass_rate(table)
        manifests = tuple(read_manifest(folder.manifest) for folder in folders)
        run_names = tuple(str(run) for run in runs)
        return cls(run_names, options, folders, table, manifests, scores, compared=compared, stressed=stressed)

    @cached_property
    def costs(self) -> tuple[Cost, ...]:
        """Cost of each result folder that holds ratings."""
        return tuple(folder_cost(folder) for folder in self.folders)

    @property
    def rates(self) -> bool:
        """Whether the report has ratings, not only comparisons."""
        return bool(self.folders) or not self.compared

    @property
    def facts(self) -> list[RunFacts | ComparisonFacts]:
        return [*self.table.facts, *self.compared_facts]

    @cached_property
    def asked_runs(self) -> tuple[AskedRun, ...]:
        """Every result folder, those with ratings first."""
        parts = zip(self.table.facts, self.folders, self.manifests, self.costs, strict=True)
        asked = [AskedRun(*run) for run in parts]
        for fact in self.compared_facts:
            folder = ResultFolder(fact.path)
            asked.append(AskedRun(fact, folder, read_manifest(folder.manifest), folder_cost(folder)))
        return tuple(asked)

    @cached_property
    def evidence(self) -> Evidence:
        """The analyses that `judge summary` prints too; each is computed once."""
        return Evidence(self.table, self.options.evidence, self.control, every_row=True)

    @cached_property
    def summary(self) -> Summary:
        seen = None if self.contamination is None else Seen.of(self.contamination)
        return summarize(self.evidence, self.runs, seen)

    @cached_property
    def replacement(self) -> Replacement:
        """The alternative annotator test of every judge and Eval-Prompt."""
        chosen = self.options.evidence
        words = {name: getattr(chosen, name) for name in ("drop_systems", "epsilon", "positions", "resamples", "seed")}
        options = from_words(ReplacementOptions, **words)
        return replacement(self.table, options, self.control, self.evidence.correlations)

    @property
    def matrices(self) -> tuple[RatingMatrix, ...]:
        """Rating matrix of each dataset, without systems that the options leave out; () without ratings."""
        return self.evidence.matrices if self.rates else ()

    @cached_property
    def preferences_table(self) -> PreferencesTable:
        """Preferences of judges and people: those stated in comparisons, and those implied by ratings."""
        return read_preferences([folder.path for folder in (*self.folders, *self.compared)])

    @cached_property
    def preferences(self) -> Ranked:
        """Statistics of the preferences, such as agreement and the systems' strengths."""
        options = RankOptions(drop_systems=self.options.drop_systems, seed=self.options.seed)
        return ranked(self.preferences_table, options)

    @cached_property
    def compared_facts(self) -> tuple[ComparisonFacts, ...]:
        paths = {folder.path for folder in self.compared}
        return tuple(fact for fact in self.preferences_table.facts if fact.path in paths) if paths else ()

    @cached_property
    def unasked(self) -> int:
        """Number of planned repeats of comparisons not requested yet."""
        return unasked(self.compared_facts)

    @cached_property
    def verdicts(self) -> VerdictCoverage:
        """Counts of comparisons that were asked, answered and decided."""
        return verdict_coverage(self.preferences_table)

    @property
    def correlations(self) -> Correlations:
        """Correlations over all stories, with differences from one more person and the control."""
        return self.evidence.correlations

    @property
    def correlations_over_systems(self) -> Correlations:
        """Correlations over system means, with differences from one more person and the control."""
        return self.evidence.correlations_over_systems

    @property
    def margins(self) -> list[Margin]:
        """How far each judge's agreement over all stories lies above (+) or below (-) control and one more person."""
        return self.evidence.margins

    @cached_property
    def classes(self) -> Classes:
        """Correlations over all stories, and within classes of stories such as systems."""
        return classes.classes(self.correlations)

    @cached_property
    def panels(self) -> Panels | None:
        """Analysis of panels of raters; None where no panel is known."""
        return panels.panels(self.table, self.options.correlation()) if panels_of(self.table) else None

    @cached_property
    def stress(self) -> Stress | None:
        """Ratings of perturbed stories against those of unchanged ones; None without perturbed stories."""
        chosen = StressOptions(drop_systems=self.options.drop_systems)
        return None if self.stressed is None else stress(self.stressed, chosen)

    @property
    def confusions(self) -> Confusions | None:
        """Judges' labels against human labels; None where no criterion has labels or human ratings are missing."""
        return self.evidence.confusions

    @property
    def coverage(self) -> Coverage:
        """Counts of repeats that were asked, answered and rated."""
        return self.evidence.coverage

    @cached_property
    def diagnosis(self) -> Diagnosis:
        """The tests for faults of every judge and Eval-Prompt, with p adjusted over all of them."""
        return diagnose(self.table, DiagnoseOptions(drop_systems=self.options.drop_systems))

    @property
    def consistency(self) -> Consistency:
        """Agreement of each judge with itself over repeats, and of people with each other."""
        return self.evidence.consistency

    @cached_property
    def audit_file(self) -> Path | None:
        """The audit file in the options, or else next to the run's definition; None without one."""
        if self.options.audit is not None:
            return Path(self.options.audit)
        places = [parent / DEFAULT_NAME for folder in self.folders for parent in (folder.path.parent, folder.path)]
        return next((path for path in places if path.is_file()), None)

    @cached_property
    def audit(self) -> AuditSnapshot | None:
        """The audit as first read; None without one. Raises DataError for a file that is no audit."""
        return None if self.audit_file is None else read_audit(self.audit_file)

    @cached_property
    def audit_report(self) -> AuditReport | None:
        """None without an audit. Raises SpecError where no annotator has finished an explanation."""
        return None if self.audit is None else audit_report.report(self.audit)

    @cached_property
    def explanation_maps(self) -> tuple[StoredMap | None, ...]:
        """Stored map of each result folder, or None. Raises DataError where a map is broken."""
        return tuple(stored_map.read(folder) for folder in self.folders)

    @cached_property
    def contamination(self) -> ContaminationReport | None:
        """None without a scores file."""
        return contamination_report.report(self.table, self.scores) if self.scores else None

    @cached_property
    def general_notes(self) -> tuple[str, ...]:
        """Notes of the folders, which apply to every table; the page prints them once, without advice on commands."""
        notes = dict.fromkeys(written(note, None) for fact in self.facts for note in fact.notes)
        return tuple(note for note in notes if note)

    def raters_of(self, dataset: str) -> Raters:
        """With whom judges are compared on a dataset: people, or reference labels that no person gave."""
        return Raters.of(self.table, dataset)

    @cached_property
    def raters(self) -> Raters:
        """As `raters_of` for all datasets: labels only if no person rated any."""
        rated = [self.raters_of(matrix.dataset) for matrix in self.matrices if matrix.criteria]
        notes = dict.fromkeys(raters.labels_note for raters in rated)
        return Raters() if None in notes else Raters("; ".join(note for note in notes if note) or None)

    @cached_property
    def has_people(self) -> bool:
        """Whether any story has human ratings or reference labels."""
        return any(matrix.criteria for matrix in self.matrices)

    @cached_property
    def explains(self) -> bool:
        """Whether any answer has an explanation."""
        frame = self.table.frame
        return bool((frame["explanation"].notna() & (frame["source"] == "judge")).any())

    @property
    def named_runs(self) -> str:
        """The RUN arguments as given, for commands on the page."""
        return " ".join(self.runs)

    @cached_property
    def judges(self) -> tuple[str, ...]:
        """Names of the judges with ratings, in order of appearance."""
        return tuple(dict.fromkeys(cell.judge for matrix in self.matrices for cell in matrix.cells))

    @cached_property
    def eval_prompts(self) -> tuple[str, ...]:
        """Names of the Eval-Prompts with ratings, in order of appearance."""
        return tuple(dict.fromkeys(cell.eval_prompt for matrix in self.matrices for cell in matrix.cells))


def _no_ratings() -> RatingsTable:
    stories = pd.DataFrame(columns=["dataset", "story", *STORY_COLUMNS]).set_index(["dataset", "story"])
    return RatingsTable(pd.DataFrame(columns=list(COLUMNS)), stories, ())


def _needs_no_ratings(options: ReportOptions) -> None:
    # Called if all runs are comparisons of two stories.
    asked = {
        "a panel": options.panel is not None,
        "a pass rate": options.pass_rate,
        "an audit": options.audit is not None,
        "contamination": bool(options.contamination),
    }
    for option, wanted in asked.items():
        if wanted:
            raise SpecError(
                f"{option} is about runs that rate stories, and these compare them",
                hint="leave it out, or add such a run",
            )
