"""The parser `ours`: a rating and an explanation from an answer's text, or the status that says why there is none."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Literal, assert_never

from judge.answers.parsing.ours.choosing import decide
from judge.answers.parsing.ours.clauses import Page, page
from judge.answers.parsing.ours.explanation import explanation, only_guideline
from judge.answers.parsing.ours.from_story import is_quoted, pattern_judgment, without_objects, without_quoted
from judge.answers.parsing.ours.json_answer import NUMBERS, json_judgment, strict_json_judgment
from judge.answers.parsing.ours.label_reading import label_choice, label_open_form, withheld
from judge.answers.parsing.ours.label_statements import LABELS
from judge.answers.parsing.ours.mentions import Mention, mentions, number
from judge.answers.parsing.ours.statements import Reading, Statement, opens_a_list, statement, stating_words
from judge.answers.parsing.vocabulary import DOUBTFUL, Names, names
from judge.base.late_pattern import late
from judge.base.records import Criterion, Judgment, Response, Scale, Structured

# Replaces reasoning blocks and run-on chat turns in an answer by spaces. Every other character keeps its position.

_THINK_OPEN = late(r"<(think|thinking|thought)>|\[(think)\]|◁(think)▷", re.IGNORECASE)
_THINK_CLOSE = late(r"</(?:think|thinking|thought)>|\[/think\]|◁/think▷", re.IGNORECASE)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_OTHER_CHANNEL = "<|channel|>"
_OWN_TURN = late(
    r"\s*(?:<s>|\[/inst\]|(?:<\|[a-z_]{1,20}\|>\s?)+(?:assistant\b:?)?(?:<\|[a-z_]{1,20}\|>)?"
    r"|\#{2,3}[ ]?(?:assistant|response)[ ]?:|assistant[ ]?:)",
    re.IGNORECASE,
)
_RUN_ON = late(
    r"\n[ \t]{0,9}(?:\#{2,3}[ ]?(?:user|system|assistant|human|instruction|input|response|prompt)\b"
    r"|(?:human|user|assistant|system)[ ]?:|prompt:[ ])"
    r"|<\|[a-z_]{1,20}\|>|</s>|<s>|\[/?inst\]|<<sys>>|<(?:end|start)_of_turn>",
    re.IGNORECASE,
)
_RUN_ON_SIGNS = ("###", "## ", "human:", "user:", "assistant:", "system:", "prompt:", "<|", "s>", "inst]", "_of_turn")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """A text in which spaces replace what is not the answer. `run_on`: a further chat turn was removed."""

    text: str
    run_on: bool = False


def clean(text: str) -> Cleaned:
    """The text with reasoning, role markers and everything after the judge's own turn replaced by spaces."""
    if "think" in text or "thought" in text or _OTHER_CHANNEL in text or "THINK" in text or "Think" in text:
        text = _without_thinking(text)
    lowered = text.lower()
    for sign in _RUN_ON_SIGNS:
        if sign in lowered:
            break
    else:
        return Cleaned(text)
    own = _OWN_TURN.match(text)
    if own is not None:
        text = " " * own.end() + text[own.end() :]
    cut = _RUN_ON.search(text, own.end() if own else 0)
    if cut is None:
        return Cleaned(text)
    return Cleaned(text[: cut.start()] + " " * (len(text) - cut.start()), run_on=True)


def _without_thinking(text: str) -> str:
    # A block without an end mark reaches to the end of the text.
    final = text.rfind(_FINAL_CHANNEL)
    if final >= 0:
        start = final + len(_FINAL_CHANNEL)
        return " " * start + text[start:]
    if text.lstrip().startswith(_OTHER_CHANNEL):
        return " " * len(text)
    pieces: list[str] = []
    done = 0
    for close in _THINK_CLOSE.finditer(text):
        # A close without an open: the chat template had already opened the block.
        opened = _THINK_OPEN.search(text, done, close.start())
        keep_to = opened.start() if opened else done
        pieces += [text[done:keep_to], " " * (close.end() - keep_to)]
        done = close.end()
    opened = _THINK_OPEN.search(text, done)
    if opened is None:
        return "".join(pieces) + text[done:]
    return "".join(pieces) + text[done : opened.start()] + " " * (len(text) - opened.start())


# Detects refusals. Used only for answers without a rating.

