"""Whether a number in an answer states a rating, how plainly, and for which criterion."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from judge.answers.parsing import vocabulary as words
from judge.answers.parsing.ours.clauses import Clause, Page, assertion, clause_before, revises
from judge.answers.parsing.ours.labels import label_before, quotation
from judge.answers.parsing.ours.mentions import Mention
from judge.answers.parsing.vocabulary import DOUBTFUL, FOREIGN, LIKELY, PLAIN, POSSIBLE, STANDING
from judge.base.late_pattern import late
from judge.base.records import Judgment

# Types for the result of reading an answer and for the words from which it was read.


@dataclass(frozen=True, slots=True)
class StatedWords:
    """The number and the words before it in its sentence. `exact` is a rating in marks, such as [[4]], compared
    verbatim."""

    words: str
    exact: str = ""


@dataclass(frozen=True, slots=True)
class Reading:
    """A judgment with the words of every statement, to search the story for. `worded`: in words, not by a number or
    marks."""

    judgment: Judgment
    stated_words: tuple[StatedWords, ...] = ()
    worded: bool = False


@dataclass(frozen=True, slots=True)
class Statement:
    """A rating that the answer states. `tier` says how plainly (1 = plainest), `form` in which form (such as `label` or
    `sentence`). `named`: the requested criterion is named. `other`: the rating is of another criterion. `overall`: it
    is of the whole story."""

    mention: Mention
    tier: int
    form: str
    named: bool = False
    other: bool = False
    overall: bool = False


# Characters within which an opinion opens an answer, and letters that a criterion shares with its adjective.
_OPINION = 80
_STEM = 5
_ABOUT = late(
    r"[\s\"'\])]{0,3}(?:(?:stars?|points?|rating|score)\s)?(?:on|for|in|regarding|in terms of)\s"
    r"(?:the\s|its\s|this\sstory's\s)?"
    r"(?:criterion\s|level of\s|scale of\s)?([^\W\d_]+(?:\s[^\W\d_]+)?)"
)
_JUNK = " \n\t\r\u00a0\u3000\"'“”«»#>([{$•<\u200b\ufeff-"


def statement(page: Page, mention: Mention) -> Statement | None:
    stated = _stated(page, mention)
    if stated is not None and stated.other:
        return stated
    span = quotation(page.text, mention.start, mention.stop)
    if span is not None:
        alone = _stated(page.part(*span), mention) if stated is None or stated.tier == FOREIGN else stated
        rates = alone is not None and alone.tier != FOREIGN
        return Statement(mention, DOUBTFUL, "quoted") if rates else None
    if stated is None or stated.tier == FOREIGN:
        return None
    given = assertion(page, mention, stated.form)
    if given == "denied":
        return None
    return replace(stated, tier=DOUBTFUL) if given == "doubtful" and stated.tier < DOUBTFUL else stated


_EXACT = late(r"\[\[\s*\Z|\\?boxed\{[^{}]{0,12}(?:\{\s*)?\Z|\[\s?results?\s?\][^\n\w]{0,12}\Z", re.IGNORECASE)
_REACH, _FEWEST = 110, 2


def stating_words(page: Page, stated: Statement) -> StatedWords | None:
    """The words that state a rating; None for a number without words, such as "4" or a first line "4/5"."""
    start, end = stated.mention.start, stated.mention.end
    if stated.form == "leading":
        return None
    begin = start if stated.form == "line" else page.sentence(start, stated.mention.stop)[0]
    words_before = page.low[max(begin, start - _REACH) : end]
    if stated.form != "boxed" and not any(c.isalpha() for c in words_before):
        # A number that is a sentence or a line of the story is known by what stands before it there.
        before = page.low[max(0, start - 60) : start].split()[-4:]
        alone = sum(any(c.isalpha() for c in word) for word in before) < _FEWEST
        return None if alone else StatedWords(f"{' '.join(before)} {page.low[start:end]}")
    exact = _EXACT.search(page.text, max(0, start - 40), start) if stated.form == "boxed" else None
    if stated.form == "boxed" and exact is None:
        return None
    return StatedWords(words_before, page.text[exact.start() : end] if exact else "")


def _stated(page: Page, mention: Mention) -> Statement | None:
    # By form and words alone, not by whose statement it is.
    follow = _follows(page, mention.stop)
    if follow == "no" or _excluded(page, mention):
        return None
    about = about_what(page, mention)
    stated = _leading(page, mention, follow) or _standing_form(page, mention)
    if stated is None:
        before = page.tokens_before(mention.start)
        stated = _labelled(page, before, mention, follow)
        if stated is None and follow not in ("noun", "label"):
            stated = _in_sentence(page, before, mention, follow)
        if (stated is None or stated.tier == FOREIGN) and follow in ("stop", "dash"):
            stated = _opinion(page, mention) or stated
    if stated is None and about == "other" and mention.kind != "stars":
        return Statement(mention, LIKELY, "other", other=True)
    if stated is None:
        return None
    if about == "other":
        if stated.form in ("sentence", "fraction") or (stated.form == "leading" and follow != "stop"):
            return Statement(mention, stated.tier, stated.form, other=True)
        if stated.form == "label" and not stated.named:
            return Statement(mention, stated.tier, stated.form, other=True)
    if about == "asked" and stated.tier < DOUBTFUL:
        return Statement(mention, PLAIN, stated.form, named=True)
    return stated


def _follows(page: Page, stop: int) -> str:
    """Kind of the text after the number. `stop`: punctuation or the end. `dash`. `scale`: the number is explained ("1 =
    worst"). `word`: it may follow a rating. `Word`: a sentence without a full stop before. `label`: a further one
    ("Rating: 3 Confidence: 2"). `noun`: the number counts it. `no`: part of a compound."""
    low, position = page.low, stop
    while position < len(low) and low[position] in " \t\"'”»)]}>$":
        position += 1
    if position >= len(low):
        return "stop"
    char = low[position]
    if char == "-" and position == stop and low[position + 1 : position + 2].isalpha():
        return _follows(page, position + 5) if low.startswith("star", position + 1) else "no"
    if char == "=":
        return "scale"
    if char == "," and _LISTED.match(low, position):
        return "noun"
    if not char.isalnum():
        return "dash" if char in "—–-:：" else "stop"
    word = page.word_at(position)
    if not word:
        return "noun"
    if word in words.COUNTED or page.names.is_asked(word) or page.names.is_other(word):
        behind = _follows(page, position + len(word))
        return "word" if behind in ("stop", "dash", "Word") else behind
    if word in words.AFTER:
        return "word"
    if ord(char) > 0x2E80:
        return "word" if position > stop or char in "分点점" else "noun"
    if word in words.OPENING:
        return "Word"
    return "label" if _NEXT_LABEL.match(page.text, position) else "noun"


_NEXT_LABEL = late(r"[A-Z][\w'’-]*(?:[ \t][\w'’-]+){0,6}[ \t]?(?:\([^()\n]{0,20}\))?[*_]{0,2}[:=]")
_LISTED = late(r",\s{0,2}\d")


def _excluded(page: Page, mention: Mention) -> bool:
    # Such as "1 to 5"
    scale = page.scale
    return mention.high is not None and (mention.value, mention.high) == (scale.min, scale.max)


_OPENINGS = late(
    r"(?:(?:definitely|clearly|easily|just|only|overall,?|honestly,?)\s)?"
    r"(?:an?(?:\s(?:very\s)?(?:solid|strong|weak|easy|clear|firm|low|high|decent|good|fair|respectable|definite|generous))?)?"
)
_OPENS_A_RANGE = late(r"(?:somewhere |anywhere |around |about )?(?:between|from)(?: an?)?")
_BULLET = late(r"[ \t]*(?:(?:[-*•+]|\#{1,6})[ \t]+\**|\*\*)")
_ITEM = late(r"[.):][ \t]+[^\s*]")
_LIST_NUMBER = late(r"1[ \t]{0,2}(?:[.)][ \t]{0,6}(?=[^\W\d]|[\"'“(]|\d{1,2}[.)][ \t])|:[ \t]{1,6}(?=\w|[\"'“(]))")


def _leading(page: Page, mention: Mention, follow: str) -> Statement | None:
    # As if it followed "Rating:".
    head = page.low[: mention.start]
    opening = head.strip(_JUNK) if len(head) <= 200 else "-"
    if mention.high is not None and _OPENS_A_RANGE.fullmatch(opening):
        return Statement(mention, PLAIN, "leading") if follow in ("stop", "dash", "word", "Word") else None
    if _OPENINGS.fullmatch(opening) is None or follow in ("noun", "label", "scale"):
        return None
    if numbers_a_list(page, mention):
        return Statement(mention, DOUBTFUL, "list")
    behind = page.word_at(mention.stop)
    bare = mention.out_of is None
    if mention.kind == "word" and follow not in ("stop", "dash") and bare and behind not in words.COUNTED:
        return None
    if follow == "Word" and not page.text[page.low.find(behind, mention.stop)].isupper():
        return None
    if not bare and not _of_the_scale(page, mention) and follow not in ("stop", "dash"):
        return None
    if follow == "word" and bare and behind in ("a", "to", "is", "in", "at", "or", "from"):
        return None
    return Statement(mention, PLAIN, "leading", named=page.names.is_asked(behind))


def opens_a_list(page: Page, mention: Mention) -> bool:
    """Whether the answer begins with the first number of a list."""
    return not page.low[: mention.start].strip(_JUNK) and numbers_a_list(page, mention)


def numbers_a_list(page: Page, mention: Mention) -> bool:
    """Whether a number may number an item: "1.", "1)" or "1:" at the beginning of a line that goes on with a sentence,
    or any number with a full stop after a bullet or in a heading ("### 2. Plot")."""
    line = page.low.rfind("\n", 0, mention.start) + 1
    if _BULLET.fullmatch(page.text, line, mention.start) and _ITEM.match(page.text, mention.stop):
        return True
    if not page.low[line : mention.start].strip(_JUNK) and _names_a_section(page, mention):
        return True
    return not page.low[line : mention.start].strip(_JUNK) and _LIST_NUMBER.match(page.low, mention.start) is not None


_SECTION = late(r"[.)]\s{1,2}((?:[^\W\d_]+[ ]?){1,3})(?:[ ]?:|[ ]?(?=\n)|(?<=[ ])(?=[A-Z])|\Z)")


def _names_a_section(page: Page, mention: Mention) -> bool:
    # Such as "2. Coherence", "3) Plot: ..."
    section = _SECTION.match(page.text, mention.stop)
    if section is None:
        return False
    named = section.group(1).lower().split()
    return any(page.names.is_asked(word) or page.names.is_other(word) for word in named)


_TAKEN_BACK = late(r"\b(?:wait|actually|sorry|oops|hmm+)\b[^.!?\n\d]{0,12}:\s{0,2}\Z")
_REMARK = late(r"\bnotes?:[ \t]*\Z")
_LIST_ITEM = late(r"[ \t]*\d{1,2}[.):][ \t]")


def _numbers_what_follows(page: Page, mention: Mention) -> bool:
    # Such as "Note: 2. The other", "2. Here is the answer: 1. The"
    if _ITEM.match(page.text, mention.stop) is None:
        return False
    line = page.low.rfind("\n", 0, mention.start) + 1
    within = mention.value == 1 and _LIST_ITEM.match(page.low, line) is not None
    return within or _REMARK.search(page.low, line, mention.start) is not None


_ARROW = late(r"\W{0,3}(?:=>|->|⇒|→|➜)\W{0,3}")
_RESULT = late(r"\[\s?results?\s?\]\s{0,3}:?\s{0,3}(?:(?:score|rating)\s?:?\s{0,3})?[(\[]?\s?\Z")


def _standing_form(page: Page, mention: Mention) -> Statement | None:
    # Such as [[4]], boxed{4}, [RESULT] 4 (Prometheus)
    low, start = page.low, mention.start
    if _RESULT.search(low, max(0, start - 24), start):
        return Statement(mention, PLAIN, "boxed")
    if low.startswith("[[", start - 2) and low.startswith("]]", mention.stop):
        return Statement(mention, PLAIN, "boxed")
    if low[max(0, start - 12) : start].rstrip("{ ").endswith(("boxed", "boxed{ text")):
        return Statement(mention, PLAIN, "boxed")
    begin, _, _ = page.sentence(start, mention.stop)
    if _ARROW.fullmatch(low, begin, start) and not line_rest(page, mention).strip(" \t\"'”»)]}>$.|!"):
        return Statement(mention, LIKELY, "line")
    return None


def _labelled(page: Page, before: list[str], mention: Mention, follow: str) -> Statement | None:
    # Such as "Rating: 4", "Coherence = 4", a heading, a table cell.
    label = label_before(page, before)
    if label is None:
        return None
    if label.kind == "other":
        return Statement(mention, PLAIN, "label", other=True)
    if follow in ("stop", "dash") and _TAKEN_BACK.search(page.low, max(0, mention.start - 40), mention.start):
        return Statement(mention, PLAIN, "sentence")
    if follow == "scale" or (follow == "noun" and not _capital_behind(page, mention)):
        return None
    if numbers_a_list(page, mention) or _numbers_what_follows(page, mention):
        return Statement(mention, DOUBTFUL, "list")
    if label.kind == "heading":
        return Statement(mention, DOUBTFUL, "line")
    if label.kind in ("unknown", "doubtful"):
        # "Confidence: 2/5" is no rating, and "Great story: 2/5" may be one.
        whole = follow == "stop" if mention.out_of is None else _of_the_scale(page, mention)
        spoken = label.kind == "doubtful" and whole
        return Statement(mention, DOUBTFUL if spoken else FOREIGN, "label")
    if label.weak and follow not in ("stop", "dash", "label") and mention.out_of is None:
        return None
    if label.counts and follow == "dash":
        return Statement(mention, DOUBTFUL, "label")
    return Statement(mention, PLAIN, "label", named=label.named, overall=label.overall)


def _capital_behind(page: Page, mention: Mention) -> bool:
    # Such as "Rating: 3 Humans ..."
    word = page.word_at(mention.stop)
    return bool(word) and page.text[page.low.find(word, mention.stop)].isupper()


def _in_sentence(page: Page, before: list[str], mention: Mention, follow: str) -> Statement | None:
    clause = clause_before(page, before, mention)
    if clause.denied:
        return None
    if clause.other:
        return Statement(mention, LIKELY, "sentence", other=True)
    if clause.states and words.RATING.isdisjoint(before[-3:]) and _numbers_what_follows(page, mention):
        return Statement(mention, DOUBTFUL, "list")  # "1. The story's coherence is 1. The story's": no word of rating
    if clause.states:
        return Statement(mention, clause.states, "sentence", named=clause.named)
    if follow == "scale":
        return None
    if mention.out_of is not None or mention.kind == "stars" or page.word_at(mention.stop) in words.COUNTED:
        return _fraction(page, mention, follow, clause)
    return _alone(page, mention, follow, clause)


_OF_THE_TEXT = late(
    r"\W{0,4}(?:analysis:\s{1,2})?(?:overall,? )?"
    r"(?:(?:the|this) (?:given )?(?:response|reply|answer|output|summary|story|text) (?:is|was|seems|feels) )?"
    r"((?:[^\W\d_]+[ ]?){1,4})(?:\(|[:,]\s)\Z"
)


def _opinion(page: Page, mention: Mention) -> Statement | None:
    # Such as "Good (3)", "Yes, 1", "The response is somewhat coherent (2)": words of opinion open the answer, and the
    # number behind them is its only one.
    if mention.start > _OPINION or mention.kind != "digits" or mention.out_of is not None or mention.high is not None:
        return None
    opinion = _OF_THE_TEXT.match(page.low[: mention.start])
    if opinion is None or any(c.isdigit() for c in page.low[mention.stop :]):
        return None
    said = opinion.group(1).split()
    return Statement(mention, LIKELY, "fraction") if all(_is_opinion(page, word) for word in said) else None


def _is_opinion(page: Page, word: str) -> bool:
    # "Natural (3)" may be of another criterion, such as naturalness.
    stem = word[:_STEM]
    others = len(stem) == _STEM and not word.endswith("ly") and any(name.startswith(stem) for name in page.names.others)
    return page.names.is_asked(word) or (word in words.OPINION and not others)


def _fraction(page: Page, mention: Mention, follow: str, clause: Clause) -> Statement | None:
    # A fraction of the scale ("4/5") or stars.
    if mention.out_of is not None and not _of_the_scale(page, mention) and mention.out_of not in (10, 100):
        return None
    bare_count = mention.out_of is None and mention.kind != "stars"
    after = page.word_at(mention.stop)
    if after in words.COUNTED:
        follow = "word" if bare_count else follow
    if (
        clause.whole
        and not clause.counted
        and (follow in ("stop", "dash") or (after in words.COUNTED and not bare_count))
    ):
        return Statement(mention, PLAIN, "fraction")
    if bare_count:
        return Statement(mention, POSSIBLE, "end") if clause.whole and after in words.COUNTED else None
    if follow not in ("stop", "dash", "word", "label"):
        return None
    return Statement(mention, LIKELY if clause.joined and not clause.counted else DOUBTFUL, "fraction")


def _alone(page: Page, mention: Mention, follow: str, clause: Clause) -> Statement | None:
    # A number that is a line, opens a line before a dash, or follows words such as "On reflection,".
    low, start = page.low, mention.start
    line = low.rfind("\n", 0, start) + 1
    opens = not low[line:start].strip(_JUNK)
    if opens and mention.kind == "digits":
        rest = line_rest(page, mention)
        if not rest.strip(" \t\"'”»)]}>$.|"):
            last = mention.stop + len(rest) >= page.last
            return Statement(mention, PLAIN if last else STANDING, "line")
        if follow == "dash":
            return Statement(mention, LIKELY, "line")
        if follow == "stop" and not numbers_a_list(page, mention):
            return Statement(mention, POSSIBLE, "line")
    if clause.whole and follow in ("stop", "dash") and revises(page, mention):
        return Statement(mention, PLAIN, "sentence")
    begin, _, _ = page.sentence(mention.start, mention.stop)
    by_itself = low.startswith((".", "!"), mention.stop) and not numbers_a_list(page, mention)
    ends = by_itself or follow == "dash" or not line_rest(page, mention).strip(" \t\"'”»)]}>$.|!")
    if ends and not low[begin:start].strip(_JUNK):
        closes = begin > 0 and not low[mention.stop : page.last].strip(" \t\"'”»)]}>$.|!")
        closed_alone = (
            closes and low[max(0, begin - 3) : begin].strip() != ".." and not _LIST_ITEM.fullmatch(low, line, start)
        )
        return Statement(mention, STANDING, "line") if closed_alone else Statement(mention, POSSIBLE, "end")
    return None


def line_rest(page: Page, mention: Mention) -> str:
    """The text, in lower case, from a mention to the end of its line."""
    end = page.low.find("\n", mention.stop)
    return page.low[mention.stop :] if end < 0 else page.low[mention.stop : end]


def _of_the_scale(page: Page, mention: Mention) -> bool:
    return mention.out_of == page.scale.max


def about_what(page: Page, mention: Mention) -> str:
    """Criterion named by "on X" after the number: `asked`, `other`, or "" (none)."""
    match = _ABOUT.match(page.low, mention.stop)
    if match is None:
        return ""
    for word in match.group(1).split():
        if page.names.is_asked(word):
            return "asked"
        if page.names.is_other(word):
            return "other"
    return ""
