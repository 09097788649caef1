"""Reads one judgment per criterion from an answer about several criteria. Each criterion gets its own rating and
status.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from judge.answers.parsing.joint.parts import parts
from judge.answers.parsing.ours.cleaning import clean
from judge.answers.parsing.ours.from_story import without_objects
from judge.answers.parsing.protocol import Parser
from judge.answers.parsing.words.criterion_names import names
from judge.base.records import Criterion, Judgment, Response

_SENTENCE = re.compile(r"[.!?;]\s|\n")
_WORD = re.compile(r"[^\W\d_]+")


def joint_judgments(
    parser: Parser, response: Response, criteria: Sequence[Criterion], *, story: str = ""
) -> tuple[Judgment, ...]:
    """One judgment for each criterion, in the order of `criteria`.

    The text about a criterion is read like an answer about this criterion alone. If there are several texts about a
    criterion, those with a rating must agree; otherwise the criterion is `ambiguous`. An answer that is not divided by
    criteria is read as prose: a rating counts for a criterion only if its sentence names the criterion. A rating of the
    whole story thus counts for no criterion.
    """
    cleaned = clean(response.text)
    run_on = ("run_on",) if cleaned.run_on else ()
    without_story = without_objects(story, cleaned.text)
    if without_story != cleaned.text and not without_story.strip(" \n`json"):
        return tuple(Judgment("ambiguous", flags=(*run_on, "quoted")) for _ in criteria)
    cleaned = replace(cleaned, text=without_story)
    answer_parts = parts(cleaned.text, criteria)
    last = max((cleaned.text.rfind(own_parts[-1]) for own_parts in answer_parts.values()), default=-1)
    judged = []
    for criterion in criteria:
        others = [other.name for other in criteria if other is not criterion]
        if not answer_parts:
            judgment = _in_prose(parser, response, cleaned.text, criterion, others, story)
        else:
            own = answer_parts.get(criterion.name, [])
            # A cut falls into the last part alone, and loses what would have come behind it.
            cut = not own or cleaned.text.rfind(own[-1]) == last
            reason = response.finish_reason if cut else None
            judgment = _of_parts(parser, response, reason, own, criterion, others, story)
        flags = (*run_on, *(flag for flag in judgment.flags if flag not in _ASKED))
        # No `replace` here or below: it takes longer than a short answer is read.
        judged.append(Judgment(judgment.status, judgment.rating, flags, judgment.explanation))
    return tuple(judged)


_ASKED = frozenset({"others_rated", "run_on"})
"""Flags that say nothing where other criteria were asked for too, or that are the whole answer's."""


def _of_parts(
    parser: Parser,
    response: Response,
    finish_reason: str | None,
    own: Sequence[str],
    criterion: Criterion,
    others: Sequence[str],
    story: str,
) -> Judgment:
    if not own:
        return Judgment("truncated" if finish_reason == "length" else "no_rating")
    answers = [Response(part, finish_reason, response.reasoning, model=response.model) for part in own]
    # An object is made of one that does not stand in the story; made smaller it may look like one that does.
    stories = ["" if part.startswith("{") else story for part in own]
    pairs = zip(answers, stories, strict=True)
    read = [parser.parse(part, criterion, other_criteria=others, story=text) for part, text in pairs]
    rated = [judgment for judgment in read if judgment.rating is not None]
    if not rated:
        return read[-1]
    if len({judgment.rating for judgment in rated}) > 1:
        return Judgment("ambiguous")
    return next((judgment for judgment in rated if judgment.explanation), rated[0])


def _in_prose(
    parser: Parser, response: Response, text: str, criterion: Criterion, others: Sequence[str], story: str
) -> Judgment:
    judgment = parser.parse(response, criterion, other_criteria=others, story=story)
    if judgment.rating is None:
        return judgment
    if judgment.span is None or not _is_named(text, judgment.span, criterion, others):
        return Judgment("no_rating")
    # What else stands in such a sentence is about the other criteria too.
    return replace(judgment, explanation=None)


def _is_named(text: str, span: tuple[int, int], criterion: Criterion, others: Sequence[str]) -> bool:
    """Whether the sentence around a rating names the criterion by a word that is not part of another requested
    criterion's name.
    """
    begin = max((match.end() for match in _SENTENCE.finditer(text, 0, span[0])), default=0)
    end = _SENTENCE.search(text, span[1])
    words = [word.lower() for word in _WORD.findall(text[begin : end.start() if end else len(text)])]
    shared = {word for other in others for word in _WORD.findall(other.lower())}
    criterion_names = names(criterion.name, tuple(others))
    return any(criterion_names.is_asked(word) and word not in shared for word in words)
