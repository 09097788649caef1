"""The HANNA study (Chhun, Suchanek and Clavel 2024, TACL) reproduced from its released files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from judge.analysis.options.selection import Selection
from judge.base.estimate import Estimate
from judge.base.wording import Advice
from judge.exchange import released
from judge.exchange.imported_folder import write_folder
from judge.exchange.released import read_scores
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import OTHER_FILES
from judge.inputs.datasets.studies.hanna import ANNOTATORS, CRITERIA, ITEMS, QUESTIONS, read_items, read_score_file
from judge.questions.registry import question
from judge.questions.source import Source
from judge.reproduce import hanna_correlations as correlations
from judge.reproduce import hanna_system_means as system_means
from judge.reproduce.cell import DIFFERENCES, OURS, Cell, Numbers, Place, Recipe, published
from judge.reproduce.hanna_system_means import EVAL_PROMPTS, JUDGES, NAMES, Scores, off_scale
from judge.reproduce.judged import NO_PEOPLE, Judged, changing
from judge.reproduce.study import Family, Options, Study
from judge.stats.agreement import chance_agreement, icc
from judge.stats.estimation import means

AC1, HALF, ERROR_RATE = "user_study_AC1", "user_study_AC1_ci95_halfwidth", "user_study_error_rate"
UNUSED_NAME = "Incorrectness"
UNKNOWN_COUNT = (
    "the study does not say how it counted, and mean, majority, any and all of the released answers give other rates"
)
NO_EXPLANATION = "No Explanation"
RAW_ANSWERS = (
    "the study counts all answers, and the file holds the 100 that were audited; the raw answers give the rate: "
    "judge import FILE --judge NAME, judge run, judge ratings RUN (its column explanation)"
)


@dataclass(frozen=True, slots=True)
class UserStudy:
    """Answers of HANNA's user study; `errors` are 0 and 1, shape (100 explanations, 3 positions). `unused` answers the
    question that the study dropped; NaN where it was not asked."""

    errors: Mapping[str, NDArray[np.float64]]
    unused: NDArray[np.float64]


def read_user_study(path: Path) -> UserStudy:
    """`user_study.csv`. Raises DataError for a file that `hanna_user_study.read_items` refuses."""
    items = read_items(path)
    errors = {name: np.array([item.errors[name] for item in items], dtype=np.float64) for name in QUESTIONS}
    # None becomes NaN: an audit's export does not ask this question.
    return UserStudy(errors, np.array([item.unused for item in items], dtype=np.float64))


def user_study_family(study: UserStudy) -> Family:
    """AC1, half-width of its interval, and error rates."""
    return Family.by_recipe(
        partial(user_study_values, study),
        {AC1: 2, HALF: 2, ERROR_RATE: 2},
        switches=("unrounded",),
        missing=lambda place: RAW_ANSWERS if place[1] == NO_EXPLANATION else None,
        known_cause=lambda place: UNKNOWN_COUNT if place[0] == ERROR_RATE and place[1] in study.errors else None,
        remarks=partial(_hanna_user_study_remarks, study),
    )


def user_study_values(study: UserStudy, recipe: Recipe) -> dict[Place, Estimate | None]:
    """AC1 with a t interval over explanations, the half-width of that interval, and the error rate as a share of 300
    answers, for each error. Intervals of error rates treat explanations as clusters."""
    cells: dict[Place, Estimate | None] = {}
    for name, answers in study.errors.items():
        agreement = chance_agreement.gwet(answers)
        cells[AC1, name, "AC1"] = agreement.estimate
        cells[HALF, name, "AC1"] = Estimate(_half_width(agreement, recipe), n=ITEMS)
        rate = means.clustered(answers.mean(axis=1), np.arange(ITEMS))
        cells[ERROR_RATE, name, "Rate"] = replace(rate, method="95 %, t, clustered by explanation")
    cells[ERROR_RATE, NO_EXPLANATION, "Rate"] = None
    cells[AC1, UNUSED_NAME, "AC1"] = chance_agreement.gwet(study.unused).estimate
    return cells


def _half_width(agreement: chance_agreement.ChanceAgreement, recipe: Recipe) -> float | None:
    # The study's is the rounded upper end minus the rounded AC1.
    if recipe.unrounded:
        error = agreement.standard_error
        return None if error is None else float(stdtrit(ITEMS - 1, 0.975)) * error
    value, high = agreement.estimate.value, agreement.estimate.high
    return None if value is None or high is None else round(high, 2) - round(value, 2)


def _counted(answers: NDArray[np.float64]) -> str:
    """The rate by mean, majority, any, all, and single positions."""
    given = answers.sum(axis=1)
    ways = f"mean {answers.mean():.3f}, majority {(given >= 2).mean():.2f}, any {(given >= 1).mean():.2f}"
    alone = ", ".join(f"{rate:.2f}" for rate in answers.mean(axis=0))
    return f"ways of counting: {ways}, all {(given == ANNOTATORS).mean():.2f}, positions {alone}"


def _hanna_user_study_remarks(study: UserStudy, place: Place) -> tuple[str, ...]:
    if place[0] == ERROR_RATE and place[1] in study.errors:
        return (_counted(study.errors[place[1]]),)
    if place[0] == AC1 and place[1] == UNUSED_NAME:
        return ("every answer to this question is the same",)
    if place[0] != AC1:
        return ()
    # Raw agreement and Fleiss' kappa differ from AC1 where nearly all answers are equal.
    kappa = chance_agreement.fleiss(study.errors[place[1]])
    value = "undefined" if kappa.estimate.value is None else f"{kappa.estimate.value:.2f}"
    return (f"raw agreement {kappa.raw.value:.2f}, Fleiss' kappa {value}",)


# Published cells that the released files cannot give, with reasons and commands that compute such numbers.

HUMAN_ICC, HUMAN_HALF, JUDGE_ICC = "icc2k_human", "icc2k_human_ci95_halfwidth", "icc2k_judge"
LIKERT = "mean_likert_by_eval_prompt"
RATE, AUC, KEYWORDS = "contamination_rate", "contamination_auc", "keywords"
DIGITS: Mapping[str, int] = {HUMAN_ICC: 2, HUMAN_HALF: 2, JUDGE_ICC: 2, LIKERT: 2, RATE: 2, AUC: 1, KEYWORDS: 0}

_RATERS = (
    "ICC(2,k) needs to know who gave which rating, and the score file holds positions; the annotations name the "
    "raters: judge data fetch hanna, judge run on dataset hanna, judge consistency RUN"
)
_RAW_ANSWERS = "judge import FILE --judge NAME, judge run, judge {}"
# Table -> why the released files that this program reads cannot give it, and the command that can, from other data.
REASONS: Mapping[str, str] = {
    HUMAN_ICC: _RATERS,
    HUMAN_HALF: _RATERS,
    JUDGE_ICC: "the study computes it over three answers on each of 1,632 stories, and the score file holds the means "
    "of three on 1,056; the raw answers give it on the 1,056: "
    + _RAW_ANSWERS.format("consistency RUN --set parser=as-published"),
    LIKERT: "the study does not say over which systems it averages, and the eleven of the score file have other means; "
    "the raw answers give the means of HANNA's systems: " + _RAW_ANSWERS.format("systems RUN"),
    RATE: "the study released neither the models' scores of the stories nor the threshold; judge contamination score "
    "and judge contamination report compute the rate of a model that you run",
    AUC: "the study released no model's scores of the BooksMIA texts; judge contamination auc computes the AUC of a "
    "model that you run on such texts",
    KEYWORDS: "the study chose them by hand from the 30 that YAKE extracts for a criterion, and the score file holds "
    "no explanations; the raw answers give the 30: " + _RAW_ANSWERS.format("explain RUN --set as_published=true"),
}

_EVERY_SYSTEM = Recipe(keep_human=True)


def unavailable_cells(scores: Scores) -> Family:
    """Family of all printed cells of HANNA that cannot be computed from the released files."""
    return Family.of(
        partial(unavailable_values, scores), DIGITS, missing=lambda place: REASONS[place[0]], remarks=_remarks
    )


def unavailable_values(scores: Scores) -> dict[Place, tuple[None, Estimate | None]]:
    """None for every such cell, and what HANNA's file allows instead: the one-way ICC of human ratings, and judges'
    means over eleven systems."""
    cells: dict[Place, Estimate] = {}
    for short in NAMES:
        positions = scores.positions(short, _EVERY_SYSTEM)
        cells[HUMAN_ICC, short, "Human"] = icc.family(positions.reshape(3, -1).T)["ICC(1,k)"].estimate
    for judge in ("Beluga-13B", "Llama-13B", "Mistral-7B"):
        for number in EVAL_PROMPTS:
            recipe = Recipe(on_scale=OURS.on_scale, keep_human=True)
            values = np.stack([scores.side(f"{judge} {number}", short, recipe) for short in NAMES])
            defined = values[~np.isnan(values)]
            cells[LIKERT, judge, f"EP {number}"] = Estimate(float(defined.mean()), n=defined.size)
    return {place: (None, cells.get(place)) for place in published("hanna") if place[0] in REASONS}


def _remarks(place: Place) -> tuple[str, ...]:
    if place[0] == HUMAN_ICC:
        return ("corrected: ICC(1,k), the form that does not need to know the raters, eleven systems",)
    if place[0] == LIKERT:
        return ("corrected: the eleven systems of the file, six criteria, means off the scale left out",)
    return ()


# Counts the judges' released mean ratings that lie outside the scale, by judge and Eval-Prompt.

TABLE, ALL_SYSTEMS = "judge_means_off_scale", "judge_means_off_scale_11_systems"
EVERY_JUDGE = (*JUDGES, "OrcaPlatypus")


def off_scale_family(scores: Scores) -> Family:
    """How many of the judges' means lie off the scale: for the ten systems that HANNA correlates, and all eleven."""
    return Family(
        numbers=cache(partial(off_scale_numbers, scores)),
        digits={TABLE: 0, ALL_SYSTEMS: 0},
        switches=("on-scale",),
        remarks=lambda _: ("judges' means below 1 that the file holds as ratings",),
    )


