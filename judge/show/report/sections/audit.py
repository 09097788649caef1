"""Sections on explanations: the map of their meanings, and people's audit of them; and on panels of raters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pandas as pd
from markupsafe import Markup

from judge.analysis import panels
from judge.analysis.correlation.margins import Margin
from judge.analysis.panels import Difference
from judge.analysis.raters import Raters
from judge.base.estimate import Estimate
from judge.base.printing import output
from judge.explanations.audit.answer_matrix import answered
from judge.explanations.audit.items import BLINDABLE, visible_facts
from judge.explanations.audit.printed import audit_tables
from judge.explanations.audit.store import AuditSnapshot
from judge.explanations.mapping.stored_map import StoredMap
from judge.questions.charts.explanation_map import explanation_map
from judge.questions.charts.shared import worded
from judge.show.pages import charts
from judge.show.report.blocks import figure, folded, heading, items, prose, shown
from judge.show.report.inputs import ReportInputs
from judge.stats import near_ties

# Section on explanations, from the results of `judge explain`: a map with texts, and tables. At most `MOST` texts are
# drawn at random with the report's seed, and the page says so. They are a JSON block with every markup character
# escaped, and displayed as plain text.

# Texts that one map carries.
MOST = 3000

# Every point carries its text in the page: `MOST` texts of this length are about two megabytes.
_CHARACTERS = 600
_JSON = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"})

PointOf = Mapping[str, Any]


def explanation_blocks(inputs: ReportInputs) -> list[Markup]:
    """Maps and tables; folders analysed together share a map. Without results, the command that makes them."""
    pairs = zip(inputs.folders, inputs.explanation_maps, strict=True)
    stored = [(folder, stored_map) for folder, stored_map in pairs if stored_map is not None]
    if not stored and not inputs.explains:
        return [prose("These answers have no explanations, so there is nothing to analyse.")]
    if not stored:
        sentence = "The explanations have not been analysed yet. This command makes the map and its tables:"
        return [prose(sentence), Markup("<pre>{}</pre>").format(f"judge explain {inputs.named_runs}")]
    parts: list[Markup] = []
    groups: dict[str, list[int]] = {}
    for at, (_, stored_map) in enumerate(stored):
        groups.setdefault(stored_map.signature, []).append(at)
    for number, places in enumerate(groups.values()):
        group = [stored[at] for at in places]
        texts = _texts(inputs, {str(folder.path) for folder, _ in group})
        parts += _one_look(inputs, [stored_map for _, stored_map in group], texts, number)
    missing = len(inputs.folders) - len(stored)
    if missing:
        sentence = f"{missing} of {len(inputs.folders)} result folders hold no analysis of explanations; it is made by"
        parts.append(prose(f"{sentence} judge explain."))
    return parts


def _one_look(
    inputs: ReportInputs, maps: Sequence[StoredMap], texts: Mapping[tuple[Any, ...], str], number: int
) -> list[Markup]:
    first = maps[0]
    every = [point for stored_map in maps for point in stored_map.points]
    placed = [point for point in every if point["x"] is not None and point["y"] is not None]
    parts: list[Markup] = []
    if placed:
        parts.append(_map(placed, first, texts, number, inputs.options.seed))
    else:
        parts.append(prose(f"{len(every):,} explanations were analysed; no map of them was computed."))
    if first.keywords:
        words = [f"cluster {name}: {', '.join(keywords)}" for name, keywords in first.keywords.items() if keywords]
        parts.append(folded("Words that distinguish each cluster, best first", items(words)))
    tables = [output.table(kept, lambda row: texts.get(_key(row))) for kept in first.tables]
    if tables:
        parts.append(folded(f"All {len(tables)} tables of explanations", *(shown(table, inputs) for table in tables)))
    table_notes = {note for kept in first.tables for note in kept["notes"]}
    if untold := [note for note in first.notes if note not in table_notes]:
        parts.append(folded("Notes on the analysis", items(untold, kind="notes")))
    return parts


def _map(
    placed: Sequence[PointOf], first: StoredMap, texts: Mapping[tuple[Any, ...], str], number: int, seed: int
) -> Markup:
    identity = f"map-{number}"
    chosen = list(placed)
    if len(placed) > MOST:
        order = np.random.default_rng(seed).choice(len(placed), MOST, replace=False)
        chosen = [placed[at] for at in np.sort(order)]
    drawn = explanation_map(
        replace(first, points=[dict(point) for point in chosen], model=first.embedded_by),
        _ways(chosen),
        sampled_of=len(placed),
    )
    carried = [
        {"about": _about(point), "text": texts.get(_key(point), "the text is not in the result folder")}
        for point in chosen
    ]
    block = Markup(orjson.dumps(carried).decode().translate(_JSON))  # noqa: S704  every markup character is escaped
    panel = Markup(
        '<div class="card chosen-text screen-only" id="{0}-map-chosen" aria-live="polite">'
        '<p class="faint">Point at or touch a dot to read its explanation; click to keep it; arrow keys go '
        "through them all.</p>"
        '</div><script type="application/json" id="{0}-map-texts">{1}</script>'
    ).format(identity, block)
    caption = f"{drawn.caption} {_places(chosen):,} distinct points; texts cut at {_CHARACTERS} characters."
    line = prose(first.signature, kind="signature")
    return Markup('<div class="map-grid">{}<div>{}</div></div>').format(
        figure(charts.explanation_map(drawn, identity), caption) + line, panel
    )


def _places(points: Sequence[PointOf]) -> int:
    """Explanations with equal text share a point."""
    return len({(point["x"], point["y"]) for point in points})


def _ways(points: Sequence[PointOf]) -> list[str]:
    clusters = any(point["cluster"] is not None and point["cluster"] >= 0 for point in points)
    rated = any(point["rating"] is not None for point in points)
    return ["criterion", *(["cluster"] if clusters else []), *(["rating"] if rated else [])]


def _about(point: PointOf) -> str:
    rating = "no rating" if point["rating"] is None else f"rated {point['rating']:g}"
    repeat = "" if point["repeat"] is None else f", repeat {point['repeat']}"
    cluster = "" if point["cluster"] is None or point["cluster"] < 0 else f", cluster {point['cluster']}"
    where = f"{point['judge']}, {point['eval_prompt']}{repeat}"
    return f"{point['story']} ({point['system']}), {point['criterion']}: {rating}; {where}{cluster}"


_PARTS = ("judge", "story", "criterion", "eval_prompt", "repeat")


def _key(point: PointOf) -> tuple[Any, ...]:
    return (*(str(point[name]) for name in _PARTS[:4]), point["repeat"])


def _texts(inputs: ReportInputs, paths: set[str]) -> dict[tuple[Any, ...], str]:
    """Truncated, by (judge, story, criterion, Eval-Prompt, repeat)."""
    judges = {name for fact in inputs.table.facts if str(fact.path) in paths for name in fact.judge.split(", ")}
    frame = inputs.table.frame
    part = frame[(frame["source"] == "judge") & frame["judge"].isin(judges) & frame["explanation"].notna()]
    columns = [part[name].astype(object) for name in _PARTS]
    cut_texts: dict[tuple[Any, ...], str] = {}
    for judge, story, criterion, prompt, repeat, text in zip(*columns, part["explanation"], strict=True):
        number = None if pd.isna(repeat) else int(repeat)
        whole = str(text)
        cut = whole if len(whole) <= _CHARACTERS else f"{whole[:_CHARACTERS].rstrip()}…"
        cut_texts[str(judge), str(story), str(criterion), str(prompt), number] = cut
    return cut_texts


# Section on people's audit of explanations, next to run.yaml or named by the option `audit`.


def audit_blocks(inputs: ReportInputs) -> list[Markup]:
    """The audit's tables, or, without an audit, the commands that make one."""
    file, report = inputs.audit_file, inputs.audit_report
    if report is None and not inputs.explains:
        return [prose("These answers have no explanations, so there is nothing to audit.")]
    if file is None or report is None:
        sentence = (
            "The explanations have not been audited, so it is unknown how often they contradict themselves, "
            "make claims that the story does not support, or are empty. "
            "These commands draw a sample and open a page to annotate it:"
        )
        commands = f"judge audit sample {inputs.named_runs}\njudge audit serve {inputs.named_runs}"
        return [prose(sentence), Markup("<pre>{}</pre>").format(commands)]
    return [prose(f"From {file.name}."), *(shown(table, inputs) for table in audit_tables(report))]


