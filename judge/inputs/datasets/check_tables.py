"""Tables of the counts made by `check`, as `judge data check` prints them."""

from __future__ import annotations

from typing import Any

from judge.base.estimate import Estimate
from judge.base.printing.tables import Column, Table
from judge.base.records import PREFERRED, Scale
from judge.inputs.datasets.check import Check, CriterionUse, Moments, Seen
from judge.version import __version__

# Distinct ratings beyond which a histogram in one cell cannot be read, as with sliders.
_MANY = 25


def check_tables(counts: Check) -> list[Table]:
    """Tables of a dataset's counts, use of the scale, systems, damaged texts and, if any is named, raters."""
    makers = [_counts, _scale_use, _systems, _damage]
    tables = [make(counts) for make in makers]
    return [*tables, _raters(counts)] if counts.raters and not counts.dataset.labels_note else tables


def _signature(counts: Check) -> str:
    parts = [
        f"{counts.dataset.name}:{counts.stories}",
        f"data:{counts.fingerprint}",
        f"raters:{counts.rater_identity}",
        f"v{__version__}",
    ]
    return "|".join(parts)


def _labels(counts: Check) -> list[str]:
    return [counts.dataset.labels_note] if counts.dataset.labels_note else []


def _counts(checked: Check) -> Table:
    promised = checked.dataset.expected
    counts = {
        "stories": checked.stories,
        "systems": len(checked.systems),
        "story_prompts": len(checked.prompts),
        "ratings": checked.ratings,
    }
    rows: list[dict[str, Any]] = [
        {"what": label.replace("_", "-"), "found": n, "promised": promised.get(label), "first": None}
        for label, n in counts.items()
    ]
    rows += [
        {"what": "stories without ratings", "found": checked.unrated},
        {"what": "stories without a reference story", "found": checked.without_reference},
        _seen("stories that are their own reference", checked.own_reference),
        _seen("stories with the text of an earlier one", checked.duplicates),
        {"what": "ratings without a rater's name", "found": checked.unnamed},
        _seen("criteria rated twice by one rater on one story", checked.rated_twice),
        *([{"what": "ratings with a comment", "found": checked.comments}] if checked.comments else []),
        *_pair_rows(checked),
        *({"what": f"left out: {label}", "found": count} for label, count in checked.left_out.items()),
    ]
    notes = [
        *_labels(checked),
        *([checked.dataset.licence_note] if checked.dataset.licence_note else []),
    ]
    notes += [f"The reader decodes {checked.dataset.decoded}."] if checked.dataset.decoded else []
    columns = [
        Column("what", "what"),
        Column("found", "found"),
        Column("promised", "promised"),
        Column("first", "first"),
    ]
    return Table(f"{checked.dataset.name}: counts", columns, rows, _signature(checked), notes)


def _pair_rows(counts: Check) -> list[dict[str, Any]]:
    if counts.pairs is None:
        return []
    use = counts.pairs
    return [
        {"what": "pairs", "found": use.count, "promised": counts.dataset.expected.get("pairs")},
        *({"what": f"preferences: {value}", "found": use.preferences[value]} for value in PREFERRED),
        _seen("pairs without a preference", use.without),
        _seen("pairs on which people differ", use.split),
        _seen("pairs that name a story that is not there", use.unknown),
    ]


def _seen(label: str, seen: Seen) -> dict[str, Any]:
    return {"what": label, "found": seen.count, "first": seen.first or None}


def _scale_use(counts: Check) -> Table:
    labels = counts.dataset.labels
    rows = [_use_row(counts, criterion, use, labels.of(criterion)) for criterion, use in counts.criteria.items()]
    columns = [
        Column("criterion", "criterion"),
        Column("ratings", "ratings"),
        Column("missing", "stories without"),
        Column("min", "min"),
        Column("max", "max"),
        Column("mean", "mean"),
        Column("sd", "sd"),
        Column("values", "value:times given"),
    ]
    return Table(
        f"{counts.dataset.name}: scale use", columns, rows, _signature(counts), [*_scales(counts), *_labels(counts)]
    )


def _use_row(counts: Check, criterion: str, use: CriterionUse, scale: Scale | None) -> dict[str, Any]:
    # Labels without an order have no minimum, maximum, mean and standard deviation.
    row: dict[str, Any] = {
        "criterion": criterion,
        "ratings": use.moments.n,
        "missing": counts.stories - use.stories,
        "min": min(use.values),
        "max": max(use.values),
        "mean": use.moments.mean,
        "sd": use.moments.sd,
        "values": _histogram(use.values, scale),
    }
    if scale is not None and not scale.numeric:
        row |= dict.fromkeys(("min", "max", "mean", "sd"), _no_order(use.moments.n))
    return row


