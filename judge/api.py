"""Python interface for notebooks: opens datasets, runs and audits, and gives results as frames and tables."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from judge.questions import registry
from judge.questions.answer import Answer
from judge.questions.question import method
from judge.questions.source import Source

if TYPE_CHECKING:
    import pandas as pd

    from judge.asking.execution.session import Sitting
    from judge.asking.run_folder import ResultFolder
    from judge.explanations.audit.printed import OpenedAudit
    from judge.explanations.mapping.explanation_map import ExplanationMap
    from judge.explanations.topics.results import ReasonResults
    from judge.inputs.datasets import Dataset
    from judge.ratings.ratings_table import RatingsTable

__all__ = ["Answer", "LoadedDataset", "OpenedRun", "load_dataset", "open_audit", "open_run", "run"]


# A dataset for notebooks: its stories, human ratings and preferences as pandas frames.


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


# Progress of one result folder as plain values.


def status_row(folder: ResultFolder) -> dict[str, Any]:
    """Progress of a result folder: answers received and planned, failures by cause, tokens, cost in dollars, hours. It
    can be read while the run goes on.
    """
    from judge.answers.journal import JournalReader
    from judge.answers.journal.spending import queries_of
    from judge.asking.in_force.words import mark, stored
    from judge.asking.run_folder import folder_cost, read_manifest
    from judge.exchange.batch.ledger import in_flight_note

    manifest = read_manifest(folder.manifest)
    cost = folder_cost(folder)
    row: dict[str, Any] = {"run": manifest.get("run", folder.path.parent.name), "judge": manifest.get("judge", "?")}
    row |= {"cost": cost.dollars, "cost_basis": cost.basis}
    if not folder.journal.is_file():
        return row | dict.fromkeys(("first_request", "last_commit"), None) | {"causes": "imported"}
    with JournalReader(folder.journal) as journal:
        totals = journal.totals()
        definition = journal.meta().get("definition")
        subjects = journal.subject_count()
    force = manifest.get("in_force", {})
    planned = None
    if definition is not None:
        repeats = force.get("repeats", 1)
        planned = subjects * queries_of(definition) * repeats
    sums = manifest.get("totals") or {}
    return row | {
        "answered": totals.answered,
        "planned": planned,
        "failed": sum(totals.failed.values()),
        "causes": ", ".join(f"{count} {kind}" for kind, count in totals.failed.items()) or None,
        "batches": in_flight_note(folder),
        "attempts": totals.attempts,
        "prompt_tokens": totals.prompt_tokens,
        "cached_tokens": totals.cached_tokens,
        "cache_write_tokens": totals.cache_write_tokens,
        "completion_tokens": totals.completion_tokens,
        "settings": mark(stored(manifest)) or None,
        "reasoning_tokens": totals.reasoning_tokens,
        "hours": sums.get("hours"),
        "first_request": totals.first_request,
        "last_commit": totals.last_commit,
    }


# Executes a run definition from Python, as `judge run` does from the command line.


def run_all(definition: Path, overrides: Mapping[str, object], limit: int | None, *, quiet: bool) -> list[Path]:
    """Run every judge of a run definition until nothing is left to request, and return the paths of the result folders.

    `overrides` holds values that replace those of the definition, by key. Only the first `limit` stories or pairs are
    judged (None: all). With `quiet` no progress is displayed.
    """
    from judge.asking.execution.session import Sitting
    from judge.asking.run_definition.spec import load_run_specs
    from judge.asking.run_folder.layout import definition_of, folder_for

    path = definition_of(definition)
    words = [
        f"{key}={value if isinstance(value, str) else orjson.dumps(value).decode()}" for key, value in overrides.items()
    ]
    specs = load_run_specs(path, words, [])
    sittings = [
        Sitting(spec, path.parent, folder_for(path, spec.name, spec.judge, spec.revision), limit=limit, quiet=quiet)
        for spec in specs.asked
    ]
    _in_thread(sittings, specs.max_cost)
    return [sitting.result.path for sitting in sittings]


def _in_thread(sittings: Sequence[Sitting], max_cost: float | None) -> None:
    """Execute the runs `sittings` in a separate thread, because the main thread of a notebook already has a running
    event loop. `max_cost` is the cost limit in dollars for all of them together (None: no limit).
    """
    failed: list[BaseException] = []

    def work() -> None:
        try:
            _sit(sittings, max_cost)
        except BaseException as error:  # noqa: BLE001  it is raised again by who waits
            failed.append(error)

    thread = threading.Thread(target=work, name="judge.run")
    thread.start()
    thread.join()
    if failed:
        raise failed[0]


def _sit(sittings: Sequence[Sitting], max_cost: float | None) -> None:
    from judge.asking.execution.session import sit, sit_side_by_side
    from judge.base.errors import JudgeError

    if len(sittings) == 1:
        ended = sit(sittings[0])
        if ended.totals.answered == 0 and ended.missing:
            raise ended.outcomes.cause or JudgeError(ended.outcomes.stopped or "nothing was answered")
        return
    failed = [
        sitting.error for sitting in sit_side_by_side(list(sittings), max_cost=max_cost) if sitting.error is not None
    ]
    if len(failed) == len(sittings):
        raise failed[0]


# One name or several: a string is one name, never its letters.
Names = str | Sequence[str]


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
        from judge.analysis.options.selection import Selection

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

        from judge.asking.run_folder.layout import ResultFolder

        return pd.DataFrame([status_row(ResultFolder(path)) for path in self.folders])

    def explain(self, **options: Any) -> ExplanationMap:
        """Map of the explanations, which are embedded, placed on a plane and clustered; its `.frame` has `cluster, x,
        y`. Options are the fields of `ExplainOptions`.

        `judge.explanations.results.results` computes from the returned map the tables that `judge explain` prints.
        """
        from judge.explanations.corpus.corpus import of_table
        from judge.explanations.mapping.explanation_map import map_explanations
        from judge.explanations.options import ExplainOptions

        return map_explanations(of_table(self.table), _options(ExplainOptions, **options))

    def reasons(self, **options: Any) -> ReasonResults:
        """Topics of the reasons in the explanations, with their ratings and where judge and people part; its `.frame`
        has a row for each topic. Options: `count` of topics, `themes`, `seed`, `name_by` (a judge, such as
        ``openai/gpt-4o-mini``, names each topic after ten of its texts).
        """
        from judge.explanations.corpus.corpus import of_table
        from judge.explanations.topics.reasons import reasons
        from judge.explanations.topics.results import reason_results

        texts = of_table(self.table)
        return reason_results(texts, reasons(texts, **options))

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

    return OpenedRun(run_all(Path(definition), overrides or {}, limit, quiet=quiet), parser)


def register_plan(
    run: Path | str,
    *,
    judge: str | None = None,
    eval_prompt: str | None = None,
    margin: float = 0.1,
    epsilon: float = 0.1,
    drop_systems: Sequence[str] = (),
) -> Path:
    """Write a run's plan to `plan.json` beside its run.yaml, with the date, before its answers are looked at.

    `judge` and `eval_prompt` name the row that is to be reported (None: the highest of all), `margin`, `epsilon` and
    `drop_systems` are options of `summary`. Summary, report and certificate then say what was changed. Returns the
    file. Raises RunFolderError where there is a plan already, and SpecError for a row that the run does not ask for.
    """
    from datetime import UTC, datetime

    from judge.asking.execution.registration import register

    now = datetime.now(UTC)
    return register(
        Path(run),
        judge=judge,
        eval_prompt=eval_prompt,
        margin=margin,
        epsilon=epsilon,
        drop_systems=drop_systems,
        now=now,
    )


def open_run(*runs: Path | str, parser: str = "ours") -> OpenedRun:
    """The results of runs, given as run.yaml files, their folders, or result folders.

    `parser` reads the judges' answers: ``ours`` or ``as-published``.
    """
    return OpenedRun(runs, parser)


def open_audit(path: Path | str) -> OpenedAudit:
    """Open an audit of explanations (created by `judge audit sample`) to read its items, answers and tables."""
    from judge.explanations.audit.printed import OpenedAudit

    return OpenedAudit(path)


def _options(kind: Any, **words: Any) -> Any:
    from judge.analysis.options.table_options import from_words

    return from_words(kind, **words)
