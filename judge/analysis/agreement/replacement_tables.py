"""The alternative annotator test and means of systems as people read them. Never computes a number."""

from __future__ import annotations

from judge.analysis.agreement.alternative_annotator import NULL
from judge.analysis.agreement.null_judges import DEALT, MEAN, MODE, PERMUTED
from judge.analysis.agreement.replacement import Replacement
from judge.analysis.inputs.candidates import first_columns
from judge.analysis.inputs.subject_rows import cells
from judge.printing.tables import Column, Table
from judge.stats.agreement.alt_test import LEVEL, PASS
from judge.stats.estimation.prediction_powered import FEW


def tables(result: Replacement) -> list[Table]:
    """The alt-test, and prediction-powered means of systems."""
    return [_test_table(result), _mean_table(result)]


def _test_table(result: Replacement) -> Table:
    options, rows = result.options, [cells(row) for row in result.tests]
    labelled = any(row.labels for row in result.tests)
    rows = [row | {"advantage_probability": row["advantage"]} for row in rows] if labelled else rows
    columns = [
        *first_columns(rows),
        Column("winning_rate", "winning rate %", digits=0, factor=100),
        Column("passed", "passes"),
        Column("p", "p", digits=3, p="less"),
        Column("clustered_rate", "rate by story-prompt %", digits=0, factor=100),
        Column("clustered_passed", "passes by story-prompt"),
        Column("clustered_p", "p by story-prompt", digits=3, p="less"),
        # The key of tables of numbers is older than labels.
        Column("advantage_probability" if labelled else "advantage", "rho"),
        Column("compared", "people"),
        Column("too_few", "left out"),
        Column("least_stories", "stories, least"),
        Column("most_stories", "most"),
        Column("people_icc", "people's ICC(1,1)"),
        Column("people_equal", "people equal %", digits=0, factor=100),
    ]
    test = (
        "alt-test (Calderon et al. 2025): one person is left out at a time; the judge wins where it lies closer to the "
        f"other people than that person, who may be better by epsilon = {options.epsilon:g} (one-sided t test; "
        f"Benjamini-Yekutieli at {LEVEL:g} over people); it passes with {100 * PASS:.0f} % or more"
    )
    agreed = (
        "where people agree little (ICC near 0) a judge that always gives the middle passes too: read the rate beside "
        "their ICC; people equal %: pairs of people who give a story the same rating"
    )
    rho = "rho: share of stories where the judge lies at least as close, mean over people: compare judges by it"
    clustered = (
        "by story-prompt: the same test with standard errors over story-prompts (t with one degree of freedom less "
        "than story-prompts); believe it where stories share story-prompts, for the published one takes stories as "
        "independent; p: the least level at which the judge would pass"
    )
    same = " or ".join(dict.fromkeys(MODE if row.labels else MEAN for row in result.tests)) or MEAN
    null = (
        f"{same}, {PERMUTED}: judges that know nothing of the stories (one rating for all; people's ratings dealt to "
        f"the stories at random, means of {DEALT} times): a judge that gets no more has shown nothing"
    )
    own = [test, clustered, rho, null, *_null_passes(result), agreed]
    if labelled:
        own.append(
            "closeness of labels: equal ones; a judge's is the label that most of its repeats gave, tied ones none"
        )
    if any(row.measure == "exact" and not row.labels for row in result.tests):
        own.append("closeness: equal ratings, the judge's mean over repeats rounded to whole points")
    return Table("May the judge replace a person?", columns, rows, result.signature, (*result.notes, *own))


def _null_passes(result: Replacement) -> list[str]:
    """Where a judge that knows nothing passes."""
    passed = dict.fromkeys(row.subject.criterion for row in result.tests if row.kind == NULL and row.passed)
    if not passed:
        return []
    return [f"a judge that knows nothing passes on {', '.join(passed)}: there, passing says nothing of a judge"]


def _mean_table(result: Replacement) -> Table:
    options, rows = result.options, [cells(row) for row in result.means]
    lost = any(row.lost for row in result.means)
    columns = [
        *first_columns(rows),
        Column("system", "system"),
        Column("powered", "people + judge"),
        Column("people", "people alone"),
        *([Column("all_people", "all people")] if options.rated else []),
        Column("judge_mean", "judge alone"),
        Column("both", "rated by both"),
        Column("judge_only", "by judge only"),
        *([Column("lost", "not by judge")] if lost else []),
        Column("power", "lambda", digits=3),
        Column("worth", "worth"),
    ]
    powered = (
        "people + judge: prediction-powered mean (PPI++, Angelopoulos et al. 2023), what people would give all stories "
        "if those that they rated were drawn at random"
    )
    weight = "lambda: weight of the judge, 0 = none; worth: how many human ratings one is worth with the judge's help"
    own = [powered, weight]
    if lost:
        own.append(
            "people alone: all their ratings, also of stories that the judge did not rate; in people + judge such a "
            "story counts with the mean of the judge's other ratings, so that what the judge lost biases neither"
        )
    few = sum(0 < row.people.n < FEW for row in result.means)
    if few:
        own.append(
            f"{few} of {len(rows)} rows rest on fewer than {FEW} stories that people rated: intervals too narrow"
        )
    if options.rated:
        own.append(f"people's ratings of all but {options.rated} stories of each system, drawn at random, were hidden")
    title = "Mean ratings of systems, people helped by the judge"
    return Table(title, columns, rows, result.means_signature, (*result.means_notes, *own))
