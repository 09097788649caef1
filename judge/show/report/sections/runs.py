"""Sections on the runs: the settings requested and in effect, from the manifests, without addresses and keys; and
examples of answers, with their stories."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from markupsafe import Markup

from judge.analysis.disagreement_tables import Disagreement, JudgeSide, PeopleSide
from judge.analysis.disagreements import disagreements
from judge.analysis.options.table_options import DisagreementsOptions
from judge.analysis.raters import Raters
from judge.asking.in_force.catalogue import life_in
from judge.asking.in_force.words import SettingInForce, stored
from judge.base.credentials.providers import JudgeName
from judge.base.printing.tables import Column, Table
from judge.base.printing.text_layout import moment
from judge.base.records import Scale
from judge.show.report.blocks import folded, items, prose, shown
from judge.show.report.inputs import ReportInputs

# Characters of a story shown at once; the rest is folded, and nothing is left out below `_MOST`.
_WHOLE = 700
_MOST = 6000
_EXPLANATION = 1200
_REPEATS = 3


def example_blocks(inputs: ReportInputs) -> list[Markup]:
    """One card for each story on which judge and people differ most, largest difference first."""
    if not inputs.has_people:
        return [prose("No people's ratings of these stories are known, so a judge cannot be compared with them.")]
    options = DisagreementsOptions(drop_systems=inputs.options.drop_systems, top=inputs.options.examples)
    listing = disagreements(inputs.table, options)
    lead = (
        f"The {len(listing.rows)} stories, of {listing.stories:,}, on which a judge and {inputs.raters.name} differ "
        "most, each side standardised (z), so that leniency does not count as disagreement. "
        "They are the extremes, not a sample."
    )
    more = f"More, and other kinds: judge diagnose --layout stories {inputs.named_runs} --top 20"
    return [
        prose(lead),
        *(_card(row, inputs.raters_of(row.dataset), listing.scale_of(row)) for row in listing.rows),
        prose(more, kind="faint"),
    ]


def _card(row: Disagreement, raters: Raters, scale: Scale | None) -> Markup:
    difference = f"{row.difference:+.2f}".replace("-", "−")
    head = f"{row.rank}. {row.story} ({row.system}), {row.criterion}: {difference} z"
    parts: list[Markup] = []
    if row.story_prompt:
        parts.append(
            Markup('<p class="faint">Story-prompt</p><div class="text" dir="auto">{}</div>').format(
                _cut(row.story_prompt)
            )
        )
    parts.append(_story(row.text) if row.text else prose("The text is not in the result folder.", kind="faint"))
    people = row.people
    if people:
        given = ", ".join(_said(each.rating, scale) for each in people.ratings if each.rating is not None) or "none"
        who = "Label" if raters.labels_note else "People"
        parts.append(Markup("<p><strong>{}</strong>: {}; mean {}{}</p>").format(who, given, *_mean(people)))
    for side in row.sides:
        parts += _side(side, scale)
    return Markup('<details class="card example"><summary>{}</summary>{}</details>').format(
        head, Markup("").join(parts)
    )


def _story(text: str) -> Markup:
    head = Markup('<p class="faint">Story</p>')
    if len(text) <= _WHOLE:
        return head + Markup('<div class="text" dir="auto">{}</div>').format(text)
    cut = text.rfind(" ", 0, _WHOLE)
    at = cut if cut > _WHOLE // 2 else _WHOLE
    rest = Markup(
        '<details class="rest"><summary>the rest of the story</summary><div class="text" dir="auto">{}</div></details>'
    )
    return head + Markup('<div class="text" dir="auto">{}</div>').format(text[:at]) + rest.format(_cut(text[at:]))


def _side(side: JudgeSide, scale: Scale | None) -> Iterator[Markup]:
    mean, z = _mean(side)
    yield Markup("<p><strong>{}, {}</strong>: mean {}{}</p>").format(side.judge, side.eval_prompt, mean, z)
    for repeat in side.repeats[:_REPEATS]:
        if repeat.repeat is None and not repeat.explanation:
            continue
        rating = repeat.status if repeat.rating is None else _said(repeat.rating, scale)
        yield Markup("<p>Repeat {}: {}</p>").format("—" if repeat.repeat is None else repeat.repeat, rating)
        if repeat.explanation:
            text = _cut(repeat.explanation, _EXPLANATION)
            yield Markup('<div class="text" dir="auto">{}</div>').format(text)
    left = len(side.repeats) - _REPEATS
    if left > 0:
        yield Markup('<p class="faint">and {} further repeats</p>').format(left)


def _said(rating: float, scale: Scale | None) -> str:
    return f"{rating:g}" if scale is None else scale.text_of(rating)


def _mean(side: JudgeSide | PeopleSide) -> tuple[str, str]:
    mean = "undefined" if side.mean is None else f"{side.mean:.2f}"
    return mean, "" if side.z is None else f", z {side.z:+.2f}".replace("-", "−")


def _cut(text: str, limit: int = _MOST) -> str:
    return text if len(text) <= limit else f"{text[:limit].rstrip()}… ({len(text) - limit:,} more characters)"


_KEYS = (
    "dataset",
    "criteria",
    "eval_prompts",
    "pairs",
    "orders",
    "ties",
    "across",
    "repeats",
    "generation",
    "api",
    "system",
    "structured",
    "scoring",
    "revision",
    "identity",
    "engine",
    "note",
)
_HASHES = (("dataset_hash", "dataset, hash"), ("criteria_hash", "criteria, hash"), ("judge_key", "judge key"))
_GENERATION = ("temperature", "top_p", "max_tokens", "seed", "stop")
_NOT_SAID = "not set: the provider's default"
_TOTALS = ("answered", "attempts", "prompt_tokens", "completion_tokens", "reasoning_tokens", "cached_tokens", "hours")


def settings_blocks(inputs: ReportInputs) -> list[Markup]:
    """A table of settings for each result folder, and the notes on all tables."""
    parts = []
    for asked_run in inputs.asked_runs:
        folder, manifest = asked_run.folder, asked_run.manifest
        rows = list(_rows(manifest))
        judge = str(manifest.get("judge", folder.path.name))
        if not rows:
            parts.append(prose(f"{judge}: ratings were imported; their settings are unknown."))
            continue
        rows.append(_row("cost", None, asked_run.cost.words()))
        columns = [Column("what", ""), Column("asked", "asked", text=True), Column("force", "in force", text=True)]
        run = str(manifest.get("run", folder.path.name))
        parts.append(shown(Table(f"{judge}, run {run}", columns, rows, ""), inputs, folded=True))
    if any(asked_run.manifest.get("in_force") for asked_run in inputs.asked_runs):
        parts.append(prose("Addresses of servers are left out here; manifest.json in the result folder has them."))
    if inputs.general_notes:
        parts.append(folded("What holds for every table on this page", items(inputs.general_notes, kind="notes")))
    return parts


def _rows(manifest: Mapping[str, Any]) -> Iterator[dict[str, str | None]]:
    asked, force = manifest.get("asked"), manifest.get("in_force")
    if not asked or not force:
        return
    settings = {setting.setting: setting for setting in stored(manifest)}
    control = JudgeName.of(str(manifest.get("judge", ""))).is_control  # it has no provider to decide
    for key in _KEYS:
        if key == "generation":
            requested, effective = asked.get(key) or {}, force.get(key) or {}
            for name in _GENERATION:
                value = effective.get(name)
                if value is not None and value != []:
                    yield _row(name, requested.get(name), _with_state(value, settings.get(name)))
                elif not control:
                    yield _row(name, requested.get(name), _NOT_SAID)
        elif asked.get(key) is not None or force.get(key) not in (None, {}, []):
            yield _row(key.replace("_", "-"), asked.get(key), _with_state(force.get(key), settings.get(key)))
    for name in sorted(set(settings) - {*_GENERATION, *_KEYS}):
        yield _row(name, settings[name].asked, _with_state(settings[name].asked, settings[name]))
    life = life_in(manifest)
    if life is not None:
        yield _row("the model's end", None, life.sentence)
    definition = force.get("definition") or {}
    for key, name in _HASHES:
        if definition.get(key):
            yield _row(name, None, definition[key])
    for prompt, hashed in (definition.get("eval_prompts") or {}).items():
        yield _row(f"Eval-Prompt {prompt}, hash", None, hashed)
    yield from _server(force.get("server") or {})
    yield from _circumstances(manifest)


def _server(server: Mapping[str, Any]) -> Iterator[dict[str, str | None]]:
    """What the server reported about itself."""
    for key, value in server.items():
        if key not in ("notes", "base_url", "address") and isinstance(value, str | int | float | bool):
            yield _row(f"server: {key.replace('_', ' ')}", None, value)


def _circumstances(manifest: Mapping[str, Any]) -> Iterator[dict[str, str | None]]:
    environment, totals = manifest.get("environment") or {}, manifest.get("totals") or {}
    packages = environment.get("packages") or {}
    if packages.get("storyjudge"):
        yield _row("judge (this program)", None, packages["storyjudge"])
    if environment.get("python"):
        yield _row("python", None, f"{environment['python']}, {environment.get('platform', '')}")
    git = environment.get("git")
    if git:
        yield _row("git revision", None, f"{git['revision']}{', changed' if git.get('dirty') else ''}")
    for sitting in manifest.get("sittings") or ():
        yield _row("sitting", None, _sitting(sitting))
    for key in _TOTALS:
        if totals.get(key) is not None:
            value = totals[key]
            yield _row(key.replace("_", " "), None, f"{value:,.2f}" if isinstance(value, float) else f"{value:,}")
    if totals.get("failed"):
        yield _row("failed", None, ", ".join(f"{kind} {count}" for kind, count in totals["failed"].items()))


def _sitting(sitting: Mapping[str, Any]) -> str:
    began = moment(sitting.get("began"))
    when = "unknown time" if began is None else began.strftime("%Y-%m-%d %H:%M UTC")
    return f"{when}, {sitting.get('executor', 'unknown executor')}: {sitting.get('answered', 0):,} answered"


def _with_state(value: object, state: SettingInForce | None) -> object:
    """The value only if the server honoured it, otherwise what became of it; without a state, the value alone."""
    if state is None:
        return value
    became = f"{state.state}: {state.evidence}"
    return f"{_shown(value)} ({became})" if state.state == "honoured" else became


def _row(name: str, asked: object, force: object) -> dict[str, str | None]:
    return {"what": name, "asked": _shown(asked), "force": _shown(force)}


def _shown(value: object) -> str | None:
    if value is None or value == {} or value == []:
        return None
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_shown(part)}" for key, part in value.items() if part is not None)
    if isinstance(value, list | tuple):
        return ", ".join(str(_shown(part)) for part in value)
    return f"{value:g}" if isinstance(value, float) else str(value)