# Section on panels (groups of raters): sentences for the box at the top of the page, and tables.

_READ = (
    "People of several panels rated these stories. A judge may follow one panel and not another: then a correlation "
    "with all of them together describes neither."
)


def audit_sentences(inputs: ReportInputs, best: Margin) -> Iterator[str]:
    """Sentences on panels for the row that agrees best with people; nothing where no panel is known. A restriction to
    one panel is named. Otherwise pairs of panels are compared, and a criterion is named if its correlation is positive
    with one and negative with the other, because a mean over criteria hides this."""
    result = inputs.panels
    if result is None:
        if inputs.table.panel is not None:
            yield f"People are only those of the panel {inputs.table.panel}."
        return
    mine = [row for row in result.differences if _of(row, best)]
    means = [row for row in mine if row.averaged] or mine
    for row in means:
        yield _sentence(row)
    hidden = [row for row in mine if row not in means and row.verdict == "opposite"]
    for row in hidden:
        yield f"On {row.subject.criterion} the sign differs between panels: {_sides(row)}."
    others = [row for row in result.differences if row.verdict == "opposite" and row.subject.dataset == best.dataset]
    more = {(row.subject.judge, row.subject.eval_prompt) for row in others} - {(best.judge, best.eval_prompt)}
    if more:
        yield f"For {len(more)} further rows panels have opposite signs on some criterion."


