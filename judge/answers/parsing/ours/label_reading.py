"""Reads answers on a scale of labels: running text, JSON, a label alone, or a refusal."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from judge.answers.parsing import vocabulary
from judge.answers.parsing.ours.choosing import Decision, nothing_plain
from judge.answers.parsing.ours.clauses import Page, behind_revision, page
from judge.answers.parsing.ours.explanation import explanation
from judge.answers.parsing.ours.json_answer import json_judgment
from judge.answers.parsing.ours.label_statements import LABELS, label_at, label_mentions, label_statement
from judge.answers.parsing.ours.mentions import Mention
from judge.answers.parsing.ours.statements import Reading, Statement, stating_words
from judge.answers.parsing.vocabulary import DOUBTFUL, PLAIN, STANDING, Names
from judge.base.late_pattern import late
from judge.base.records import Criterion, Judgment, Scale

# Chooses among the labels of a scale (such as Yes and No) that an answer states, or gives the status that says why
# none can be chosen.

_WORD = late(r"[\w']+")
# Characters between two labels of one breath ("Yes, but also no").
_NEAR = 40


def decide_label(page: Page, stated: list[Statement], mentions: Sequence[Mention]) -> Decision:
    """The label (such as Yes) chosen from all statements of a label in an answer, or the status where none can be.

    Of several statements of one label, the plainest is chosen. Two different labels are ambiguous even if one is stated
    more plainly, unless the later one is an explicit revision or only one is for the requested criterion. For numbers
    the plainer statement overrules the other, because one in running text may be misread. Labels are rarely misread."""
    own = [s for s in stated if not s.other]
    flags: tuple[str, ...] = ("others_rated",) if len(own) < len(stated) else ()
    ours = [s for s in own if s.tier < DOUBTFUL]
    if not ours:
        return nothing_plain(own, flags)
    last = [s for s in ours if _revises(page, s, mentions)]
    if last:
        revision = last[-1]
        earlier = [s for s in ours if s.mention.start < revision.mention.start]
        ours = [s for s in ours if s.mention.start >= revision.mention.start]
        if any(s.mention.value != revision.mention.value for s in earlier):
            flags += ("revised",)
    if any(s.named for s in ours):
        ours = [s for s in ours if not s.overall or s.named]
    if any(s.tier == PLAIN for s in ours):
        ours = [s for s in ours if not _asked_itself(s)]
    if len({s.mention.value for s in ours}) > 1:
        return Decision("ambiguous", None, flags)
    if _asked_itself(ours[0]) and any(s.mention.value != ours[0].mention.value for s in own):
        return Decision("ambiguous", None, flags)
    plainest = min(s.tier for s in ours)
    ours = [s for s in ours if s.tier == plainest]
    chosen = next((s for s in ours if s.form == "boxed"), ours[0])
    apart = [s for s in stated if s.other and s.mention.value != chosen.mention.value and not chosen.named]
    if any(_beside(page, chosen.mention, mention) for mention in mentions) or _in_one_sentence(page, chosen, apart):
        return Decision("ambiguous", None, flags)
    return Decision("ok", chosen, flags)


def _asked_itself(statement: Statement) -> bool:
    # The question may be only one of several: "Is it coherent? Yes."
    return statement.form == "leading" and statement.tier == STANDING


def _revises(page: Page, statement: Statement, mentions: Sequence[Mention]) -> bool:
    behind = behind_revision(page, statement.mention.start)
    if behind is None:
        return False
    start = statement.mention.start - len(behind)
    return not any(start <= m.start < statement.mention.start for m in mentions)


def _in_one_sentence(page: Page, chosen: Statement, apart: list[Statement]) -> bool:
    # "A B for effort and an A for style": the chosen label is then about an aspect too.
    begin, end, _ = page.sentence(chosen.mention.start, chosen.mention.stop)
    return any(begin <= s.mention.start < end for s in apart)


def _beside(page: Page, chosen: Mention, other: Mention) -> bool:
    # Such as "Yes, but also no"
    if other.value == chosen.value or not 0 <= other.start - chosen.stop <= _NEAR:
        return False
    between = page.low[chosen.stop : other.start]
    if any(c in ".!?\n(" for c in between):
        return False
    between_words = _WORD.findall(between)
    rest = page.low[other.stop :].lstrip(" \"'”»)")[:1]
    return bool(between_words) and vocabulary.BESIDE.issuperset(between_words) and not rest.isalnum()


# Detects labels of the scale that only restate the choice: "Yes or No?", or a scale explained line by line.

_QUOTES = r"[\s\"'“”‘’«»]{0,4}"
_JOINT = late(rf"{_QUOTES}(/|\||,|;|,?\s?or\b|,?\s?and\b|&|to\b|vs\.?|versus\b|-|–){_QUOTES}(?:an?\s)?{_QUOTES}")
_BOTH = ("and", "to", "&", "-", "–")
_ENDS = late(r"[\"'“”’»\s]{0,3}(?:[.!?:;,)\]\n|]|\Z)")
_OPENS = late(r"[ \t>(\[]{0,4}(?:(?:[-•+]|\#{1,6}|\d{1,2}[.)])[ \t]{1,4})?[\s\"'(\[]{0,4}")
_BEHIND = late(r"[\"')\]\s]{0,3}?([:=.)—–-]|means\b)[ \t]{0,3}(?=\S)")
# Characters: the options restated stand in a short line; in a longer sentence the labels are its own words.
_SHORT = 60


@dataclass(frozen=True, slots=True)
class Options:
    """Labels that only restate the choice ("Yes or No?"): `masked` has their starts, `doubtful` those that may still
    answer, and in `page` those joined by words such as "or" are spaces."""

    page: Page
    masked: frozenset[int]
    doubtful: tuple[Mention, ...]


def without_options(page: Page, mentions: list[Mention]) -> Options:
    """The labels that only restate the choice, and the answer without those joined by "or" and the like; positions
    stay."""
    groups = _joined(page, mentions)
    lines = _listed(page, mentions)
    masked = {m.start for group, _ in groups for m in group} | {m.start for m in lines}
    doubtful = [group[0] for group, both in groups if both and _is_answer(page, group)]
    doubtful += [m for m in lines if not any(c.isalnum() for c in page.low[: m.start])]
    low = page.low
    for group, _ in groups:
        first, last = group[0].start, group[-1].stop
        low = low[:first] + " " * (last - first) + low[last:]
    return Options(replace(page, low=low), frozenset(masked), tuple(doubtful))


def _joined(page: Page, mentions: list[Mention]) -> list[tuple[list[Mention], bool]]:
    # The bool: the joining words say that all of them hold.
    groups: list[tuple[list[Mention], bool]] = []
    run: list[Mention] = []
    joints: list[str] = []
    for i, mention in enumerate(mentions):
        run.append(mention)
        following = mentions[i + 1] if i + 1 < len(mentions) else None
        joint = _JOINT.fullmatch(page.low, mention.stop, following.start) if following is not None else None
        if joint is not None and following is not None and following.value != mention.value:
            joints.append(joint.group(1).strip(" ,"))
            continue
        if joints and _is_group(page, run, joints):
            groups.append((run, any(joint in _BOTH for joint in joints)))
        run, joints = [], []
    return groups


def _is_group(page: Page, run: list[Mention], joints: list[str]) -> bool:
    # Commas and dashes alone join only if no words follow: "Yes, no scene is wasted" is no group.
    if any(joint in ("or", "/", "|", "vs", "vs.", "versus", "to", "&") for joint in joints):
        return True
    return _ENDS.match(page.low, run[-1].stop) is not None and ("and" in joints or len(run) > 1)


def _is_answer(page: Page, group: list[Mention]) -> bool:
    begin, end, _ = page.sentence(group[0].start, group[-1].stop)
    return end - begin <= _SHORT


def _listed(page: Page, mentions: list[Mention]) -> list[Mention]:
    marked: dict[str, list[Mention]] = {}
    for mention in mentions:
        line = page.low.rfind("\n", 0, mention.start) + 1
        opening = _OPENS.fullmatch(page.low, line, mention.start)
        if opening is None:
            continue
        behind = _BEHIND.match(page.low, mention.stop)
        item = any(c in "-•+#" or c.isdigit() for c in opening.group())
        if behind is not None and "\n" not in behind.group():
            marked.setdefault(behind.group(1), []).append(mention)
        elif item and not page.low[mention.stop :].split("\n", 1)[0].strip(" \t.,;:)\"'"):
            marked.setdefault("item", []).append(mention)
    return [m for members in marked.values() if len({m.value for m in members}) > 1 for m in members]


# Characters: a longer text with the words of a filter speaks of the story's content.
_LONGEST_NOTICE = 160


def label_choice(text: str, scale: Scale) -> Judgment:
    """Judgment of an answer whose whole text must be one label; any other text has no rating."""
    start = len(text) - len(text.lstrip())
    literal = text.strip()
    code = scale.code_of(literal)
    return Judgment("no_rating") if code is None else Judgment("ok", float(code), span=(start, start + len(literal)))


@lru_cache(maxsize=4096)
def label_open_form(text: str, criterion: Criterion, criterion_names: Names, *, cut: bool, story: str = "") -> Reading:
    """Judgment of an answer in free form, with the words that state the label. A label quoted from `story` does not
    count. `cut`: at the token limit or by a content filter."""
    as_json = json_judgment(text, criterion_names, criterion.scale, LABELS)
    if as_json is None:
        reading = _prose(text, criterion, criterion_names, cut=cut)
        if not story:
            return reading
        return Reading(Judgment("ambiguous", flags=(*reading.judgment.flags, "quoted")))
    if as_json.judgment.status == "no_rating":
        return Reading(as_json.judgment)
    outside = _prose(as_json.outside, criterion, criterion_names, cut=cut).judgment
    if outside.rating is not None and outside.rating != as_json.judgment.rating:
        # Which of the two is the judge's own cannot be told, as for numbers.
        return Reading(Judgment("ambiguous", flags=as_json.judgment.flags))
    return Reading(as_json.judgment)


def withheld(text: str) -> bool:
    """Whether the whole answer is the notice of a content filter: "Content Blocked"."""
    low = text.strip().lower()
    return len(low) <= _LONGEST_NOTICE and vocabulary.WITHHELD.fullmatch(low) is not None


def _prose(text: str, criterion: Criterion, criterion_names: Names, *, cut: bool) -> Reading:
    sheet = page(text, criterion_names, criterion.scale)
    labels = label_mentions(sheet)
    if not labels or vocabulary.DECLINES.match(sheet.low):
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
    options = without_options(sheet, mentions)
    stated = [Statement(mention, DOUBTFUL, "list") for mention in options.doubtful]
    left = [mention for mention in mentions if mention.start not in options.masked]
    for mention in left:
        stated_label = label_statement(options.page, mention)
        if stated_label is not None:
            stated.append(stated_label)
    return decide_label(options.page, stated, left), options.page


def _unfinished(sheet: Page, mention: Mention) -> bool:
    # Such as "Agree" of "Agree strongly"
    label = label_at(sheet, mention)
    longer = any(other.lower().startswith(f"{label} ") for other in sheet.scale.labels)
    return longer and not sheet.low[mention.stop : sheet.last].strip()