_REFUSAL = late(
    r"\b(?:i(?:'m| am)\s(?:sorry\b.{0,40}\b(?:can't|cannot|can not|unable|won't|not able)"
    r"|unable\sto|not\sable\sto|not\scomfortable|afraid\s(?:i|that))"
    r"|i\s(?:can't|cannot|can\snot|won't|will\snot|am\sunable\sto|must\sdecline|decline|refuse)\s?(?:to\s)?"
    r"(?:rate|give(?![^.\n]{0,30}\b(?:more|higher|better|above|less|lower)\b)|provide|help|assist|fulfil|comply|evaluate|assess|judge|engage|answer|do\s(?:that|this)|complete|continue"
    r"|create|generate|score|respond|discuss|offer|assign|read|see|access)?"
    r"|as\san?\s(?:ai|artificial|language\smodel|large\slanguage)"
    r"|(?:it\sis|it's)\snot\s(?:possible|appropriate)\s(?:for\sme\s)?to\s(?:rate|give|evaluate|provide))"
)
_ALONE = late(r"i\s(?:can't|cannot|can\snot|won't|will\snot)\s?\Z")


def refuses(low: str) -> bool:
    """Whether a lower-case text without a rating is a refusal, by its first 600 characters."""
    # "I cannot relate to the hero" is an opinion: the bare modal alone says nothing.
    return any(not _ALONE.match(match.group()) for match in _REFUSAL.finditer(low[:600]))


# Detects numbers in an answer that restate the scale or number a list.

_BEHIND = late(r"\s{0,2}(=|being\b|means\b|meaning\b|is\b|[-—–:.)\]](?!\d)|\((?=[a-z]))")
_DEFINES = frozenset(("=", "being", "means", "meaning"))
_LIST_MARKS = (".", ")", ":")
_BULLETS = " \t-•>(["


@dataclass(frozen=True, slots=True)
class _Point:
    start: int
    value: int
    # The text after the number.
    behind: str
    opens_line: bool


def scale_numbers(low: str, mentions: list[Mention], scale: Scale) -> set[int]:
    """Start positions of the numbers that belong to a restated scale or to a numbered list."""
    points: list[_Point] = []
    for mention in mentions:
        behind = _BEHIND.match(low, mention.end)
        if behind is None or mention.kind != "digits" or mention.value % 1 or abs(mention.value) > 1000:
            continue
        line = low.rfind("\n", 0, mention.start) + 1
        opens = mention.start - line < 12 and not low[line : mention.start].strip(_BULLETS)
        points.append(_Point(mention.start, int(mention.value), behind.group(1), opens))
    masked = {p.start for p in points if p.behind in _DEFINES}
    lines = [p for p in points if p.opens_line]
    masked |= _runs(lines, scale, lists=True)
    return masked | _runs([p for p in points if p.behind not in (".", ")", "]")], scale, lists=False)


def opens_line(low: str, mention: Mention) -> bool:
    """Whether the number begins its line, possibly after a bullet."""
    return not low[low.rfind("\n", 0, mention.start) + 1 : mention.start].strip(_BULLETS)


def continues_list(low: str, mention: Mention, earlier: Mention, *, cut: bool) -> bool:
    """Whether a number alone on the last line may go on the list above. After an empty line, only in a cut answer."""
    line = low.rfind("\n", 0, mention.start) + 1
    if not opens_line(low, mention) or low[mention.stop :].strip(" \t\n.)"):
        return False
    above = low[:line]
    return mention.value == earlier.value + 1 and (cut or above == above.rstrip() + "\n")


def ends_cut(low: str, mention: Mention, last: int, earlier: list[Mention]) -> bool:
    """Whether a cut answer ends in a line that is only a number, below other lines that begin with numbers. The number
    may then be the next of a list."""
    if not opens_line(low, mention) or low[mention.stop : last].strip(" \t\n.):"):
        return False
    line = low.rfind("\n", 0, mention.start) + 1
    return any(previous.start < line and opens_line(low, previous) for previous in earlier)


_FIRST_ITEM = late(r"\.[ ]{1,2}[^\W\d_][^.!?\n]{0,60}\Z")


def ends_in_an_item(low: str, mention: Mention, last: int) -> bool:
    """Whether a cut answer ends within the first sentence behind a "1." in a line: a list may begin there."""
    return (
        mention.value == 1
        and mention.stop == mention.end
        and not opens_line(low, mention)
        and _FIRST_ITEM.match(low[:last], mention.end) is not None
    )


