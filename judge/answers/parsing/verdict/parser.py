"""The parser `verdict/2`: the preferred story in an answer that compares two, or why there is no preference."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from judge.answers.parsing.answer_tokens import Mass, follow_labels, position, read_tokens
from judge.answers.parsing.ours.parser import clean, refuses, why_empty
from judge.answers.parsing.verdict.json_verdicts import FIRST, MEANS, SECOND, TIE, sides
from judge.answers.parsing.verdict.reading import Reading, quoted_from, read, read_choice, read_json
from judge.base.late_pattern import late
from judge.base.records import Response, Structured, Verdict, VerdictStatus

# Detects where an answer continues with a question or a pair of stories that was not part of the request.

_NEXT = late(
    r"\n[ \t]{0,4}[#*>\-_=\[(]{0,6}[ \t]{0,2}(?:question(?:[ ]\d{1,3})?[\]):]{0,2}[*]{0,2}:|q[ ]?\d{0,3}:"
    r"|task(?:[ ]\d{1,3})?:|instructions?:|example[ ]\d{1,3}\b|story[ -]?prompt:|writing prompt:|prompt:"
    r"|input:"
    r"|(?:next|new|another)[ ](?:pair|question|comparison|task|example|stories)\b|(?:pair"
    r"|comparison)[ ](?:no\.?[ ])?\d{1,3}\b|here are two (?:\w+[ ])?stories|now,?[ ](?:compare|consider"
    r"|let's compare|evaluate|read|please)\b"
    r"|(?:please[ ])?compare the (?:following|next)|which (?:story|of the|one|is better)\b[^\n]{0,80}\?"
    r"|(?:please[ ])?read the following|below are two|the following are two|you are (?:a|an|given|asked)\b"
    r"|judge:|evaluator:|interviewer:|student:|teacher:|person [ab12]:)",
    re.IGNORECASE,
)


def turns(text: str) -> list[int]:
    """Positions of at most eight lines that may open a further question, ascending."""
    starts = []
    for match in _NEXT.finditer(text):
        if text[: match.start()].strip():
            starts.append(match.start())
        if len(starts) == 8:
            break
    return starts


# Name and number of this parser; the number changes whenever any verdict can change.
VERSION = "verdict/2"

# The labels of first, second and tie where none are given.
CHOICES = ("A", "B", "C")

_SYMBOLS = (FIRST, SECOND, TIE)
_PAIR = 2
_WORD = late(r"[\w']+")


def parse_verdict(
    response: Response,
    choices: Sequence[str] = CHOICES,
    *,
    tie_offered: bool | None = None,
    structured: Structured = "none",
    criterion: str = "",
    stories: Sequence[str] = (),
) -> Verdict:
    """Which of two stories an answer prefers, by its own words and not its reasoning.

    `choices` are the labels of the first story, the second and, optionally, a tie; words for a tie are read in any
    case. A preference for `criterion` counts, unlike one for another aspect. Words that occur in one of `stories` are a
    quotation. Flags: `cut` (after the verdict), `revised` (it withdraws an earlier one), `run_on` (a further question
    or chat turn was left out), `tie_not_offered`."""
    return _judged(response, tuple(choices), tie_offered, structured, criterion, tuple(stories))[0]


def states_its_label(response: Response, choices: Sequence[str], structured: Structured, criterion: str) -> bool:
    """Whether the label at the verdict's position is itself the answer, so that its token alternatives are other
    verdicts."""
    return _judged(response, tuple(choices), None, structured, criterion, ())[1]


def _judged(
    response: Response,
    choices: tuple[str, ...],
    tie_offered: bool | None,
    structured: Structured,
    criterion: str,
    stories: tuple[str, ...],
) -> tuple[Verdict, bool]:
    cleaned = clean(response.text)
    cut = response.finish_reason in ("length", "content_filter")
    if not cleaned.text.strip():
        return Verdict(why_empty(response), flags=("run_on",) if cleaned.run_on else ()), False
    criterion_words = frozenset(_WORD.findall(criterion.lower()))
    reading, run_on = _reading(cleaned.text, choices, structured, criterion_words, cut=cut and not cleaned.run_on)
    run_on = run_on or cleaned.run_on
    flags: tuple[str, ...] = ("run_on",) if run_on else ()
    if quoted_from(reading, stories):
        reading = Reading("ambiguous")
    if reading.status != "ok" or reading.side is None:
        status = _status(reading, response, cleaned.text)
        return Verdict(status, flags=flags), False
    if reading.side == TIE and _declines(cleaned.text, reading):
        return Verdict("refused", flags=flags), False
    if reading.revised:
        flags += ("revised",)
    if cut:
        flags += ("cut",)
    if reading.side == TIE and not (len(choices) > _PAIR if tie_offered is None else tie_offered):
        flags += ("tie_not_offered",)
    verdict = Verdict("ok", MEANS[reading.side], flags, reading.explanation, reading.span)
    return verdict, reading.direct


def _reading(
    text: str, choices: tuple[str, ...], structured: Structured, criterion_words: frozenset[str], *, cut: bool
) -> tuple[Reading, bool]:
    named = sides(choices)
    match structured:
        case "choice":
            return read_choice(text, choices, _SYMBOLS), False
        case "json" | "json-explanation-first":
            return read_json(text, named), False
        case "none":
            # The verdict before the first further question counts.
            for end in turns(text):
                head = read(text[:end], named, criterion_words, cut=False)
                if head.status in ("ok", "ambiguous"):
                    return head, True
            return read(text, named, criterion_words, cut=cut), False
        case _:
            assert_never(structured)


def _declines(text: str, reading: Reading) -> bool:
    # Such as "I cannot choose between them"
    start = reading.span[0] if reading.span is not None else 0
    low = text.lower().replace("’", "'")
    return re.search(
        r"\bas an? (?:ai|artificial|language)|\b(?:sorry|not comfortable|not able to assist|policy|policies)\b",
        low[: start + 200],
    ) is not None and refuses(low)


def _status(reading: Reading, response: Response, text: str) -> VerdictStatus:
    if reading.status == "ambiguous":
        return "ambiguous"
    if refuses(text.lower().replace("’", "'")):
        return "refused"
    if response.finish_reason == "length":
        return "truncated"
    return "filtered" if response.finish_reason == "content_filter" else "no_preference"


# Certainty of a verdict: each label's probability at its position, from token log-probabilities.

# Shares of a smaller total would be ratios of rounding errors.
_LEAST = 1e-9


@dataclass(frozen=True, slots=True)
class Shares:
    """Probabilities normalised to the sum 1; `tie` is 0 where none was offered. `outside`: tokens that begin no label,
    or were not reported. `undecided`: tokens that could begin several."""

    first: float
    second: float
    tie: float
    outside: float
    undecided: float


def soft_verdict(
    verdict: Verdict,
    response: Response,
    choices: Sequence[str] = CHOICES,
    *,
    structured: Structured = "none",
    criterion: str = "",
) -> Shares | None:
    """Probability shares of first story, second story and tie at the position where the answer states its label.

    None without a preference or log-probabilities, where the reported numbers are no probabilities (they add up to more
    than 1), and where the label is not itself the answer: in "A is worse than B" the alternatives to a name are not
    alternative verdicts, and "the second story" is no label."""
    if verdict.preference is None or verdict.span is None or response.logprobs is None:
        return None
    if not states_its_label(response, choices, structured, criterion):
        return None
    tokens = read_tokens(response.logprobs)
    start = position(tokens, response.text, verdict.span[0])
    if start is None:
        return None
    forms: dict[str, float] = {}
    spelled = response.text[slice(*verdict.span)].lower()
    whole = tuple(" ".join(choice.lower().split()) for choice in choices)
    # "Story A" may stand in the answer with its first word or without it.
    words = whole if any(spelled.startswith(word) for word in whole) else _without_common(tuple(choices), whole)
    for code, word in enumerate(words):
        forms.setdefault(word, float(code))
    mass = Mass(dict.fromkeys(map(float, range(3)), 0.0))
    follow_labels(tokens[start:], "", 1.0, forms, mass)
    total = sum(mass.points.values())
    if mass.improbable or total <= _LEAST:
        return None
    first, second, tie = (mass.points[float(code)] / total for code in range(3))
    outside = max(0.0, 1 - total - mass.undecided)
    return Shares(first, second, tie, outside, mass.undecided)


def _without_common(choices: tuple[str, ...], whole: tuple[str, ...]) -> tuple[str, ...]:
    names = tuple(name.lower() for name in sides(choices).names)
    return (*names, *whole[_PAIR:])
