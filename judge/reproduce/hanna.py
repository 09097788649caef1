"""The HANNA study (Chhun, Suchanek and Clavel 2024, TACL) reproduced from its released files."""

from __future__ import annotations

from functools import cache, partial

from judge.base.wording import Advice
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import OTHER_FILES
from judge.inputs.datasets.studies.hanna_scores import read_score_file
from judge.reproduce import unavailable
from judge.reproduce.listing import TITLES
from judge.reproduce.published import published
from judge.reproduce.recipe import DIFFERENCES
from judge.reproduce.study import Options, Study
from judge.reproduce.tables import correlation_intervals, correlations, out_of_scale, system_means, user_study, williams
from judge.reproduce.tables.family import Family
from judge.reproduce.tables.scores import Scores


def study(options: Options) -> Study:
    """The study HANNA with its printed cells and the functions that recompute them from the files on this machine.

    Raises DataError if a file is missing; the message names the command that fetches it.
    """
    scores_path = need(OTHER_FILES["hanna_scores"][0], "hanna_scores")
    audit_path = need(OTHER_FILES["hanna_user_study"][0], "hanna_user_study")
    scores = Scores(read_score_file(scores_path))
    printed = published("hanna")
    families = [
        *(_correlations(scores, level, options) for level in correlations.LEVELS),
        williams.family(scores),
        system_means.family(scores),
        user_study.family(user_study.read_user_study(audit_path)),
        out_of_scale.family(scores),
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
        estimates=cache(partial(correlation_intervals.estimates, scores, level, options.resamples, options.seed)),
        remarks=correlations.remarks,
        counted_at=correlations.counted_at,
    )