def _no_order(n: int) -> Estimate:
    return Estimate.undefined("undefined: its labels have no order", n)


def _scales(counts: Check) -> list[str]:
    # Points of a scale, or codes of labels.
    labels, scale = counts.dataset.labels, counts.dataset.scale
    scales = {criterion: labels.of(criterion) for criterion in counts.criteria}
    coded = dict.fromkeys(label_scale for label_scale in scales.values() if label_scale is not None)
    notes = [
        f"Numbers are the codes of labels: {', '.join(f'{w} {c}' for c, w in enumerate(s.labels))}." for s in coded
    ]
    if scale is not None and not scale.labels:
        notes.append(f"The scale is {scale.min:g} to {scale.max:g}.")
    elif None in scales.values() or not scales:
        notes.append("The file does not say what the scale is.")
    return notes


def _histogram(values: dict[float, int], scale: Scale | None) -> str:
    if scale is not None:
        return " ".join(f"{scale.label_of(value) or f'{value:g}'}:{n}" for value, n in sorted(values.items()))
    if len(values) > _MANY:
        return f"{len(values)} distinct values"
    return " ".join(f"{value:g}:{times}" for value, times in sorted(values.items()))


def _systems(counts: Check) -> Table:
    rows: list[dict[str, Any]] = []
    for system, stories in counts.systems.items():
        base = {"system": system, "stories": stories, "words": counts.words[system].mean}
        rated = [c for c in counts.criteria if (system, c) in counts.story_means]
        if not rated:
            nothing = Estimate.undefined("no rater rated this system's stories")
            rows.append({**base, "criterion": None, "rated": 0, "mean": nothing, "sd": nothing})
        for criterion in rated:
            means = counts.story_means[system, criterion]
            scale = counts.dataset.labels.of(criterion)
            none = _no_order(means.n) if scale is not None and not scale.numeric else None
            spread = {"mean": none or means.mean, "sd": none or _sd(means)}
            rows.append({**base, "criterion": criterion, "rated": means.n, **spread})
    columns = [
        Column("system", "system"),
        Column("stories", "stories"),
        Column("words", "words", 0),
        Column("criterion", "criterion"),
        Column("rated", "rated"),
        Column("mean", "mean"),
        Column("sd", "sd"),
    ]
    notes = [
        "Mean and sd (n - 1) are over stories, each story's ratings averaged first. Words are counted between blanks.",
        *_labels(counts),
    ]
    return Table(f"{counts.dataset.name}: systems", columns, rows, _signature(counts), notes)


def _sd(moments: Moments) -> Estimate | float:
    return moments.sd if moments.sd is not None else Estimate.undefined("one story has no spread", moments.n)


def _damage(counts: Check) -> Table:
    rows: list[dict[str, Any]] = [
        {"damage": kind, "column": column, "stories": seen.count, "first": seen.first}
        for (kind, column), seen in sorted(counts.damage.items())
    ]
    columns = [
        Column("damage", "damage"),
        Column("column", "in"),
        Column("stories", "stories"),
        Column("first", "first story"),
    ]
    notes = ["Texts are judged as they are; nothing is mended."] if rows else ["No damage was found in any text."]
    return Table(f"{counts.dataset.name}: text damage", columns, rows, _signature(counts), notes)


def _raters(counts: Check) -> Table:
    rows: list[dict[str, Any]] = []
    for rater, use in sorted(counts.raters.items(), key=lambda item: (-item[1].given, item[0])):
        alone = Estimate.undefined("no other rater rated the same stories")
        rows.append(
            {
                "rater": rater,
                "n": use.given,
                "stories": use.stories,
                "mean": use.ratings.mean if use.ratings.n else _no_order(0),
                "sd": _sd(use.ratings) if use.ratings.n > 1 else Estimate.undefined("one rating has no spread", 1),
                "leniency": Estimate(use.leniency.mean, use.leniency.n) if use.leniency.n else alone,
            }
        )
    columns = [
        Column("rater", "rater"),
        Column("n", "n"),
        Column("stories", "stories"),
        Column("mean", "mean"),
        Column("sd", "sd"),
        Column("leniency", "leniency"),
    ]
    notes = [
        "Leniency: mean of a rating minus the other raters' mean on the same story and criterion; above 0 rates higher."
    ]
    return Table(f"{counts.dataset.name}: raters", columns, rows, _signature(counts), notes)