def off_scale_numbers(scores: Scores, recipe: Recipe) -> Numbers:
    """Means off the scale by judge and Eval-Prompt, of 6 criteria x 960 (or, with all systems, 1,056) stories. The
    number is 0 if the recipe does not use such ratings."""
    counts: Numbers = {}
    for table, keep_human in ((TABLE, recipe.keep_human), (ALL_SYSTEMS, True)):
        systems = scores.systems(Recipe(keep_human=keep_human))
        for judge in EVERY_JUDGE:
            for number in EVAL_PROMPTS:
                columns = (scores.column(f"{judge} {short} {number}", systems) for short in CRITERIA.values())
                count = sum(int(np.count_nonzero(off_scale(values))) for values in columns)
                counts[table, judge, f"EP {number}"] = 0.0 if recipe.on_scale else float(count)
    return counts


def study(options: Options) -> Study:
    """The study HANNA on the files of this machine. Raises DataError if one is missing."""
    scores_path = need(OTHER_FILES["hanna_scores"][0], "hanna_scores")
    audit_path = need(OTHER_FILES["hanna_user_study"][0], "hanna_user_study")
    scores = Scores(read_score_file(scores_path))
    families = [
        *(_correlations(scores, level, options) for level in correlations.LEVELS),
        correlations.williams_family(scores),
        system_means.family(scores),
        user_study_family(read_user_study(audit_path)),
        off_scale_family(scores),
        unavailable_cells(scores),
    ]
    return Study(
        name="hanna",
        files={"hanna_scores": scores_path, "hanna_user_study": audit_path},
        families=families,
        switches=tuple(DIFFERENCES),
        out_of_reach={
            "imputed": Advice(
                "the study's ICCs and mean ratings count an answer without a rating as 3, where ours has none; this "
                "needs the raw answers: judge import FILE {judge}, judge run, and then any table with {parser}",
                judge="NAME",
                parser="as-published",
            )
        },
        facts=("drop:Human", "tau:b", "williams:two-sided", "bh:66"),
        judges=partial(judges, scores_path),
    )


