"""For each model, the share of stories that it seems to have seen, and the mean rating of its own stories.

A text counts as seen if its score reaches the threshold in the scores file, chosen on a labelled set scored by the same
model. Without a threshold no rate is given. Some unseen texts reach it too: the report gives their expected share, and
the rate corrected for it (`baseline`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from judge.analysis.inputs.label_criteria import numbers
from judge.analysis.options.signature import signature as signature_of_runs
from judge.base.credentials.providers import JudgeName
from judge.base.errors import SpecError, unknown_value
from judge.base.estimate import Estimate
from judge.base.fingerprint import fingerprint_text
from judge.base.printing.tables import cells_of
from judge.base.wording import Advice, Note, joined
from judge.contamination import thresholds
from judge.contamination.auc import TEMPORAL, Findings, scored_by
from judge.contamination.options import ReportOptions
from judge.contamination.scores_file import ScoresFile
from judge.contamination.thresholds import Threshold, of_score
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.stats.estimation import means
from judge.stats.estimation.proportions import wilson

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable


# Joins contamination scores with the stories of runs, by the hash of the text. Stories without a stored text are
# joined by id.

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


def join(matrix: RatingMatrix, scores: ScoresFile, name: str) -> Floats:
    """The score `name` of each story of a rating matrix (NaN = none), joined by the hash of its text. A story whose
    text is not stored is joined by its id, if the scores were computed on the dataset of the same name."""
    rows = _places(matrix, scores)
    return np.asarray(np.where(rows >= 0, scores.score(name)[rows], np.nan), dtype=np.float64)


def story_prompts(matrices: Sequence[RatingMatrix], scores: ScoresFile) -> Codes:
    """Story-prompt code of each text, shape (texts,); one that is not a story of the matrices gets its own."""
    code = np.arange(len(scores.rows), dtype=np.int64)
    offset = code.size
    for matrix in matrices:
        rows = _places(matrix, scores)
        code[rows[rows >= 0]] = offset + matrix.story_prompt[rows >= 0]
        offset += int(matrix.story_prompt.max(initial=-1)) + 1
    return code


def _places(matrix: RatingMatrix, scores: ScoresFile) -> Codes:
    """Each story's line in the scores file, shape (stories,); -1 = none."""
    by_text = {row.text: i for i, row in enumerate(scores.rows)}
    same_set = scores.header["source"] == matrix.dataset
    by_id = {row.id: i for i, row in enumerate(scores.rows)} if same_set else {}
    rows = np.full(matrix.n, -1, dtype=np.int64)
    for i, (story, text) in enumerate(zip(matrix.stories["story"], matrix.stories["text"], strict=True)):
        rows[i] = by_text.get(fingerprint_text(text), -1) if text else by_id.get(str(story), -1)
    return rows


def refuse_strangers(scores: ScoresFile, matrices: Sequence[RatingMatrix]) -> None:
    """Raise SpecError if no scored text is a story of the runs."""
    if all((_places(matrix, scores) < 0).all() for matrix in matrices):
        raise SpecError(
            f"none of the {len(scores.rows)} texts of {scores.header['source']} is a story of these runs",
            hint=Advice("score the runs' own dataset: judge contamination score DATASET {model} ..."),
        )


def same_name(model: str, name: str) -> bool:
    """Whether one name contains the other, ignoring provider, punctuation and case; under four letters never match."""
    ours, theirs = letters(JudgeName.of(model).model), letters(name.rpartition("/")[2])
    # Shorter names, such as "m" or "gpt", are part of too many others.
    return min(len(ours), len(theirs)) > 3 and (ours in theirs or theirs in ours)


def letters(name: str) -> str:
    """Letters a-z and digits of a name, in lower case."""
    return re.sub(r"[^a-z0-9]", "", name.casefold())


NO_THRESHOLD = Note(
    "undefined without a threshold, which a labelled set gives",
    Advice("judge contamination check RUN {labelled}", labelled="FILE"),
    joint=": ",
)
NO_SET = "undefined: the threshold was given as a number, not chosen on a labelled set"
NO_OWN = Note(
    "undefined: no system of these runs is this model's own",
    Advice("name it: {own_systems}", own_systems="MODEL=SYSTEM"),
)


@dataclass(frozen=True, slots=True)
class ModelFound:
    """Result for one model. `rate` is the share of stories at or above the threshold, `unseen` the share of unseen
    texts expected there, and `corrected` is `rate` corrected for error rates. `undefined` counts stories without the
    score. `own` are systems that are this model; `people` and `judges` are mean ratings of their stories."""

    model: str
    set: str
    rate: Estimate
    unseen: Estimate
    corrected: Estimate
    stories: int
    undefined: int
    threshold: Threshold | None
    auc: Estimate
    own: tuple[str, ...]
    people: Estimate
    judges: Estimate

    @property
    def cells(self) -> dict[str, Any]:
        chosen = self.threshold
        return {
            **cells_of(self, "model", "set", "rate", "unseen", "corrected", "stories", "undefined"),
            "threshold": None if chosen is None else chosen.value,
            "rule": None if chosen is None else chosen.rule,
            "auc": self.auc,
            "labelled": None if chosen is None or chosen.labelled is None else chosen.labelled.name,
            "own": ", ".join(self.own) or None,
            **cells_of(self, "people", "judges"),
        }


@dataclass(frozen=True, eq=False, kw_only=True)
class ContaminationReport(Findings[ModelFound]):
    """Share of seen stories and ratings of the model's own, one row for each scores file."""

    options: ReportOptions


