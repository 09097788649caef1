"""Reads answers on a scale of labels: running text, JSON, a label alone, or a refusal."""

from __future__ import annotations

from functools import lru_cache

from judge.answers.parsing.ours.deciding import Decision
from judge.answers.parsing.ours.explanation import explanation
from judge.answers.parsing.ours.json_answer import json_judgment
from judge.answers.parsing.ours.labelled.label_deciding import decide_label
from judge.answers.parsing.ours.labelled.label_json import LABELS
from judge.answers.parsing.ours.labelled.label_mentions import label_at, label_mentions
from judge.answers.parsing.ours.labelled.label_statements import label_statement
from judge.answers.parsing.ours.labelled.options import without_options
from judge.answers.parsing.ours.mentions import Mention
from judge.answers.parsing.ours.page import Page, page
from judge.answers.parsing.ours.reading import Reading
from judge.answers.parsing.ours.statements import Statement, stating_words
from judge.answers.parsing.words import label_words
from judge.answers.parsing.words.criterion_names import Names
from judge.answers.parsing.words.tiers import DOUBTFUL
from judge.base.records import Criterion, Judgment, Scale

_LONGEST_NOTICE = 160
"""Characters: a longer text with the words of a filter speaks of the story's content."""


def label_choice(text: str, scale: Scale) -> Judgment:
    """Judgment of an answer whose whole text must be one label; any other text has no rating."""
    start = len(text) - len(text.lstrip())
    literal = text.strip()
    code = scale.code_of(literal)
    return Judgment("no_rating") if code is None else Judgment("ok", float(code), span=(start, start + len(literal)))


@lru_cache(maxsize=4096)
def label_open_form(text: str, criterion: Criterion, criterion_names: Names, *, cut: bool, story: str = "") -> Reading:
    """Judgment of an answer in free form on a scale of labels, with the words that state the label. With a `story`, a
    label that the answer quotes from the story does not count. `cut` says that the answer was cut, at the token limit
    or by a content filter.
    """
    as_json = json_judgment(text, criterion_names, criterion.scale, LABELS)
    if as_json is None:
        return _unless_quoted(_prose(text, criterion, criterion_names, cut=cut), story)
    if as_json.judgment.status == "no_rating":
        return Reading(as_json.judgment)
    outside = _prose(as_json.outside, criterion, criterion_names, cut=cut).judgment
    if outside.rating is not None and outside.rating != as_json.judgment.rating:
        # Which of the two is the judge's own cannot be told, as for numbers.
        return Reading(Judgment("ambiguous", flags=as_json.judgment.flags))
    return Reading(as_json.judgment)


def _unless_quoted(reading: Reading, story: str) -> Reading:
    judgment = reading.judgment
    return Reading(Judgment("ambiguous", flags=(*judgment.flags, "quoted"))) if story else reading


def withheld(text: str) -> bool:
    """Whether the whole answer is the notice of a content filter: "Content Blocked"."""
    low = text.strip().lower()
    return len(low) <= _LONGEST_NOTICE and label_words.WITHHELD.fullmatch(low) is not None


def _prose(text: str, criterion: Criterion, criterion_names: Names, *, cut: bool) -> Reading:
    """Judgment of running text on a scale of labels, with the words that state the label: every label is found, those
    stated as the answer are kept, and one of them is chosen.
    """
    sheet = page(text, criterion_names, criterion.scale)
    labels = label_mentions(sheet)
    if not labels or label_words.DECLINES.match(sheet.low):
        return Reading(Judgment("no_rating"))
    if cut and _unfinished(sheet, labels[-1]):
        labels = labels[:-1]
    decision, read = _decision(sheet, labels)
    chosen = decision.statement
    if decision.status != "ok" or chosen is None:
        return Reading(Judgment(decision.status, flags=decision.flags))
    mention = chosen.mention
    judgment = Judgment("ok", mention.value, decision.flags, explanation(sheet, chosen), (mention.start, mention.end))
    words = stating_words(read, chosen)
    return Reading(judgment, () if words is None else (words,))


def _decision(sheet: Page, mentions: list[Mention]) -> tuple[Decision, Page]:
    """(Label chosen from all labels that the answer states, the answer without labels that only restate the choice:
    "Yes or No?").
    """
    options = without_options(sheet, mentions)
    stated = [Statement(mention, DOUBTFUL, "list") for mention in options.doubtful]
    left = [mention for mention in mentions if mention.start not in options.masked]
    for mention in left:
        stated_label = label_statement(options.page, mention)
        if stated_label is not None:
            stated.append(stated_label)
    return decide_label(options.page, stated, left), options.page


def _unfinished(sheet: Page, mention: Mention) -> bool:
    """Whether the text was cut after a label that begins a longer label: "Agree" of "Agree strongly"."""
    label = label_at(sheet, mention)
    longer = any(other.lower().startswith(f"{label} ") for other in sheet.scale.labels)
    return longer and not sheet.low[mention.stop : sheet.last].strip()
