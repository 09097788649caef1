"""Section with the stories on which judge and people differ most, with the stories' texts."""

from __future__ import annotations

from collections.abc import Iterator

from markupsafe import Markup

from judge.analysis.disagreement_tables import Disagreement, JudgeSide, PeopleSide
from judge.analysis.disagreements import disagreements
from judge.analysis.options.table_options import DisagreementsOptions
from judge.analysis.raters import Raters
from judge.base.records import Scale
from judge.show.report.blocks import prose
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
