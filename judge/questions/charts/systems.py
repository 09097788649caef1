"""Chart of systems: mean ratings by people and by judges, with intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from judge.analysis.raters import Raters
from judge.analysis.systems import AVERAGE, Standing
from judge.base.estimate import Estimate
from judge.questions.charts import shared
from judge.questions.charts.forest import Forest, Line, signs
from judge.questions.charts.shared import PEOPLE
from judge.stats import near_ties

_NOT_RATED = Estimate.undefined("not rated on this criterion")


def forest(
    standings: Sequence[Standing],
    *,
    dataset: str,
    short: Mapping[str, str],
    controls: set[str],
    interval: str,
    signature: str,
    raters: Raters | None = None,
) -> Forest:
    """Mean ratings of systems by people and by judges, in the order of the mean human rating or, without, of the first
    judge's mean. `short` abbreviates criteria; `interval` says for the caption how intervals are computed.
    """
    raters = raters or Raters()
    sources = list({id(standing.source): standing.source for standing in standings}.values())
    criteria = tuple(dict.fromkeys(standing.criterion for standing in standings))
    cells = {(id(standing.source), standing.criterion.casefold()): standing for standing in standings}
    judges = [source for source in sources if not source.is_people]
    marks = dict(
        zip((id(source) for source in judges), signs([s.name for s in judges], "judges x Eval-Prompts"), strict=True)
    )
    first = [standing for standing in standings if standing.source is sources[0]][-1]
    order = near_ties.descending([estimate.value for estimate in first.mean])
    systems = sources[0].matrix.systems

    def mean(source: int, criterion: str, s: int) -> Estimate:
        own = cells.get((source, criterion.casefold()))
        return own.mean[s] if own else _NOT_RATED

    lines = tuple(
        Line("", systems[s], tuple(tuple(mean(id(source), name, s) for source in sources) for name in criteria))
        for s in order
    )
    counts = [estimate.n for standing in standings for estimate in standing.mean if estimate.defined]
    size = shared.counted(counts, "stories")
    who = raters.noun if sources[0].is_people else sources[0].name
    return Forest(
        title=f"Mean ratings of {len(systems)} systems, {dataset}",
        panels=tuple("mean" if name == AVERAGE else name for name in criteria),
        short=tuple("mean" if name == AVERAGE else short.get(name, name) for name in criteria),
        lines=lines,
        series=tuple(
            (raters.name, PEOPLE)
            if s.is_people
            else (f"{s.name}, control" if s.judge in controls else s.name, marks[id(s)])
            for s in sources
        ),
        bands=(),
        axis="mean rating, points of the scale",
        caption=f"Mean ratings of {len(systems)} systems, {dataset} ({size} a system); 95 % intervals, {interval}. "
        f"Systems in the order of {who}."
        + shared.undefined([estimate for standing in standings for estimate in standing.mean])
        + raters.sentence,
        signature=signature,
        counted="stories",
        digits=2,
    )
