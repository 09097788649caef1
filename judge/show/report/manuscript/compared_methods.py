"""Methods sentences about comparisons: which pairs, how they were shown, and which statistics of preferences were
computed.
"""

from __future__ import annotations

from collections.abc import Iterator

from judge.analysis.preference.control import LEAST_PAIRS
from judge.base.references import DATASETS
from judge.ratings.preferences_table import ComparisonFacts
from judge.show.report.inputs import ReportInputs
from judge.show.report.manuscript.phrases import cite, listed

_ORDERS = {
    "both": "each pair in both orders",
    "random": "each pair in one order, drawn at random",
    "as-given": "each pair in the one order in which it was given",
}


def stories(inputs: ReportInputs) -> Iterator[str]:
    """Yield sentences on each dataset's pairs of stories, and on the people whose preferences are the reference."""
    frame, datasets = inputs.preferences_table.frame if inputs.compared else None, {m.dataset for m in inputs.matrices}
    if frame is None:
        return
    for dataset in dict.fromkeys(fact.dataset for fact in inputs.compared_facts):
        part = frame[(frame["dataset"] == dataset) & (frame["source"] == "judge")]
        texts = {*part["first"], *part["second"]}
        systems = {*part["first_system"], *part["second_system"]} - set(inputs.options.drop_systems)
        out = f", without {listed(inputs.options.drop_systems)}" if inputs.options.drop_systems else ""
        keys = next((keys for name, keys in DATASETS.items() if dataset.startswith(name)), ())
        source = f" {cite(*keys)}" if keys and dataset not in datasets else ""
        yield (
            f"The pairs compared are {part['pair'].nunique():,} of the dataset {dataset}{source}, of {len(texts):,} "
            f"stories for {part['story_prompt'].nunique():,} story-prompts by {len(systems)} "
            f"system{'' if len(systems) == 1 else 's'}{out}."
        )
        preferred = frame[(frame["dataset"] == dataset) & (frame["source"] == "rater")]
        people = preferred[preferred["pair"].isin(set(part["pair"]))]
        if len(people):
            raters = people["rater"].nunique()
            who = f"{raters} people" if raters else "people whose identity is not known"
            yield f"They are held against {len(people):,} preferences by {who}."
        elif (frame["source"] == "implied").any():
            yield "People did not compare them: of each pair the story with the higher mean of people's ratings counts."


def shown(fact: ComparisonFacts) -> str:
    """Phrase on the orders in which a judge was shown the pairs, and on whether a tie was offered."""
    tie = "a tie was offered" if fact.ties else "no tie was offered"
    return f"{_ORDERS.get(fact.orders, fact.orders)} ({tie})"


def statistics(inputs: ReportInputs) -> Iterator[str]:
    """Yield sentences on how the answers were parsed, and on every statistic of the page."""
    parsers = listed(list(dict.fromkeys(fact.parser for fact in inputs.compared_facts)))
    yield f"Preferences were read from the answers by parser {parsers}; none was imputed, and a tie is an outcome."
    share = inputs.verdicts.share
    if share is not None:
        lost = "; the others count as missing" if share < 1 else ""
        yield f"Of the requested comparisons, {100 * share:.1f} % have a preference or a tie{lost}."
    yield from _agreement(inputs)
    if any(standing.kind != "implied" for standing in inputs.preferences.systems.standings):
        yield (
            f"Systems' strengths are those of the Bradley-Terry model {cite('bradley-terry-1952-rank')} with ties as "
            f"an outcome of their own {cite('davidson-1970-extending')} and, of judges, an advantage of the first "
            "place, with 95 % intervals from a sandwich variance clustered by story-prompt; where wins do not "
            "connect the systems nothing is estimated. Differences between them are adjusted by Holm's method "
            f"{cite('holm-1979-simple')}."
        )
    if any(row.triads.strict or row.triads.uneven for row in inputs.preferences.transitivity.rows):
        yield f"Transitivity is the share of cyclic triads of stories {cite('kendall-babington-smith-1940-method')}."


def _agreement(inputs: ReportInputs) -> Iterator[str]:
    rows = inputs.preferences.agreement.rows
    if not rows:
        return
    yield (
        "Agreement is the share of pairs, of those of which people prefer one story, whose preferred story is the "
        "judge's too, its own ties counted one half (and, beside it, as wrong), all orders and repeats of a pair taken "
        "together, with 95 % intervals clustered by story-prompt; over all pairs, with ties as an outcome, Cohen's "
        f"kappa {cite('cohen-1960-coefficient')} and AC1 {cite('gwet-2008-computing')}."
    )
    if any(row.kind == "control" and row.agreement.half.defined for row in rows):
        yield (
            "Two rows need no judge: the longer story wins, and a control on surface features of the texts: with "
            f"{LEAST_PAIRS} such pairs a pairwise logistic regression out of fold by story-prompts, with fewer the "
            "regression that is shipped with judge."
        )
