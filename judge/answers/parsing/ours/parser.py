"""The parser `ours`: reads a rating and an explanation from an answer's text, or gives the status that says why there
is no rating.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import assert_never

from judge.answers.parsing.ours.cleaning import clean
from judge.answers.parsing.ours.deciding import decide
from judge.answers.parsing.ours.explanation import explanation, only_guideline
from judge.answers.parsing.ours.from_story import is_quoted, without_objects, without_quoted
from judge.answers.parsing.ours.json_answer import NUMBERS, json_judgment, strict_json_judgment
from judge.answers.parsing.ours.labelled.label_json import LABELS
from judge.answers.parsing.ours.labelled.label_reading import label_choice, label_open_form, withheld
from judge.answers.parsing.ours.mentions import Mention, mentions, number
from judge.answers.parsing.ours.page import Page, page
from judge.answers.parsing.ours.rating_pattern import pattern_judgment
from judge.answers.parsing.ours.reading import Reading
from judge.answers.parsing.ours.refusal import refuses
from judge.answers.parsing.ours.scale_talk import continues_list, ends_cut, opens_line, scale_numbers
from judge.answers.parsing.ours.statements import Statement, opens_a_list, statement, stating_words
from judge.answers.parsing.words.criterion_names import Names, names
from judge.answers.parsing.words.tiers import DOUBTFUL
from judge.base.records import Criterion, Judgment, Response, Scale, Status, Structured


@dataclass(frozen=True, slots=True)
class Ours:
    """A parser that reads only what an answer states: a number, or the code of a label where the scale has labels.

    Flags of answers with a rating: `off_step` (4.5 on a scale of whole numbers), `cut` (the answer was cut after its
    rating), `run_on` (a further chat turn was removed), `others_rated` (other criteria were rated too), `revised` (the
    rating explicitly revises an earlier one) and `guideline_only` (the explanation only repeats a guideline).

    Flags of ambiguous answers: `list` (the only number is the "1." of a list) and `quoted` (the only rating is quoted
    from the story or from somebody's speech).
    """

    version: str = "ours/3"
    imputes: bool = False

    def parse(
        self,
        response: Response,
        criterion: Criterion,
        *,
        structured: Structured = "none",
        other_criteria: Sequence[str] = (),
        story: str = "",
        rating_pattern: str | None = None,
    ) -> Judgment:
        """The judgment of one response. The judge's reasoning in `response.reasoning` is not searched for a rating.

        With a `rating_pattern`, only text that the pattern matches is a rating. A statement whose words occur in
        `story` counts as a quotation. This check is skipped if `structured` made the server return a number or an
        object.
        """
        cleaned = clean(response.text)
        flags: tuple[str, ...] = ("run_on",) if cleaned.run_on else ()
        cut = response.finish_reason in ("length", "content_filter")
        if not cleaned.text.strip():
            return Judgment(_nothing(response), flags=flags)
        criterion_names = names(criterion.name, tuple(other_criteria))
        labels = bool(criterion.scale.labels)
        if rating_pattern is not None:
            judgment = pattern_judgment(rating_pattern, cleaned.text, criterion.scale, story)
        elif structured == "choice":
            judgment = (label_choice if labels else _choice)(cleaned.text, criterion.scale)
        elif structured == "json" or structured == "json-explanation-first":
            reading = LABELS if labels else NUMBERS
            judgment = strict_json_judgment(cleaned.text, criterion_names, criterion.scale, reading)
        elif structured == "none":
            judgment = _free_form(cleaned.text, criterion, criterion_names, story, cut=cut)
        else:
            assert_never(structured)
        return _finish(judgment, flags, response, criterion, cleaned.text)


def load() -> Ours:
    """The parser `ours`, for the registry of parsers."""
    return Ours()


def _nothing(response: Response) -> Status:
    """Status of an answer without text: filtered, truncated or empty."""
    if response.finish_reason == "content_filter":
        return "filtered"
    if response.finish_reason == "length":
        # The limit was reached before the first word: in the thinking, whether the server shows it or not.
        return "truncated"
    return "empty"


def _choice(text: str, scale: Scale) -> Judgment:
    """Judgment of an answer whose whole text must be one number; any other text has no rating."""
    start = len(text) - len(text.lstrip())
    literal = text.strip()
    value = number(literal) if literal.replace(".", "", 1).isdecimal() else None
    if value is None:
        return Judgment("no_rating")
    if value not in scale:
        return Judgment("out_of_scale")
    return Judgment("ok", value, span=(start, start + len(literal)))


def _free_form(text: str, criterion: Criterion, criterion_names: Names, story: str, *, cut: bool) -> Judgment:
    """Judgment of an answer in free form. A rating that the answer quotes from the story does not count. `cut` says
    that the answer was cut, at the token limit or by a content filter.
    """
    open_form = label_open_form if criterion.scale.labels else _open_form
    if not story:
        return open_form(text, criterion, criterion_names, cut=cut).judgment
    own = without_objects(story, text)
    reading = open_form(own, criterion, criterion_names, cut=cut)
    if any(is_quoted(story, quotation) for quotation in reading.stated_words):
        reading = open_form(own, criterion, criterion_names, cut=cut, story=story)
    judgment = reading.judgment
    if (
        own != text
        and judgment.status == "no_rating"
        and open_form(text, criterion, criterion_names, cut=cut).judgment.rating
    ):
        return Judgment("ambiguous", flags=(*judgment.flags, "quoted"))
    return judgment


# Equal answers are common: a bare "4", a judge at temperature 0. Neighbouring repeats are read once. The story is among
# what tells answers apart only where one quotes it.
@lru_cache(maxsize=4096)
def _open_form(text: str, criterion: Criterion, criterion_names: Names, *, cut: bool, story: str = "") -> Reading:
    """Judgment of an answer in free form, with the words that state the rating: from its JSON objects if one holds a
    rating, else from its running text.
    """
    as_json = json_judgment(text, criterion_names, criterion.scale)
    if as_json is None:
        return _prose(text, criterion, criterion_names, story, cut=cut)
    if as_json.judgment.status == "no_rating":
        return Reading(as_json.judgment)
    outside = _prose(as_json.outside, criterion, criterion_names, story, cut=cut)
    if outside.worded and outside.judgment.rating != as_json.judgment.rating:
        # Which of the two is the judge's own cannot be told: a story can hold a JSON object too.
        return Reading(Judgment("ambiguous", flags=as_json.judgment.flags), outside.stated_words)
    return Reading(as_json.judgment, outside.stated_words)


def _prose(text: str, criterion: Criterion, criterion_names: Names, story: str, *, cut: bool) -> Reading:
    """Judgment of running text, with the words that state the rating: every number is found, those stated as a rating
    are kept, and one of them is chosen.
    """
    sheet = page(text, criterion_names, criterion.scale)
    numbers = mentions(sheet.low)
    if not numbers:
        return Reading(Judgment("no_rating"))
    stated = _statements(sheet, numbers, cut=cut)
    words = tuple(
        words
        for one_stated in stated
        if one_stated.tier < DOUBTFUL and (words := stating_words(sheet, one_stated)) is not None
    )
    if story:
        stated = without_quoted(sheet, stated, story)
    decision = decide(sheet, stated)
    chosen = decision.statement
    if decision.status != "ok" or chosen is None:
        return Reading(Judgment(decision.status, flags=decision.flags), words)
    mention = chosen.mention
    span = (mention.start, mention.end)
    judgment = Judgment("ok", mention.value, decision.flags, explanation(sheet, chosen), span)
    return Reading(judgment, words, chosen.form not in ("leading", "line", "boxed"))


def _statements(sheet: Page, mentions: list[Mention], *, cut: bool) -> list[Statement]:
    """The ratings that the numbers in an answer state. Numbers that restate the scale are left out; numbers of a list
    or in quotation marks are doubtful.
    """
    masked = scale_numbers(sheet.low, mentions, sheet.scale) if len(mentions) > 1 else set()
    stated: list[Statement] = []
    last_masked: Mention | None = None
    for mention in mentions:
        if mention.start in masked:
            if mention is mentions[0] and opens_a_list(sheet, mention):
                stated.append(Statement(mention, DOUBTFUL, "list"))
            last_masked = mention if opens_line(sheet.low, mention) else last_masked
            continue
        if cut and mention.stop >= sheet.last - 8 and _unfinished(sheet.low[mention.stop : sheet.last]):
            continue
        if last_masked is not None and continues_list(sheet.low, mention, last_masked, cut=cut):
            stated.append(Statement(mention, DOUBTFUL, "list"))
            continue
        if cut and ends_cut(sheet.low, mention, sheet.last, mentions):
            stated.append(Statement(mention, DOUBTFUL, "list"))
            continue
        stated_here = statement(sheet, mention)
        if stated_here is not None:
            stated.append(stated_here)
    return stated


def _unfinished(rest: str) -> bool:
    """Whether the text was cut inside a range or a fraction: "4/", "3 and", "4 out of"."""
    return rest in ("-", "–", "/") or rest.strip() in ("/", "to", "or", "and", "out", "out of")


def _finish(
    judgment: Judgment, flags: tuple[str, ...], response: Response, criterion: Criterion, text: str
) -> Judgment:
    """The judgment with additions for every form of answer: flags and statuses for cuts, refusals, steps of the scale,
    and copied guidelines.
    """
    flags += judgment.flags
    status = judgment.status
    if status == "ok" and judgment.rating is not None:
        if not criterion.scale.on_step(judgment.rating):
            flags += ("off_step",)
        if response.finish_reason in ("length", "content_filter"):
            flags += ("cut",)
        if judgment.explanation is not None and only_guideline(judgment.explanation, criterion):
            flags += ("guideline_only",)
    elif status == "no_rating":
        if criterion.scale.labels and withheld(text):
            status = "filtered"
        elif refuses(text.lower().replace("’", "'")):
            status = "refused"
        elif response.finish_reason == "length":
            status = "truncated"
        elif response.finish_reason == "content_filter":
            status = "filtered"
    return Judgment(status, judgment.rating, flags, judgment.explanation, judgment.span)