def report(
    runs: RatingsTable, files: Sequence[ScoresFile], options: ReportOptions | None = None
) -> ContaminationReport:
    """Share of seen stories, AUC, and mean rating of the model's own stories, for each scores file."""
    options = options or ReportOptions()
    runs = numbers(runs)
    matrices = build(runs)
    rows = tuple(_row(scores, matrices, options) for scores in files)
    extra = [f"score:{options.score}", "seen:wilson", "corrected:lang-reiczigel-inputs"]
    extra += ["auc:labelled-set", "own:clustered"]
    extra += [f"of:{','.join(options.systems)}"] if options.systems else []
    extra += [scored_by(scores) for scores in files]
    line = signature_of_runs(runs, matrices, extra=extra)
    return ContaminationReport(options=options, rows=rows, signature=line, notes=tuple(_notes(files, rows)))


def _row(scores: ScoresFile, matrices: Sequence[RatingMatrix], options: ReportOptions) -> ModelFound:
    systems = {row.system for row in scores.rows if row.system}
    for name in options.systems:
        if name not in systems:
            raise unknown_value("systems", name, systems)
    chosen = np.array([not options.systems or row.system in options.systems for row in scores.rows], dtype=np.bool_)
    values = scores.score(options.score)[chosen]
    usable = values[~np.isnan(values)]
    threshold = of_score(scores, options.score)
    refuse_strangers(scores, matrices)
    prompts = story_prompts(matrices, scores)[chosen][~np.isnan(values)]
    if threshold is None:
        why = scores.header["without_threshold"].get(options.score)
        rate = area = unseen = share = Estimate.undefined(joined("undefined: ", why) if why else NO_THRESHOLD)
    else:
        called = usable >= threshold.value
        rate = wilson(float(called.sum()), usable.size)
        area = unseen = share = Estimate.undefined(NO_SET)
        if (labelled := threshold.labelled) is not None:
            area, unseen = labelled.auc, thresholds.of_unseen(labelled.expected, labelled.texts - labelled.seen)
            share = thresholds.corrected(called, prompts, labelled.expected)
    own = _own(scores.judge, matrices, options.own)
    return ModelFound(
        model=scores.judge,
        set=scores.header["source"] + (f" ({', '.join(options.systems)})" if options.systems else ""),
        rate=rate,
        unseen=unseen,
        corrected=share,
        stories=int(usable.size),
        undefined=int(np.isnan(values).sum()),
        threshold=threshold,
        auc=area,
        own=tuple(own),
        people=_mean_of_own(matrices, own, people=True),
        judges=_mean_of_own(matrices, own, people=False),
    )


def _own(model: str, matrices: Sequence[RatingMatrix], named: Sequence[tuple[str, str]]) -> list[str]:
    """Systems assigned in `named`, else those whose name is in the model's; SpecError for an unknown one."""
    systems = list(dict.fromkeys(name for matrix in matrices for name in matrix.systems))
    for _, system in named:
        if system not in systems:
            raise unknown_value("own_systems", system, systems)
    mine = [system for name, system in named if name in (model, JudgeName.of(model).model)]
    plain = letters(model)
    # Shorter names are part of too many models' names to say whose stories they are.
    return mine or [name for name in systems if len(letters(name)) > 3 and letters(name) in plain]


def _mean_of_own(matrices: Sequence[RatingMatrix], own: Sequence[str], *, people: bool) -> Estimate:
    if not own:
        return Estimate.undefined(NO_OWN)
    # A story's ratings are first averaged over criteria (and judges); story-prompts are clusters.
    values: list[Floats] = []
    prompts: list[NDArray[np.int64]] = []
    offset = 0
    for matrix in matrices:
        mine = np.isin(matrix.system, [matrix.systems.index(name) for name in own if name in matrix.systems])
        ratings = (matrix.people if people else matrix.judge)[:, mine]
        count = (~np.isnan(ratings)).sum(axis=0)
        total = np.where(np.isnan(ratings), 0.0, ratings).sum(axis=0)
        values.append(np.where(count > 0, total / np.maximum(count, 1), np.nan))
        prompts.append(matrix.story_prompt[mine] + offset)
        offset += int(matrix.story_prompt.max(initial=-1)) + 1
    if not values:
        return Estimate.undefined("no rating")
    return means.clustered(np.concatenate(values), np.concatenate(prompts))


def _notes(files: Sequence[ScoresFile], rows: Sequence[ModelFound]) -> list[str]:
    notes = ["seems seen: score at or above the threshold, with Wilson's interval for independent stories"]
    labelled = any(row.threshold is not None and row.threshold.labelled is not None for row in rows)
    if labelled:
        notes.append(
            "of unseen texts: share of unseen texts like the labelled set's that is expected at or above the "
            "threshold, its choice on that set allowed for; it is what a model that saw none of the stories shows"
        )
        notes.append(
            "seen, corrected: the rate with the threshold's misses and false alarms taken out (Rogan & Gladen 1978; "
            "interval by Lang & Reiczigel 2014, with the errors of both sets, story-prompts and books as clusters); "
            "where it holds 0, nothing shows that any story was seen, whatever the rate"
        )
        notes.append("both take unseen stories to score as the labelled set's unseen texts do")
    if labelled:
        notes.append("AUC: of the labelled set the threshold was chosen on; " + TEMPORAL)
    if any(row.own for row in rows):
        notes.append(
            "own stories: mean over criteria, and for judges over judges and Eval-Prompts, story-prompts as units"
        )
    for scores in files:
        if scores.truncated:
            notes.append(
                f"{scores.judge}: {scores.truncated} of {len(scores.rows)} texts were cut to "
                f"{scores.facts.context} tokens"
            )
    return notes