def audit_agreement_blocks(inputs: ReportInputs) -> list[Markup]:
    """HTML blocks with the tables of panels; [] where no panel is known."""
    result = inputs.panels
    if result is None:
        return []
    return [heading("Panels of people"), prose(_READ), *(shown(table, inputs) for table in panels.tables(result))]


def _of(row: Difference, best: Margin) -> bool:
    subject = row.subject
    return (subject.dataset, subject.run, subject.judge, subject.eval_prompt) == (
        best.dataset,
        best.run,
        best.judge,
        best.eval_prompt,
    )


def _sentence(row: Difference) -> str:
    if row.over.value is None:
        return f"Panels {row.first.panel} and {row.other.panel} cannot be compared: {row.over.why.fact}."
    sentence = {
        "opposite": "Panels disagree in sign, and no single figure represents people",
        "differ": "Panels differ, and no single figure represents people",
        "not told apart": "Panels do not differ significantly",
        None: "By panel, without an interval",
    }[row.verdict]
    return f"{sentence}: {_sides(row)} (difference {worded(row.over)})."


def _sides(row: Difference) -> str:
    first, other = row.first, row.other
    return (
        f"{worded(first.value)} with {first.panel}, {worded(other.value)} with {other.panel}, on the same "
        f"{row.stories:,} stories"
    )


@dataclass(frozen=True, slots=True)
class AuditFacts:
    """Counts that describe an audit; `twice` counts items that two or more annotators finished.

    `raters` gave the ratings from which the judge's distance is computed. `sampling` is the record of the draw, {} if
    not by this program. `blind` facts are hidden from annotators, `seen` ones shown with at least one item. `settled`
    and `open` are disputed answers, 0 without a second round. `shares` are means over finished items of the annotators
    who marked an error, `agreements` Gwet's AC1, both by label."""

    file: Path
    items: int
    finished: int
    twice: int
    annotators: int
    raters: Raters
    sampling: Mapping[str, Any]
    seed: int
    blind: tuple[str, ...]
    seen: tuple[str, ...]
    settled: int
    open: int
    shares: Sequence[tuple[str, Estimate]]
    agreements: Sequence[tuple[str, Estimate]]


def audit_facts(inputs: ReportInputs) -> AuditFacts | None:
    """Counts of the report's audit, or None. Raises DataError for a file that is no audit."""
    audit = inputs.audit
    if audit is None:
        return None
    matrix = answered(audit)
    report = inputs.audit_report if matrix.raters.any() else None
    errors = () if report is None else report.errors
    return AuditFacts(
        file=audit.path,
        items=len(matrix.items),
        finished=int((matrix.raters > 0).sum()),
        twice=int((matrix.raters > 1).sum()),
        annotators=matrix.finishers,
        raters=inputs.raters,
        sampling=audit.sampling,
        seed=audit.seed,
        blind=audit.blind,
        seen=_seen(audit),
        settled=matrix.settled,
        open=matrix.open if audit.adjudication.annotators else 0,
        shares=[(error.category.label, error.rates.mean) for error in errors],
        agreements=[(error.category.label, error.agreement.ac1.estimate) for error in errors]
        if (matrix.raters > 1).any()
        else (),
    )


