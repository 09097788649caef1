"""Tables of a stress test for printing: first a summary of the findings, then the evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from judge.analysis.frames import long_table
from judge.analysis.inputs.bars import CONTROL
from judge.analysis.inputs.candidates import Subject
from judge.analysis.stress.compute import PUBLISHED
from judge.analysis.stress.result import FINDING_WORDS, Null, Paired, Selectivity, Stress, verdicts
from judge.base.printing.tables import Column, Table, cells_of, hundredths, plain, titled
from judge.inputs.perturbations.perturbation import Test

_MARK = "*"
_COUNTED = "ties one half; won/tied/lost counts them. Score interval (Tango), clustered by story-prompt, 95 %"
_DETECTION = f"detection: share of pairs in which the untouched story has the higher rating, {_COUNTED}"
_BETTER = f"detection: share of pairs in which the untouched story has the better value, {_COUNTED}"
_BOX = (
    "of each, the strongest change, and the best of the criteria that ought to move (the worst where none ought to); "
    "in brackets: detection, change in points, share at the lowest point. misses: not distinguished from chance, "
    "and detection below .75; not decided: too few stories to say"
)


def tables(result: Stress, *, long: bool = False) -> list[Table]:
    """A summary, then the evidence by kind of test; with `long`, one table with one row per test."""
    if long:
        return [long_table("Stress tests", result.frame, result.signature)]
    printed = [
        *_in_points(
            result, "discrimination", "Is it noticed? Untouched against perturbed stories", _NOTICED, _DETECTION
        ),
        *_points(result),
        *_in_points(result, "invariance", "Changes that should leave ratings as they are", _MOVED, _margin(result)),
        *_in_points(result, "attack", "Attacks", _ATTACKED, _ATTACKS),
        *_in_points(result, "degenerate", "Texts that are not stories", _LOWEST, _AT_LOWEST),
        *_nulls(result),
        *_doses(result),
        *_selectivity(result),
        *_contrasts(result),
        *_lost(result),
        *_quality(result),
        *(_published(result) if result.options.as_published else ()),
    ]
    return [_box(result), *printed]


_ATTACKS = (
    "raised: mean of attacked minus untouched, in points; top, before: share of attacked, and of untouched, stories at "
    "the top of the scale"
)
_AT_LOWEST = "lowest: share of rated ones at the lowest point; lost: asked about and without a rating"

_NOTICED = [*titled(detection="detection", counts="won/tied/lost"), *plain("control", "finding")]
_MOVED = [
    Column("change", "change in points"),
    Column("same", "p, same", digits=3, p="two one-sided"),
    *plain("flips", "null", "finding"),
]
_ATTACKED = [
    Column("change", "raised"),
    Column("adjusted", "p", digits=3, p="greater"),
    *plain("top", "before", "finding"),
]
_LOWEST = [Column("lowest", "at the lowest"), *plain("change", "rated", "lost", "finding")]


def _in_points(result: Stress, test: Test, title: str, columns: Sequence[Column], note: str) -> Iterator[Table]:
    yield from _of_test(result, test, title, columns, note, measured=False)
    # Automatic measures have no points of a rating scale: only detection is shown.
    yield from _of_test(result, test, title, _NOTICED, _BETTER, measured=True)


def _judge_name(subject: Subject) -> str:
    if subject.kind == CONTROL:
        return "control"
    return f"{subject.judge} {subject.eval_prompt or ''}".removesuffix(" -")


def _judge_columns(result: Stress) -> list[Column]:
    columns = [Column("who", "judge", wrap=26)]
    if len({row.subject.dataset for row in result.rows}) > 1:
        columns.insert(0, Column("dataset", "dataset"))
    return columns


def _judge_cells(result: Stress, subject: Subject) -> dict[str, Any]:
    on = result.abbreviations.get(subject.criterion, subject.criterion)
    return {"dataset": subject.dataset, "who": _judge_name(subject), "on": on}


def _box(result: Stress) -> Table:
    rows = [
        {**_judge_cells(result, verdict.subject), "finding": FINDING_WORDS[verdict.finding], "what": verdict.sentence}
        for verdict in verdicts(result)
    ]
    columns = [*_judge_columns(result), Column("finding", "finding"), Column("what", "perturbations", wrap=40)]
    notes = [*result.notes, _BOX, _family(result)]
    return Table("Findings of the stress tests", columns, rows, result.signature, notes)


def _family(result: Stress) -> str:
    names = {"bh": "Benjamini-Hochberg", "by": "Benjamini-Yekutieli", "holm": "Holm", "none": "no adjustment"}
    return (
        f"distinguished from chance: p of detection (of attacks: one-sided), {names[result.options.adjust]} over all "
        f"{result.tests} tests of this report, at {result.options.alpha:g}"
    )


def _margin(result: Stress) -> str:
    return (
        f"p, same: two one-sided tests of the mean change within {result.options.margin:g} points; flips: chance that "
        "a rating is another point than one of the untouched story, null: than another repeat of the untouched story"
    )


def _place(row: Paired) -> tuple[object, ...]:
    return row.subject.dataset, row.subject.criterion, row.facts.name, row.strength


def _own_nulls(result: Stress) -> dict[tuple[str | None, ...], Null]:
    return {_null_key(null.subject): null for null in result.nulls}


def _null_key(subject: Subject) -> tuple[str | None, ...]:
    return subject.dataset, subject.run, subject.judge, subject.eval_prompt, subject.criterion


def _of_test(
    result: Stress, test: Test, title: str, columns: Sequence[Column], note: str, *, measured: bool
) -> Iterator[Table]:
    """One table for each judge, or for each measure, which fits the width of a screen."""
    control_of = {_place(row): row for row in result.rows if row.subject.kind == CONTROL}
    nulls = _own_nulls(result)
    for key, rows in _by_judge(result, test).items():
        if rows[0].measured != measured:
            continue
        several = len({row.subject.criterion for row in rows}) > 1
        first = [Column("what", "perturbation"), *(plain("on") if several else [])]
        table_rows = [
            _judge_cells(result, row.subject)
            | _cells(row, control_of.get(_place(row)), nulls.get(_null_key(row.subject)))
            for row in rows
        ]
        if several and test == "discrimination":
            for row, cell in zip(rows, table_rows, strict=True):
                cell["on"] = f"{cell['on']}{_MARK if row.expected else ''}"
        notes = [note]
        if several and any(row.facts.aims for row in rows):
            notes.append(f"{_MARK} a criterion that people would expect to move")
        notes += _easily_kept(rows, result) if test == "invariance" else ()
        yield Table(f"{title}: {key}", [*first, *columns], table_rows, "", notes)


def _cells(row: Paired, control: Paired | None, null: Null | None) -> dict[str, Any]:
    """The cells of a judge's row in every table, beside the control on the same stories and the judge's own null."""
    detection = row.detection
    flips, same = row.flips, row.same
    return {
        **cells_of(row, "detectable", "adjusted", "wilcoxon", "drop", "change", "lowest", "rated", "finding"),
        "what": row.name,
        "detection": detection.estimate,
        "counts": f"{detection.wins}/{detection.ties}/{detection.losses}",
        "control": None if control is None else control.detection.estimate.value,
        "noise": row.against_noise,
        "same": None if same is None else same.p,
        "flips": None if flips is None else flips.value,
        "null": None if null is None else null.flips.value,
        "top": None if row.top is None else row.top.value,
        "before": None if row.top_before is None else row.top_before.value,
        "lost": row.asked - row.rated,
    }


def _easily_kept(rows: Sequence[Paired], result: Stress) -> Iterator[str]:
    """Warning where untouched stories vary less than the margin: staying within it is weak evidence of invariance."""
    nulls = _own_nulls(result)
    for criterion, row in {row.subject.criterion: row for row in rows}.items():
        null = nulls.get(_null_key(row.subject))
        spread = None if null is None else null.spread.value
        if spread is not None and spread < result.options.margin:
            yield (
                f"{criterion}: ratings of untouched stories have a standard deviation of {spread:.2f} points, so that "
                f"staying within {result.options.margin:g} shows little"
            )


def _by_judge(result: Stress, test: Test) -> dict[str, list[Paired]]:
    rows_by_judge: dict[str, list[Paired]] = {}
    datasets = {row.subject.dataset for row in result.rows}
    runs = {row.subject.run for row in result.rows if row.subject.run}
    for row in result.rows:
        if row.subject.kind != CONTROL and row.facts.test == test:
            where = [row.subject.dataset] if len(datasets) > 1 else []
            where += [str(row.subject.run)] if len(runs) > 1 else []
            rows_by_judge.setdefault(" ".join([*where, _judge_name(row.subject)]), []).append(row)
    order = {name: position for position, name in enumerate(dict.fromkeys(row.facts.name for row in result.rows))}
    for rows in rows_by_judge.values():
        rows.sort(key=lambda row: (order[row.facts.name], row.strength))
    return rows_by_judge


def _points(result: Stress) -> Iterator[Table]:
    columns = [Column("drop", "drop"), Column("detectable", "would find")]
    note = (
        "drop: untouched minus perturbed, in points, t interval clustered by story-prompt; would find: the mean drop "
        "found in four of five repetitions; "
    )
    if any(row.against_noise.defined for row in result.rows if row.subject.kind != CONTROL):
        columns.insert(1, Column("noise", "/ noise"))
        note += "/ noise: in standard deviations of the judge's own repeats; "
    columns += [
        Column("adjusted", f"p, {result.options.adjust}", digits=3, p="two-sided"),
        Column("wilcoxon", "Wilcoxon", digits=3, p="two-sided"),
    ]
    note += "Wilcoxon: p of the signed ranks of story-prompts' mean drops, not adjusted"
    yield from _of_test(result, "discrimination", "By how many points?", columns, note, measured=False)


def _listed(title: str, columns: Sequence[Column], rows: Sequence[dict[str, Any]], note: str) -> Iterator[Table]:
    if rows:
        yield Table(title, columns, rows, "", [note])


def _nulls(result: Stress) -> Iterator[Table]:
    columns = [*_judge_columns(result), *plain("on", "detection", "drop", "flips", "noise")]
    rows = [
        {
            **_judge_cells(result, null.subject),
            "detection": null.detection.estimate,
            **cells_of(null, "drop", "flips", "noise"),
        }
        for null in result.nulls
    ]
    note = (
        "two halves of the repeats of the untouched stories against each other, as if one were perturbed: what chance "
        "alone gives; noise: standard deviation within stories, in points"
    )
    return _listed("Null: the untouched stories against themselves", columns, rows, note)


def _doses(result: Stress) -> Iterator[Table]:
    columns = [
        *_judge_columns(result),
        *titled(on="on", what="perturbation", slope="drop a doubling"),
        Column("p", "p", digits=3, p="two-sided"),
    ]
    rows = [
        {**_judge_cells(result, dose.subject), "what": dose.facts.name, "slope": dose.slope, "p": dose.p}
        for dose in result.doses
        if dose.subject.kind != CONTROL
    ]
    note = "mean over origins of the slope of the drop, in points for each doubling of strength; p is not adjusted"
    return _listed("Do ratings drop more with strength?", columns, rows, note)


def _selectivity(result: Stress) -> Iterator[Table]:
    rows_by_judge: dict[str, list[Selectivity]] = {}
    for row in result.selectivity:
        rows_by_judge.setdefault(_judge_name(row.subject), []).append(row)
    for name, rows in rows_by_judge.items():
        criteria = list(dict.fromkeys(criterion for row in rows for criterion in row.by_criterion))
        columns = [
            Column("what", "perturbation"),
            *(Column(row, result.abbreviations.get(row, row)) for row in criteria),
            Column("difference", "aimed - others"),
        ]
        cells = [
            {
                "what": row.facts.name,
                **{criterion: _marked(row, criterion) for criterion in criteria},
                "difference": row.difference,
            }
            for row in rows
        ]
        note = f"{_MARK} a criterion that people would expect to move; at the highest strength"
        yield Table(f"Detection by criterion: {name}", columns, cells, "", [note])


def _marked(row: Selectivity, criterion: str) -> str | None:
    share = row.by_criterion.get(criterion)
    if share is None or share.value is None:
        return None
    return f"{share.value:.2f}{_MARK if criterion in row.aimed else ''}"


def _contrasts(result: Stress) -> Iterator[Table]:
    columns = [
        Column("who", "judge", wrap=20),
        *titled(on="on", what="perturbation", pair="Eval-Prompts", difference="difference"),
        Column("adjusted", f"p, {result.options.adjust}", digits=3, p="two-sided"),
    ]
    rows = [
        {
            **_judge_cells(result, contrast.subject),
            "who": contrast.subject.judge,
            "what": contrast.facts.name,
            "pair": f"{contrast.second} - {contrast.first}",
            **cells_of(contrast, "difference", "adjusted"),
        }
        for contrast in result.contrasts
    ]
    note = (
        "difference of detection on the same pairs, t interval clustered by story-prompt; at the highest strength; p "
        "adjusted over this table"
    )
    return _listed("Which Eval-Prompt detects more?", columns, rows, note)


def _lost(result: Stress) -> Iterator[Table]:
    statuses = sorted({status for row in result.lost for status in row.statuses})
    if not statuses:
        return
    untouched = [row for row in result.lost if row.facts is None]
    rows = [*untouched, *(row for row in result.lost if row.facts is not None and row.statuses)]
    columns = [*_judge_columns(result), Column("what", "story"), *plain("asked", "rated")]
    columns += [Column(status, status.replace("_", " ")) for status in statuses]
    cells = [
        {
            **_judge_cells(result, row.subject),
            "what": row.facts.name if row.facts else "untouched",
            **cells_of(row, "asked", "rated"),
            **{status: row.statuses.get(status, 0) for status in statuses},
        }
        for row in rows
    ]
    note = "repeats, all criteria and strengths together; answers without a rating are left out of every number above"
    yield Table("Answers without a rating", columns, cells, "", [note])


def _quality(result: Stress) -> Iterator[Table]:
    columns = [
        *_judge_columns(result),
        *titled(on="on", what="spoilt by"),
        *hundredths(passed="passed %", high="human >= 4", low="spoilt <= 2"),
    ]
    rows = [
        {
            **_judge_cells(result, row.subject),
            "what": row.facts.name,
            "passed": row.passed,
            "high": row.human_high.value,
            "low": row.spoilt_low.value,
        }
        for row in result.quality
    ]
    kept = ", ".join(f"{100 * share:.1f} % ({name})" for name, share in PUBLISHED.items())
    note = (
        "share of story-prompts with the human story at 4 or above and the spoilt one at 2 or below, of 1-5; of the "
        f"workers' ratings {kept} passed (Guan et al. 2021)"
    )
    return _listed("Would this judge have passed the study's quality control?", columns, rows, note)


def _published(result: Stress) -> Iterator[Table]:
    columns = [
        *_judge_columns(result),
        *titled(on="on", what="perturbation"),
        Column("r", "point-biserial", digits=3),
        Column("auc", "AUC"),
    ]
    rows = [
        {**_judge_cells(result, row.subject), "what": row.name, "r": row.correlation, "auc": row.auc}
        for row in result.rows
        if row.facts.test in ("discrimination", "invariance")
    ]
    note = "all untouched against the perturbed stories, unpaired, as OpenMEVA printed it; AUC with DeLong's interval"
    yield Table("As published: unpaired", columns, rows, "", [note])
