"""Whether an answer states a label of the scale, how plainly, and for which criterion: in the forms of numbers
(`leading`, `label`, `sentence`, `line`, `boxed`), with their rules for quotations, hypotheses, denials and other
people."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import Any

from judge.answers.parsing import vocabulary as words
from judge.answers.parsing.ours.clauses import Page, assertion, behind_revision, clause_before, page
from judge.answers.parsing.ours.json_answer import Entry, Reading
from judge.answers.parsing.ours.labels import Label, label_before, quotation
from judge.answers.parsing.ours.mentions import Mention
from judge.answers.parsing.ours.statements import Statement, about_what, line_rest
from judge.answers.parsing.vocabulary import DOUBTFUL, INITIAL, LABEL_NAMES, LIKELY, PLAIN, STANDING, names
from judge.base.late_pattern import late
from judge.base.records import Judgment, Scale

# Finds the labels of a scale in an answer.


def label_mentions(page: Page) -> list[Mention]:
    """Each whole-word label, the longest at its position, as a mention with its code; of very many, the first and
    last."""
    pattern, codes = _pattern(page.scale.labels)
    return words.first_and_last([_mention(match, codes) for match in pattern.finditer(page.low)])


def label_at(page: Page, mention: Mention) -> str:
    """The label at a mention, in lower case."""
    return page.scale.labels[int(mention.value)].lower()


def is_small_letter(page: Page, mention: Mention) -> bool:
    """Whether a label of one capital letter (a grade A) occurs in lower case: "a" is mostly the article."""
    label = page.scale.labels[int(mention.value)]
    return len(label) == 1 and label.isupper() and not page.text[mention.start].isupper()


def is_initial(page: Page, mention: Mention) -> bool:
    """Whether a label of one letter (such as the grade A) is an initial in a name."""
    alone = len(page.scale.labels[int(mention.value)]) == 1
    return alone and INITIAL.match(page.text, mention.stop) is not None


def plain_words(label: str) -> list[str]:
    """Words of a label in the form that is searched: lower case, without markup, straight quotation marks."""
    for mark in "*_`~\\":
        label = label.replace(mark, " ")
    return label.replace("’", "'").lower().split()


@lru_cache(maxsize=64)
def _pattern(labels: tuple[str, ...]) -> tuple[re.Pattern[str], dict[str, int]]:
    codes = {" ".join(plain_words(label)): code for code, label in enumerate(labels)}
    forms = []
    for written in sorted(codes, key=len, reverse=True):
        spelled = r"\s{1,3}".join(re.escape(word) for word in written.split())
        # "A+", "A-", "C#" and "A.I." are no grades A and C.
        forms.append(spelled + (r"(?![+#])(?![-−](?:\W|\Z))(?!\.\w)" if len(written) == 1 else r"(?!\+)"))
    before, behind = r"(?<!\w)(?<!\w-)(?<!\w')", r"(?!\w)(?!['-]\w)(?!\.\d)"
    first = r"" if not all(label[:1].isalnum() for label in codes) else r"\b"
    return re.compile(f"{before}{first}(?:{'|'.join(forms)}){behind}"), codes


def _mention(match: re.Match[str], codes: dict[str, int]) -> Mention:
    code = codes[" ".join(match.group().split())]
    return Mention(match.start(), match.end(), match.end(), float(code), "digits")


# Reads labels of a scale (such as Yes and No) from answers given as JSON: which keys hold a label, and what a value
# means.

# Characters of a value that may be a label with a remark; a longer one is an explanation.
_LONGEST = 200

_EDGE = " \t\n*_\"'`.!()[]"


def _judge(
    chosen: list[tuple[Entry, int]], flags: tuple[str, ...], scale: Scale, text: str, _objects: list[dict[str, Any]]
) -> Judgment:
    read = [(code_in(entry.value, scale), entry, start) for entry, start in chosen]
    stated = [(code, entry, start) for code, entry, start in read if code is not None]
    if not stated:
        return Judgment("no_rating", flags=flags)
    if len({code for code, _, _ in stated}) > 1:
        return Judgment("ambiguous", flags=flags)
    code, entry, start = stated[0]
    return Judgment("ok", float(code), flags, entry.explanation, _span(text, entry, scale, code, start))


# Keys of JSON that hold a label, and how their values are read.
LABELS = Reading(LABEL_NAMES, _judge)


def code_in(value: Any, scale: Scale) -> int | None:
    """Code of the label that the value is or begins with, before a punctuation mark ("Yes, because ..."); None
    otherwise."""
    if not isinstance(value, str):
        return None
    code = scale.code_of(value.strip(_EDGE))
    if code is not None:
        return code
    sheet = page(value[:_LONGEST], names("", ()), scale)
    named = label_mentions(sheet)
    if not named or sheet.low[: named[0].start].strip(_EDGE) or len({m.value for m in named}) > 1:
        return None
    behind = sheet.low[named[0].stop :].lstrip(" *\"'")
    return int(named[0].value) if behind[:1] in ".,:;!(—–-\n" else None


def _span(text: str, entry: Entry, scale: Scale, code: int, start: int) -> tuple[int, int] | None:
    position = text.find(f'"{entry.key}"', start)
    if position < 0:
        return None
    behind = position + len(entry.key) + 2
    label = scale.labels[code].lower()
    offset = text[behind : behind + _LONGEST].lower().find(label)
    return None if offset < 0 else (behind + offset, behind + offset + len(label))


_GOES_ON = ("stop", "dash", "opening", "stated")
_ENDS = ("stop", "dash", "opening")
_BEING = words.word_set("is was stands sits lands falls it's that's be")
_POINTING = words.word_set("it this that it's that's")
_BULLET = late(r"[ \t>]{0,4}(?:[-•+]|\d{1,2}[.)])[ \t]{1,4}\W{0,4}")
_KEY = late(r"[\"']\s{0,2}:")
_BOXED = late(r"(?:\bboxed\s?\{\s?(?:text\s?\{\s?)?|\[\s?results?\s?\]\s?:?\s?[(\[]?\s?)\Z")
_TAG = late(r"<\s?(?:final )?(?:answer|rating|verdict|label|score|grade|judge?ment|decision)\s?>\W{0,4}\Z")


def label_statement(page: Page, mention: Mention) -> Statement | None:
    """The statement that the answer makes with a label; None where the label is only mentioned."""
    stated = _stated(page, mention)
    if stated is not None and stated.other:
        return stated
    span = quotation(page.text, mention.start, mention.stop)
    if span is not None:
        alone = _stated(page.part(*span), mention) if stated is None else stated
        return None if alone is None else Statement(mention, DOUBTFUL, "quoted")
    if stated is None:
        return None
    given = assertion(page, mention, "sentence" if stated.form == "sentence" else "label")
    if given == "denied":
        return None
    hangs = stated.form in ("leading", "line") and words.DEPENDS.match(page.low, mention.stop) is not None
    return replace(stated, tier=DOUBTFUL) if (given == "doubtful" or hangs) and stated.tier < DOUBTFUL else stated


def _stated(page: Page, mention: Mention) -> Statement | None:
    # By form and words alone, not by whose statement it is. A hedge before the label ("almost") makes it doubtful.
    near = max(0, mention.start - 24)
    number = words.NUMBERED.search(page.low, near, mention.start)
    if number is not None:
        page = _blanked(page, number.start(), mention.start)
    hedge = words.HEDGE.search(page.low, near, mention.start)
    stated = _plainly_stated(page if hedge is None else _blanked(page, hedge.start(), mention.start), mention)
    about = about_what(page, mention)
    if about == "other" and (stated is None or not stated.named):
        return Statement(mention, LIKELY, "other", other=True)
    if stated is None or stated.other:
        return stated
    named = stated.named or about == "asked"
    return replace(stated, named=named, tier=stated.tier if hedge is None else DOUBTFUL)


def _blanked(page: Page, begin: int, end: int) -> Page:
    return replace(page, low=page.low[:begin] + " " * (end - begin) + page.low[end:])


def _plainly_stated(page: Page, mention: Mention) -> Statement | None:
    follow = _follow(page, mention)
    unchecked = words.UNCHECKED.search(page.low, max(0, mention.start - 8), mention.start) is not None
    if follow == "no" or unchecked or is_initial(page, mention) or _accepts(page, mention):
        return None
    stated = _leading(page, mention, follow) or _standing_form(page, mention)
    if stated is not None:
        return stated
    before = page.tokens_before(mention.start)
    label = _label(page, before, mention)
    if label is not None and label.kind == "doubtful" and _on_next_line(page, mention):
        label = None
    if label is not None and not (is_small_letter(page, mention) and follow not in ("stop", "dash")):
        stated = _labelled(label, mention, follow)
        if stated is not None or label.kind == "rating":
            return stated
    return _in_sentence(page, before, mention, follow) or _alone(page, before, mention, follow, label)


def _follow(page: Page, mention: Mention) -> str:
    # `opening`: a new clause. `stated`: a word that may follow a stated answer ("no for this story"). `noun`: words to
    # which the label belongs. `no`: the label is defined ("Yes = ...") or is a JSON key.
    low, position = page.low, mention.stop
    while position < len(low) and low[position] in " \t\"'”»)]}>$":
        position += 1
    if _set_off(page, mention):
        return "stop"
    if _KEY.match(low, mention.stop) and low[: mention.start].rstrip("{, \n\t").endswith(('"', "'")):
        return "no"
    if position >= len(low) or not low[position].isalnum():
        behind = low[position : position + 1]
        return "no" if behind == "=" else "dash" if behind in ("—", "–", "-") else "stop"
    word = page.word_at(position)
    interjection = label_at(page, mention) in words.INTERJECTIONS
    capital = page.text[position].isupper() or page.text[position] == "I"
    if word in (words.AFTER_INTERJECTION if interjection else words.AFTER_LABEL):
        return "opening"
    if capital and word in words.NEW_SENTENCE:
        return "opening"
    return "stated" if word in words.AFTER_STATED or page.names.is_asked(word) else "noun"


def _set_off(page: Page, mention: Mention) -> bool:
    # Such as "**Yes** an average reader"
    text = page.text
    return text.startswith(("**", "__"), mention.stop) and text.endswith(("**", "__"), 0, mention.start)


def _accepts(page: Page, mention: Mention) -> bool:
    # Such as "Yes, I will rate it"
    accepted = words.ACCEPTS.match(page.low)
    return accepted is not None and mention.start < accepted.end()


def _leading(page: Page, mention: Mention, follow: str) -> Statement | None:
    # Such as "Yes, ...", apart from a greeting or a repeated question.
    if follow not in _ENDS:
        return None
    head = page.low[: mention.start]
    if words.OPENER.fullmatch(head, 0, min(len(head), 200)) and len(head) <= 200:
        if is_small_letter(page, mention) and (any(c.isalnum() for c in head) or follow != "stop"):
            return None
        return Statement(mention, PLAIN, "leading")
    asked = head.strip(" \t\n*\"'”»)>")
    first = asked.endswith("?") and not re.search(r"[.!?](?:\s|\Z)|\n", asked[:-1])
    # An answer to a question that the answer itself asks yields to a verdict.
    return Statement(mention, STANDING, "leading") if first and not _BULLET.match(head) else None


def _standing_form(page: Page, mention: Mention) -> Statement | None:
    # Such as [[Yes]], boxed{Yes}, <answer>Yes</answer>
    low, start = page.low, mention.start
    near = low[max(0, start - 40) : start]
    boxed = near.rstrip().endswith("[[") and low[mention.stop :].lstrip().startswith("]]")
    if boxed or _BOXED.search(near) or words.CHECKED.search(near):
        return Statement(mention, PLAIN, "boxed")
    tag = _TAG.search(near)
    if tag is not None and _follow(page, mention) in _ENDS:
        return Statement(mention, PLAIN, "label")
    return None


def _label(page: Page, before: list[str], mention: Mention) -> Label | None:
    # Words that announce numbers count too.
    line = page.low.rfind("\n", 0, mention.start) + 1
    match = words.SAYS.search(page.low, max(line, mention.start - 120), mention.start)
    if words.LINE_LABEL.fullmatch(page.low, line, mention.start) or (match and ":" in match.group()):
        return Label("rating")
    tokens = before.copy()
    while tokens and tokens[-1] in "\n([{<":
        tokens.pop()
    stopped = bool(tokens) and tokens[-1] in ":=→|—–->："
    while tokens and tokens[-1] in ":=→|—–->：":
        tokens.pop()
    segment: list[str] = []
    while tokens and tokens[-1] not in words.STOPS:
        segment.append(tokens.pop())
    allowed = words.GLUE | words.STORY | words.SUBJECT | words.STATE | words.RATING | words.LABEL_NAMES
    allowed |= words.ABOUT_THE_REQUEST | words.ANSWER_NOUNS
    announces = words.LABEL_NAMES | words.CONCLUDING | words.ANSWER_NOUNS
    if stopped and 1 <= len(segment) <= 8 and allowed.issuperset(segment) and not announces.isdisjoint(segment):
        return Label("rating")
    return label_before(page, before)


def _labelled(label: Label, mention: Mention, follow: str) -> Statement | None:
    # Such as "Answer: Yes", "Originality = No", a heading, a table cell.
    if label.kind == "other":
        return Statement(mention, PLAIN, "label", other=True) if follow in _GOES_ON else None
    if label.kind == "rating" and (follow in _ENDS or (follow == "stated" and not label.weak)):
        return Statement(mention, PLAIN, "label", named=label.named, overall=label.overall)
    if label.kind == "doubtful" and follow == "stop":
        return Statement(mention, DOUBTFUL, "label")
    return None


def _in_sentence(page: Page, before: list[str], mention: Mention, follow: str) -> Statement | None:
    # Such as "the answer is no", "I would rate it Good", "I strongly agree"
    if follow not in _GOES_ON or is_small_letter(page, mention):
        return None
    begin, _, _ = page.sentence(mention.start, mention.stop)
    if words.SAYS.search(page.low, max(begin - 1, mention.start - 120, 0), mention.start):
        return Statement(mention, PLAIN, "sentence")
    clause = clause_before(page, before, mention)
    if clause.denied or clause.other:
        return None
    if words.SELF.search(page.low, max(begin, mention.start - 40), mention.start):
        return Statement(mention, LIKELY, "sentence")
    if not clause.states:
        return None
    if _names_the_answer(page, before, mention):
        return Statement(mention, clause.states, "sentence", named=clause.named)
    return Statement(mention, DOUBTFUL, "sentence") if clause.named else None


def _names_the_answer(page: Page, before: list[str], mention: Mention) -> bool:
    # Not in "the story is good": "good" is an ordinary word there.
    segment: list[str] = []
    for token in reversed(before):
        if token in words.STOPS:
            break
        segment.append(token)
    segment_words = set(segment)
    if segment_words & words.ANSWER_NOUNS or segment_words & (words.STORY_STATE - _BEING):
        return True
    if segment_words & words.SUBJECT and segment_words & (words.STATE | words.ANSWERING):
        return True
    noun = label_at(page, mention) in words.INTERJECTIONS or len(label_at(page, mention)) == 1
    return noun and segment[:1] in (["a"], ["an"]) and bool(segment_words & _POINTING)


def _alone(page: Page, before: list[str], mention: Mention, follow: str, label: Label | None) -> Statement | None:
    # A line, its beginning, or a sentence after words such as "so, in short".
    if label is not None and label.kind in ("unknown", "doubtful") and not _on_next_line(page, mention):
        return None
    if label is not None and label.kind == "unknown" and not words.QUANTITY.isdisjoint(before[-4:]):
        return None
    low, start = page.low, mention.start
    line = low.rfind("\n", 0, start) + 1
    opens = not any(c.isalnum() for c in low[line:start])
    if opens and not any(c.isalnum() for c in line_rest(page, mention)):
        last = not any(c.isalnum() for c in low[mention.stop :])
        return Statement(mention, PLAIN if last else STANDING, "line")
    if opens and follow in _ENDS and not _BULLET.fullmatch(low, line, start):
        # Such as "No, the story does not ..." below the reasoning.
        marked = (
            page.text[mention.start - 1 : mention.start] == "*"
            and page.text[mention.stop : mention.stop + 2].find("*") >= 0
        )
        if label_at(page, mention) not in words.INTERJECTIONS and not marked:
            return None
        conceded = words.CONCEDES.match(page.low, mention.stop) is not None
        return None if conceded and not marked else Statement(mention, STANDING, "line")
    return _closes(page, before, mention, follow)


def _closes(page: Page, before: list[str], mention: Mention, follow: str) -> Statement | None:
    # Such as "Hence, no.", or "No." as the last sentence.
    clause = clause_before(page, before, mention)
    if clause.denied or follow not in ("stop", "dash") or is_small_letter(page, mention):
        return None
    begin, _, _ = page.sentence(mention.start, mention.stop)
    clause_words = set(re.findall(r"[\w']+", page.low[begin : mention.start]))
    interjection = label_at(page, mention) in words.INTERJECTIONS
    ends = interjection or re.match(r"[\"'”»)*\s]{0,4}(?:[.!\n]|\Z)", page.low[mention.stop :]) is not None
    if clause_words and ends and (not clause.states or clause.whole):
        if behind_revision(page, mention.start) is not None and clause.whole:
            return Statement(mention, PLAIN, "sentence")
        if clause_words & words.CONCLUDING and clause_words <= words.AROUND_CONCLUDING:
            return Statement(mention, LIKELY, "sentence")
    if clause_words or not re.match(r"[\"'”»)*\s]{0,4}(?:[.!]|\Z)", page.low[mention.stop :]):
        return None
    asked = page.low[:begin].rstrip(" \n\"'*)").endswith("?")
    last = not any(c.isalnum() for c in page.low[mention.stop :])
    return Statement(mention, DOUBTFUL if asked or not last else STANDING, "line")


def _on_next_line(page: Page, mention: Mention) -> bool:
    line = page.low.rfind("\n", 0, mention.start) + 1
    return line > 0 and not any(c.isalnum() for c in page.low[line : mention.start])