def _seen(audit: AuditSnapshot) -> tuple[str, ...]:
    shown = {name for item in audit.items for name in visible_facts(item.subject, audit.blind)}
    return tuple(name for name in BLINDABLE if name in shown)


def audit_headline(facts: AuditFacts) -> str:
    """A sentence for the top of the page."""
    if not facts.finished:
        drawn = _many(facts.items, "explanation was", "explanations were")
        return f"{drawn} sampled for an audit; no annotator has finished one."
    who = f"{_many(facts.annotators, 'annotator has', 'annotators have')} audited {facts.finished:,} of the "
    text = f"{who}{_many(facts.items, 'explanation', 'explanations')} drawn"
    defined = [(label, share) for label, share in facts.shares if share.value is not None]
    if defined:
        label, most = defined[near_ties.highest([share.value for _, share in defined])]
        ends = f" [{100 * most.low:.1f}, {100 * most.high:.1f}]" if most.low is not None and most.high else ""
        text += f"; the most frequent error is {label}, in {100 * (most.value or 0.0):.1f} %{ends} of them"
    if not facts.twice:
        return f"{text}; no explanation was annotated twice, so agreement between annotators is unknown."
    agreed = [(agreement.value, label) for label, agreement in facts.agreements if agreement.value is not None]
    if agreed:
        (low, least), (high, _) = min(agreed), max(agreed)
        over = f"{low:.2f} to {high:.2f} over {len(agreed)} errors" if len(agreed) > 1 else f"{low:.2f} on {least}"
        left = f", undefined on {len(facts.agreements) - len(agreed)}" if len(agreed) < len(facts.agreements) else ""
        both = _many(facts.twice, "explanation", "explanations")
        text += f"; on the {both} that two or more finished they agree at AC1 {over}{left}".replace(" -", " −")
    return f"{text}."


def audit_methods(facts: AuditFacts, cite: str) -> str:
    """Methods sentence for a paper: items, annotators, sampling, seed, blinding, agreement and second round."""
    who = "One person" if facts.annotators == 1 else f"{facts.annotators} people"
    text = f"{who} audited {facts.finished:,} of {_many(facts.items, 'explanation', 'explanations')}, {_drawn(facts)}"
    if facts.sampling.get("options"):
        seen = f"its {_listed(_plain(facts.seen))}" if facts.seen else "only its texts"
        text += f"; annotators saw {seen}"
        text += f", not the {_listed(_plain(['system', *facts.blind]))}"
    if facts.twice:
        text += f"; two or more finished {facts.twice:,} of them, on which agreement is Gwet's AC1 {cite}"
    else:
        text += "; no explanation was finished by two, so agreement cannot be reported"
    if facts.settled or facts.open:
        text += f"; a second round settled {facts.settled:,} of {facts.settled + facts.open:,} disputed answers"
    elif facts.twice:
        text += "; disputed answers were not adjudicated"
    return f"{text}."


def _drawn(facts: AuditFacts) -> str:
    options = facts.sampling.get("options") or {}
    if not options:
        return "which were not sampled by this program"
    by, spread = (_known(facts, facts.sampling.get(key) or ()) for key in ("by", "spread"))
    strata = f"stratified by {_listed(by)} ({options['allocation']} allocation), " if by else ""
    if spread:
        strata += f"spread over {_listed(spread)}, "
    if options.get("per_story"):
        strata += f"at most {options['per_story']} a story, "
    return f"drawn at random from {facts.sampling['population']:,}, {strata}seed {options['seed']}"


def _known(facts: AuditFacts, names: Sequence[str]) -> list[str]:
    """In prose; "(where known)" marks variables that are unknown for some items."""
    partly = facts.sampling.get("unknown") or {}
    plain = [facts.raters.worded(name) for name in _plain(names)]
    return [
        f"{plain_name} (where known)" if name in partly else plain_name
        for name, plain_name in zip(names, plain, strict=True)
    ]


def _plain(names: Sequence[str]) -> list[str]:
    words = {"eval_prompt": "Eval-Prompt", "gap": "distance from people", "story_prompt": "story-prompt"}
    return [words.get(str(name), str(name)) for name in names]


def _many(number: int, singular: str, several: str) -> str:
    return f"{number:,} {singular if number == 1 else several}"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
