"""Charts of estimates with intervals, one for each analysis whose results are a point with its interval."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from judge.analysis.comparison import tables
from judge.analysis.inputs.bars import CEILING, CONTROL, JUDGE
from judge.analysis.inputs.candidates import Subject
from judge.analysis.raters import Raters
from judge.analysis.reliability.consistency import Consistency, ConsistentCell
from judge.analysis.stress.result import Paired, Stress
from judge.analysis.systems import AVERAGE, Standing
from judge.base.estimate import Estimate
from judge.explanations.audit.report import AuditReport, ErrorFound
from judge.questions.charts import shared
from judge.questions.charts.forest import Band, Forest, Line, signs
from judge.questions.charts.heatmap import NAMES
from judge.stats import near_ties

if TYPE_CHECKING:
    from judge.analysis.agreement.correlation_grid import Layout, LayoutRow
    from judge.analysis.comparison.result import Comparison


def correlations(grid: Layout, raters: Raters | None = None) -> Forest:
    """Forest chart of a correlation grid; without one more person where no reader gave the reference labels."""
    raters = raters or Raters()
    several = len(grid.criteria) > 1
    bands = tuple(
        Band(NAMES[kind], _cells(row, several=several), hatched=kind == CONTROL)
        for kind in (CEILING, CONTROL)
        for row in grid.rows
        if row.kind == kind and not (kind == CEILING and raters.labels_note)
    )
    return Forest(
        title=f"{grid.statistic} ×100 with {raters.noun}, with 95 % intervals, {grid.where}, {grid.dataset}",
        panels=(*grid.criteria, *(("mean",) if several else ())),
        short=(*grid.short, *(("mean",) if several else ())),
        lines=tuple(
            Line(
                row.name_and_run,
                row.eval_prompt or "",
                tuple((estimate,) for estimate in _cells(row, several=several)),
                _sign(row),
            )
            for row in grid.rows
            if row.kind == JUDGE
        ),
        series=(("judge", shared.JUDGE),),
        bands=bands,
        axis=f"{grid.statistic} ×100",
        caption=_correlations_caption(grid, bands, raters),
        signature=grid.signature,
        factor=100,
        counted=grid.unit,
        from_zero=True,
    )


def _cells(row: LayoutRow, *, several: bool) -> tuple[Estimate, ...]:
    return (*row.cells, row.mean) if several else row.cells


def _sign(row: LayoutRow) -> shared.Sign | None:
    return shared.CONTROL if row.is_control else None


def _correlations_caption(grid: Layout, bands: tuple[Band, ...], raters: Raters) -> str:
    judged = [row for row in grid.rows if row.kind == JUDGE]
    counts = [cell.n for row in judged for cell in row.cells if cell.defined]
    systems = "" if grid.unit == "systems" else f", {grid.systems} systems"
    size = shared.counted(counts, grid.unit)
    text = f"{grid.statistic} with {raters.noun}, {grid.where}, {grid.dataset} ({size}{systems}); 95 % intervals."
    for band in bands:
        reasons = list(
            dict.fromkeys(estimate.reason for estimate in band.estimates if not estimate.defined and estimate.reason)
        )
        if reasons and not band.defined:
            text += f" {reasons[0][:1].upper()}{reasons[0][1:]}."
    if any(_sign(row) for row in judged):
        text += " Squares: a control, no language model."
    if any(not band.hatched and band.defined for band in bands):
        text += " One more person: against the mean of the others; judges: against the mean of all."
    text += f" {grid.other_names}" if grid.other_names else ""
    text += grid.apart
    if any(band.hatched and band.defined for band in bands):
        text += f" The control's line: {grid.control}."
    return text + shared.undefined([cell for row in judged for cell in row.cells]) + raters.sentence


_CHANCE = 0.5


def detections(stress: Stress, dataset: str, *, signature: str = "") -> Forest:
    """How often each perturbation is detected at its highest strength, with a sign for each judge and Eval-Prompt, and
    a panel for each criterion. Detection is the share of pairs in which the untouched story is rated higher.
    `signature` is empty next to tables of the same numbers, which show it.
    """
    strongest = _strongest([row for row in stress.rows if row.subject.dataset == dataset])
    named = list(dict.fromkeys(_named(row.subject) for row in strongest))
    criteria = tuple(dict.fromkeys(row.subject.criterion for row in strongest))
    series = tuple(zip(named, signs(named, "judges with their Eval-Prompts"), strict=True))
    shown: dict[tuple[str, str, str], Estimate] = {
        (row.facts.name, row.subject.criterion, _named(row.subject)): row.detection.estimate for row in strongest
    }
    lines = tuple(
        Line(test, name, tuple(tuple(shown.get((name, criterion, who)) for who in named) for criterion in criteria))
        for name, test in {row.facts.name: row.facts.test for row in strongest}.items()
    )
    return Forest(
        title=f"Detection of perturbed stories, {dataset}",
        panels=criteria,
        short=tuple(stress.abbreviations.get(criterion, criterion) for criterion in criteria),
        lines=lines,
        series=series,
        bands=_bands(stress, dataset, criteria),
        axis="detection",
        caption=(
            f"Share of pairs in which the untouched story is rated higher{_of_measures(strongest)}, ties one half, "
            "with 95 % intervals clustered by story-prompt; each perturbation at its highest strength. A judge that "
            "should notice the change lies to the right of one half, a judge that should not react lies at one half"
            f"{_of_attacks(strongest)}."
        ),
        signature=signature,
        counted="pairs",
        digits=2,
    )


def _strongest(rows: list[Paired]) -> list[Paired]:
    highest: dict[str, int] = {}
    for row in rows:
        highest[row.facts.name] = max(row.strength, highest.get(row.facts.name, 0))
    return [row for row in rows if row.strength == highest[row.facts.name]]


def _of_measures(rows: list[Paired]) -> str:
    return " (of measures: has the better value)" if any(row.measured for row in rows) else ""


def _of_attacks(rows: list[Paired]) -> str:
    return "; where an attack works, it lies to the left" if any(row.facts.test == "attack" for row in rows) else ""


def _named(subject: Subject) -> str:
    return "control" if subject.kind == CONTROL else f"{subject.judge} {subject.eval_prompt or ''}".removesuffix(" -")


def _bands(stress: Stress, dataset: str, criteria: tuple[str, ...]) -> tuple[Band, ...]:
    """Detection between repeats of untouched stories if exactly one judge has them, else one half (chance)."""
    nulls = [null for null in stress.nulls if null.subject.dataset == dataset and null.detection.estimate.defined]
    if len({_named(null.subject) for null in nulls}) == 1:
        by_criterion = {null.subject.criterion: null.detection.estimate for null in nulls}
        none = Estimate.undefined("no repeats")
        return (
            Band("criterion: untouched repeats", tuple(by_criterion.get(criterion, none) for criterion in criteria)),
        )
    return (Band("one half: chance", tuple(Estimate(_CHANCE, n=0) for _ in criteria)),)


_SHARES = {"mean": "mean", "majority": "majority", "any": "any", "final": "adjudicated"}
_HOW = {
    "mean": "mean: share of an item's annotators",
    "majority": "majority: more than half of them",
    "any": "any: one or more",
    "final": "adjudicated: as settled",
}


def audited_errors(report: AuditReport) -> Forest:
    """Rates of each error in each way of counting, and agreement between annotators (AC1)."""
    annotators = len(report.answered.annotators)
    shares = [key for key in _SHARES if key != "final" or report.answered.settled]
    names = (*(_SHARES[key] for key in shares), "AC1")
    lines = tuple(
        Line(
            "",
            error.category.label,
            tuple((number,) for number in [*_rates(error, shares), error.agreement.ac1.estimate]),
        )
        for error in report.errors
    )
    counts = [
        rate.n for line in lines for cell in line.cells[:-1] for rate in cell if rate is not None and rate.defined
    ]
    pairs = [error.agreement.ac1.estimate.n for error in report.errors if error.agreement.ac1.estimate.defined]
    caption = (
        f"Errors in explanations as {annotators} annotators saw them ({shared.counted(counts, 'explanations')}), in %: "
        f"{'; '.join(_HOW[key] for key in shares)}. AC1: their agreement beyond chance, in hundredths "
        f"({shared.counted(pairs, 'explanations')} with two annotators or more). 95 % intervals."
    )
    cells = [estimate for line in lines for cell in line.cells for estimate in cell if estimate is not None]
    return Forest(
        title="Errors in explanations, and annotators' agreement",
        panels=names,
        short=names,
        lines=lines,
        series=(("annotators", shared.JUDGE),),
        bands=(),
        axis=(*("% of explanations" for _ in shares), "AC1 ×100"),
        caption=caption + shared.undefined(cells),
        signature=report.rates_signature,
        factor=100,
        counted="explanations",
    )


def _rates(error: ErrorFound, shares: Sequence[str]) -> list[Estimate]:
    return [getattr(error.rates, key) for key in shares]


_PANELS = (("tau", "story-prompts"), ("tau_both", "systems too"))


def contrasts(
    comparison: Comparison, named: str, *, resamples: int, raters: Raters | None = None, signature: str = ""
) -> Forest:
    """Differences in tau-b with people (second minus first, mean over criteria), each with the interval over
    story-prompts and that over systems too. `named` says what is compared, for example Eval-Prompts. `signature` is
    empty next to tables of the same numbers, which show it.
    """
    raters = raters or Raters()
    panels = tuple(name for _, name in _PANELS)
    return Forest(
        title=f"Differences of tau-b ×100 with {raters.noun}, mean over criteria: {named}",
        panels=panels,
        short=panels,
        lines=tuple(
            Line(
                tables.shared_name(entry, comparison),
                tables.contrast_name(entry),
                tuple((entry.means[key],) for key, _ in _PANELS),
            )
            for entry in comparison.entries
        ),
        series=(("difference", shared.JUDGE),),
        bands=(),
        axis="tau-b ×100, second − first",
        caption=_contrasts_caption(comparison, resamples),
        signature=signature,
        factor=100,
        from_zero=True,
    )


def _contrasts_caption(comparison: Comparison, resamples: int) -> str:
    outcomes: list[Any] = [outcome for _, outcome in comparison.outcomes()]
    counted = shared.counted([contrast.stories for contrast in outcomes], "stories a contrast and criterion")
    return (
        f"Second minus first, mean over criteria, with 95 % intervals from {resamples} resamples: left of "
        f"story-prompts, right of systems as well (calibrated); {counted}."
    )


_NOT_RATED = Estimate.undefined("not rated on this criterion")


def system_means(
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
            (raters.name, shared.PEOPLE)
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


_NOT_THERE = Estimate.undefined("not requested on this criterion")
_NOBODY = Estimate.undefined("no two people's ratings of the same stories are known")


def repeats(
    result: Consistency,
    form: str,
    *,
    dataset: str,
    short: Mapping[str, str],
    controls: set[str],
    signature: str,
    raters: Raters | None = None,
) -> Forest:
    """Forest chart of one coefficient (`form`) for each judge, Eval-Prompt and criterion; the run is named where a
    judge has several. `short` abbreviates criteria.
    """
    raters = raters or Raters()
    judged = result.judged
    people = [cell for cell in result.cells if cell.is_people]
    criteria = tuple(dict.fromkeys(cell.criterion for cell in judged or people))
    several = len({cell.run for cell in judged}) > len({cell.judge for cell in judged})
    rows: dict[tuple[str, str, str], dict[str, Estimate]] = {}
    for cell in judged:
        name = f"{cell.judge} ({cell.run})" if several else cell.judge
        rows.setdefault((name, str(cell.eval_prompt), cell.judge), {})[cell.criterion] = _of(cell, form)
    lines = tuple(
        Line(
            name,
            eval_prompt,
            tuple((own.get(criterion, _NOT_THERE),) for criterion in criteria),
            shared.CONTROL if judge in controls else None,
        )
        for (name, eval_prompt, judge), own in rows.items()
    )
    theirs = {cell.criterion.casefold(): _of(cell, form) for cell in people}
    of_raters = " (judges) and of raters (people)" if any(cell.has_agreement for cell in people) else ""
    band = Band("people, with each other", tuple(theirs.get(name.casefold(), _NOBODY) for name in criteria))
    return Forest(
        title=f"{form} of repeats{of_raters}, with 95 % intervals",
        panels=criteria,
        short=tuple(short.get(name, name) for name in criteria),
        lines=lines,
        series=(("judge", shared.JUDGE),),
        bands=() if raters.labels_note else (band,),
        axis=form,
        caption=_caption(form, dataset, judged, people, lines, band, raters),
        signature=signature,
        digits=2,
        from_zero=True,
    )


def _of(cell: ConsistentCell, form: str) -> Estimate:
    return cell.estimate(form) or _NOBODY


def _caption(
    form: str,
    dataset: str,
    judged: Sequence[ConsistentCell],
    people: Sequence[ConsistentCell],
    lines: Sequence[Line],
    band: Band,
    raters: Raters,
) -> str:
    size = shared.counted([cell.family.n for cell in judged if _of(cell, form).defined], "complete stories")
    counts = sorted({cell.family.k for cell in judged if cell.family.k})
    repeats = "" if not counts else f", {'–'.join(map(str, dict.fromkeys([counts[0], counts[-1]])))} repeats"
    text = f"Agreement of judges with themselves over repeats, {form}, {dataset} ({size}{repeats}); 95 % intervals."
    if raters.labels_note:
        text += raters.sentence
    elif band.defined:
        repeat_counts = sorted({cell.family.k for cell in people if cell.family.k})
        count = "–".join(map(str, dict.fromkeys([repeat_counts[0], repeat_counts[-1]]))) if repeat_counts else "several"
        text += f" Grey: {count} people's ratings of the same stories. Agreement is not validity."
    else:
        reasons = list(dict.fromkeys(estimate.reason for estimate in band.estimates if estimate.reason))
        text += f" People: {'; '.join(reasons[:2])}."
    if any(line.sign for line in lines):
        text += " Squares: a control, no language model."
    cells = [estimate for line in lines for cell in line.cells for estimate in cell if estimate is not None]
    return text + shared.undefined(cells)