def judges(scores: Path, cells: Sequence[Cell]) -> list[Judged]:
    """Each judge of the score file in six answers, those of `judge summary`."""
    found = []
    with TemporaryDirectory() as folder:
        path = write_folder(Path(folder) / "scores", read_scores(scores)).path
        source = Source([path], "ours")
        for judge in released.JUDGES:
            asked = question("summary").ask(source.only(Selection.of((), judge, ())), drop_systems=("Human",))
            said = {str(row["answer"]): row for row in asked.frame.to_dict("records")}
            own = (cell for cell in cells if judge in (cell.row, cell.column.rsplit(" ", 1)[0]))
            found.append(
                Judged(
                    judge,
                    replace=_verdict(said["replace"], NO_PEOPLE),
                    control=_verdict(said["people"], "not known"),
                    consistent="not known: the file holds means of three repeats",
                    prompt=f"{said['prompts']['text'].split(';')[0].rstrip('.')}: {_verdict(said['prompts'], '')}",
                    faults=_verdict(said["wrong"], "not known"),
                    cells=changing(own),
                )
            )
    return found


def _verdict(row: Mapping[Any, Any], otherwise: str) -> str:
    return otherwise if row["verdict"] in (None, "cannot be tested", "not known") else str(row["verdict"])


def _correlations(scores: Scores, level: correlations.Level, options: Options) -> Family:
    return Family(
        numbers=cache(partial(correlations.numbers, scores, level)),
        digits=dict.fromkeys(correlations.table_names(level), 0),
        switches=correlations.SWITCHES,
        estimates=cache(partial(correlations.estimates, scores, level, options.resamples, options.seed)),
        remarks=correlations.remarks,
        counted_at=correlations.counted_at,
    )
