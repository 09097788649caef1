"""Lists the page's sections and makes them. A section that cannot be made is replaced by the reason."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from markupsafe import Markup

from judge.base.errors import JudgeError
from judge.questions.summary import preferences as preferences_said
from judge.show.pages.verdict_box import box
from judge.show.report.blocks import Section, failed
from judge.show.report.inputs import ReportInputs
from judge.show.report.manuscript import checklist, methods
from judge.show.report.sections import (
    agreement,
    audit,
    checked_table,
    comparison,
    consistency,
    examples,
    explanation_map,
    first_box,
    headline,
    plain_tables,
    preferences,
    rating_shares,
    run_settings,
    stress,
)

_FOLDED = {
    "methods": "The methods, written for a paper, with references",
    "asked": "What every judge was asked with, and what was in force",
}
"""Sections that are looked up, not read: what they hold."""

Maker = Callable[[ReportInputs], list[Markup]]
Progress = Callable[[str], None]


def _summary(inputs: ReportInputs) -> list[Markup]:
    if inputs.checked is not None:
        return [box([*headline.answers(inputs), *checked_table.answers(inputs)])]
    of_ratings = first_box.blocks(inputs) if inputs.rates else []
    return [*of_ratings, *([box(preferences_said.answers(inputs))] if inputs.compared else [])]


SECTIONS: tuple[tuple[str, str, Maker], ...] = (
    ("summary", "What the runs show", _summary),
    ("agreement", "Agreement with people", agreement.blocks),
    ("coverage", "Coverage", plain_tables.coverage_blocks),
    ("comparison", "Eval-Prompts and judges compared", comparison.blocks),
    ("consistency", "Consistency", consistency.blocks),
    ("ratings", "How ratings are used", rating_shares.blocks),
    ("systems", "Systems", plain_tables.system_blocks),
    ("diagnostics", "What goes wrong", plain_tables.diagnostic_blocks),
    ("disagreements", "Where judge and people differ most", examples.blocks),
    ("explanations", "Explanations", explanation_map.blocks),
    ("audit", "Audit of explanations by people", audit.blocks),
    ("contamination", "Contamination", plain_tables.contamination_blocks),
    ("methods", "Methods", methods.blocks),
    ("checklist", "What a reviewer will ask", checklist.blocks),
    ("asked", "Settings and provenance", run_settings.blocks),
)
"""(anchor, heading, maker)."""

PREFERENCES: tuple[str, str, Maker] = ("preferences", "Preferences between two stories", preferences.blocks)
"""Of pages about runs that compared."""

STRESS: tuple[str, str, Maker] = ("stress", "Stress tests", stress.blocks)
"""Of pages about runs on perturbed stories."""


CHECKED: tuple[str, str, Maker] = ("file", "How the file was read, and what is missing in it", checked_table.blocks)
"""Of pages about one table of ratings made elsewhere."""


COMPARISONS: tuple[tuple[str, str, Maker], ...] = (
    ("summary", "What the runs show", _summary),
    ("agreement", "Agreement with people's preferences", preferences.agreement_blocks),
    ("order", "Order: noise and place", preferences.order_blocks),
    ("systems", "Systems", preferences.system_blocks),
    ("stories", "Stories within a story-prompt", preferences.story_blocks),
    ("transitivity", "Transitivity", preferences.transitivity_blocks),
    ("coverage", "Coverage", preferences.coverage_blocks),
    ("methods", "Methods", methods.blocks),
    ("checklist", "What a reviewer will ask", checklist.blocks),
    ("asked", "Settings and provenance", run_settings.blocks),
)
"""Of pages about runs that compared, and hold no rating."""


def sections_of(inputs: ReportInputs) -> tuple[tuple[str, str, Maker], ...]:
    """The sections of the report page, in order: link target, heading, and the function that makes the section.

    Sections on preferences and stress tests follow agreement if there are any.
    """
    if not inputs.rates:
        return COMPARISONS
    if inputs.checked is not None:
        absent = checked_table.without(inputs)
        return (
            ("summary", "What the file shows", _summary),
            CHECKED,
            *(entry for entry in SECTIONS[1:] if entry[0] not in absent),
        )
    more = ((PREFERENCES, bool(inputs.compared)), (STRESS, inputs.stressed is not None))
    return (*SECTIONS[:2], *(section for section, there in more if there), *SECTIONS[2:])


def page_sections(inputs: ReportInputs, progress: Progress | None = None) -> Iterator[Section]:
    """Yield each section of the report page; `progress` is called with the section's heading before the section is
    made.
    """
    for identity, title, maker in sections_of(inputs):
        if progress is not None:
            progress(title)
        named = title if identity == "audit" else inputs.raters.worded(title)
        try:
            blocks = maker(inputs)
        except JudgeError as error:
            blocks = [failed(f"{named} cannot be shown", error)]
        yield Section(identity, named, blocks, _FOLDED.get(identity, ""))