def _runs(points: list[_Point], scale: Scale, *, lists: bool) -> set[int]:
    # Two members suffice for a list from 1 ("1." "2." or "1:" "2:") and for both ends of the scale; otherwise three,
    # one of them an end of the scale.
    masked: set[int] = set()
    start = 0
    for i in range(1, len(points) + 1):
        step = points[i].value - points[i - 1].value if i < len(points) else 0
        if abs(step) == 1 and (i == start + 1 or step == points[start + 1].value - points[start].value):
            continue
        run = points[start:i]
        values = [p.value for p in run]
        numbered = (
            lists
            and values[0] == 1
            and len(run) >= 2
            and len({p.behind for p in run}) == 1
            and run[0].behind in _LIST_MARKS
        )
        ends = {scale.min, scale.max} & set(values)
        if numbered or (len(run) >= 3 and ends) or (len(run) >= 2 and len(ends) == 2):
            masked |= {p.start for p in run}
        start = i
    return masked


@dataclass(frozen=True, slots=True)
class Ours:
    """Reads only what an answer states: a number, or a label's code.

    Flags with a rating: `off_step` (4.5 on whole numbers), `cut` (after the rating), `run_on` (a further chat turn was
    removed), `others_rated` (other criteria too), `revised` (it revises an earlier rating) and `guideline_only` (the
    explanation repeats a guideline). Flags of ambiguous answers: `list` (the only number is the "1." of a list) and
    `quoted` (the only rating is from the story or somebody's speech)."""

    version: str = "ours/4"
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
        """The judgment of one response, without its reasoning. With a `rating_pattern`, only what it matches is a
        rating. A statement whose words occur in `story` is a quotation, unless `structured` made the server return a
        number or an object."""
        cleaned = clean(response.text)
        flags: tuple[str, ...] = ("run_on",) if cleaned.run_on else ()
        cut = response.finish_reason in ("length", "content_filter")
        if not cleaned.text.strip():
            return Judgment(why_empty(response), flags=flags)
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
            read = partial(
                label_open_form if labels else _open_form,
                criterion=criterion,
                criterion_names=criterion_names,
                cut=cut,
            )
            own = without_objects(story, cleaned.text) if story else cleaned.text
            free = read(own)
            if story and any(is_quoted(story, quotation) for quotation in free.stated_words):
                free = read(own, story=story)
            judgment = free.judgment
            quoted = own != cleaned.text and judgment.status == "no_rating"
            if quoted and read(cleaned.text).judgment.rating is not None:
                judgment = Judgment("ambiguous", flags=(*judgment.flags, "quoted"))
        else:
            assert_never(structured)
        return _finish(judgment, flags, response, criterion, cleaned.text)


def load() -> Ours:
    return Ours()


def why_empty(response: Response) -> Literal["filtered", "truncated", "empty"]:
    """The status of an answer without any text."""
    if response.finish_reason == "content_filter":
        return "filtered"
    # The limit was reached before the first word: in the thinking, whether the server shows it or not.
    return "truncated" if response.finish_reason == "length" else "empty"


def _choice(text: str, scale: Scale) -> Judgment:
    start = len(text) - len(text.lstrip())
    literal = text.strip()
    value = number(literal) if literal.replace(".", "", 1).isdecimal() else None
    if value is None:
        return Judgment("no_rating")
    if value not in scale:
        return Judgment("out_of_scale")
    return Judgment("ok", value, span=(start, start + len(literal)))


# Equal answers are common: a bare "4", a judge at temperature 0. Neighbouring repeats are read once. The story is among
# what tells answers apart only where one quotes it.
@lru_cache(maxsize=4096)
def _open_form(text: str, criterion: Criterion, criterion_names: Names, *, cut: bool, story: str = "") -> Reading:
    as_json = json_judgment(text, criterion_names, criterion.scale, NUMBERS)
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
        if cut and ends_in_an_item(sheet.low, mention, sheet.last):
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
    # Such as "4/", "3 and", "4 out of"
    return rest in ("-", "–", "/") or rest.strip() in ("/", "to", "or", "and", "out", "out of")


def _finish(
    judgment: Judgment, flags: tuple[str, ...], response: Response, criterion: Criterion, text: str
) -> Judgment:
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
