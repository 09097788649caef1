"""Section on explanations, from the results of `judge explain`: a map with texts, and tables. At most `MOST` texts are
drawn at random with the report's seed, and the page says so. They are a JSON block with every markup character escaped,
and displayed as plain text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import orjson
import pandas as pd
from markupsafe import Markup

from judge.base.printing import output
from judge.explanations.mapping.explanation_map import StoredMap
from judge.questions.charts.explanation_map import explanation_map
from judge.show.pages import charts
from judge.show.report.blocks import figure, folded, items, prose, shown
from judge.show.report.inputs import ReportInputs

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
