"""The HANNA study (Chhun, Suchanek and Clavel 2024, TACL) reproduced from its released files."""

from __future__ import annotations

from functools import cache, partial

import numpy as np

from judge.base.wording import Advice
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import OTHER_FILES
from judge.inputs.datasets.studies.hanna_files import CRITERIA, read_score_file
from judge.reproduce import unavailable
from judge.reproduce.cell import DIFFERENCES, Numbers, Recipe, published
from judge.reproduce.listing import TITLES
from judge.reproduce.study import Options, Study
from judge.reproduce.tables import correlations, system_means, user_study, williams
from judge.reproduce.tables.family import Family
from judge.reproduce.tables.system_means import EVAL_PROMPTS, JUDGES, Scores, off_scale

# Counts the judges' released mean ratings that lie outside the scale, by judge and Eval-Prompt.

TABLE, ALL_SYSTEMS = "judge_means_off_scale", "judge_means_off_scale_11_systems"
EVERY_JUDGE = (*JUDGES, "OrcaPlatypus")


def family(scores: Scores) -> Family:
    """How many of the judges' means lie off the scale: for the ten systems that HANNA correlates, and all eleven."""
    return Family(
        numbers=cache(partial(numbers, scores)),
        digits={TABLE: 0, ALL_SYSTEMS: 0},
        switches=("on-scale",),
        remarks=lambda _: ("judges' means below 1 that the file holds as ratings",),
    )


def numbers(scores: Scores, recipe: Recipe) -> Numbers:
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
    printed = published("hanna")
    families = [
        *(_correlations(scores, level, options) for level in correlations.LEVELS),
        williams.family(scores),
        system_means.family(scores),
        user_study.family(user_study.read_user_study(audit_path)),
        family(scores),
        unavailable.family(scores, printed),
    ]
    return Study(
        name="hanna",
        title=TITLES["hanna"],
        files={"hanna_scores": scores_path, "hanna_user_study": audit_path},
        printed=printed,
        families=families,
        switches=tuple(DIFFERENCES),
        out_of_reach={
            "imputed": Advice(
                "the study's ICCs and mean ratings count an answer without a rating as 3, where ours has none; this "
                "needs the raw answers: judge import FILE {judge}, judge run, and then any table with "
                "{parser}",
                judge="NAME",
                parser="as-published",
            )
        },
        facts=("drop:Human", "tau:b", "williams:two-sided", "bh:66"),
    )


def _correlations(scores: Scores, level: correlations.Level, options: Options) -> Family:
    return Family(
        numbers=cache(partial(correlations.numbers, scores, level)),
        digits=dict.fromkeys(correlations.table_names(level), 0),
        switches=correlations.SWITCHES,
        estimates=cache(partial(correlations.estimates, scores, level, options.resamples, options.seed)),
        remarks=correlations.remarks,
        counted_at=correlations.counted_at,
    )
