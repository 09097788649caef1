"""Computes selectivity: whether a judge notices a perturbation more often on the criteria that it aims at than on the
other criteria (Hu et al. 2024).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from judge.analysis.stress.pairing import Changed, Pairing
from judge.analysis.stress.rated import Rated
from judge.analysis.stress.result import Selectivity
from judge.base.estimate import Estimate
from judge.stats.estimation import means
from judge.stats.ordering.detection import credit, detection


def selectivity(group: Sequence[Rated], pairs: Pairing) -> Iterator[Selectivity]:
    """Yield the selectivity of one judge with one Eval-Prompt, for each perturbation that should be noticed, at its
    highest strength.

    Selectivity is the mean detection on the criteria that the perturbation aims at, minus the mean detection on the
    other criteria. `group` holds the judge's ratings, one entry for each criterion. Nothing is yielded for fewer than
    two criteria.
    """
    if len(group) < 2:
        return
    highest = {changed.facts.name: changed for changed in pairs.changed}
    for changed in highest.values():
        if changed.facts.test == "discrimination":
            yield _of_judge(group, pairs, changed)


def _of_judge(group: Sequence[Rated], pairs: Pairing, changed: Changed) -> Selectivity:
    there = changed.story >= 0
    before, after, prompt = pairs.untouched[there], changed.story[there], pairs.prompt[there]
    gaps = {rated.subject.criterion: rated.merit[before] - rated.merit[after] for rated in group}
    shares = {name: detection(gap, prompt).estimate for name, gap in gaps.items()}
    aimed = tuple(name for name in gaps if name.casefold() in changed.facts.aims)
    others = [name for name in gaps if name not in aimed]
    subject = replace(group[0].subject, criterion="all criteria")
    if not aimed or not others:
        why = "no criterion that it aims at was asked about" if others else "every criterion asked about is aimed at"
        return Selectivity(subject, changed.facts, changed.strength, shares, aimed, Estimate.undefined(why))
    won = {name: credit(gap) for name, gap in gaps.items()}
    difference = np.mean([won[name] for name in aimed], axis=0) - np.mean([won[name] for name in others], axis=0)
    defined = ~np.isnan(difference)
    if not defined.any():
        nothing = Estimate.undefined("no pair is rated on all criteria")
        return Selectivity(subject, changed.facts, changed.strength, shares, aimed, nothing)
    codes = np.unique(prompt[defined], return_inverse=True)[1].reshape(-1)
    estimate = means.clustered(difference[defined], codes, bounds=means.OF_SHARES)
    return Selectivity(subject, changed.facts, changed.strength, shares, aimed, estimate)
