"""Evidence on settings from a run's answers: answers cut at the token limit, output formats, stop strings, repeats at
temperature 0.

Only the first answers of a journal are read, without their ratings. Proofs and indications are kept separately.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from judge.answers.journal import JournalReader
from judge.answers.parsing.asked_form import FORMS, VERDICT_FORMS, has_asked_form
from judge.asking.in_force.model_rules import Said
from judge.asking.run_definition.writing import AnySpec
from judge.base.records import Answer, Criterion, Response

MOST = 2000
"""Answers that are read: a sample is enough, and a run's end must not wait for a million."""

FEWEST = 10
"""Answers or queries from which something is concluded."""

_LONG = 40
"""Characters from which two equal answers are no accident; a bare rating is equal by chance."""


@dataclass(frozen=True, slots=True)
class Seen:
    """Evidence from answers on each setting. `firm` holds proofs, `hints` holds indications. `thinking` says whether
    the model thinks; None: not known.
    """

    firm: Mapping[str, Said] = field(default_factory=dict)
    hints: Mapping[str, Said] = field(default_factory=dict)
    thinking: bool | None = None


NOTHING = Seen()

ONE_BY_ONE = "the server gives one answer to a request; each repeat is a request of its own"


def seen_in(journal: JournalReader, spec: AnySpec, several: bool | None) -> Seen:
    """Evidence on settings from the first answers of a journal. `several` says whether one call returned several
    repeats; None: not known.
    """
    answers = [answer for answer in islice(journal.answers(), MOST) if answer.response is not None]
    definition = journal.meta().get("definition")
    if not answers or definition is None:
        return NOTHING
    criteria = {record["name"]: Criterion.of(record) for record in definition["criteria_records"]}
    responses = [answer.response for answer in answers if answer.response is not None]
    firm = {
        "max_tokens": _limit(responses, spec),
        "stop": _stop(responses, spec),
        "n": _repeats(several),
        "logprobs": Said("honoured", "the server gave log-probabilities") if _all_logprobs(responses) else None,
        "structured": _forms(answers, criteria, definition, spec),
    }
    hints = {"temperature": _greedy(answers, spec)}
    thinks = True if any(answer.reasoning for answer in responses) else None
    return Seen(_known(firm), _known(hints), thinks)


def _known(statements: Mapping[str, Said | None]) -> dict[str, Said]:
    return {name: statement for name, statement in statements.items() if statement is not None}


def _limit(responses: Iterable[Response], spec: AnySpec) -> Said | None:
    """Evidence on `max_tokens`: it is honoured if answers were cut at the limit, and ignored if an answer is longer.
    None without either, or where no limit is set.

    A call's tokens are stored with its first answer and include all its repeats.
    """
    most = spec.generation.max_tokens
    if most is None:
        return None
    together = 1 if spec.generation.seed is not None else spec.repeats
    cut, longest = 0, 0
    for response in responses:
        cut += response.finish_reason == "length"
        # Whether thinking counts against the limit differs between providers.
        if response.completion_tokens is not None and not response.reasoning:
            longest = max(longest, response.completion_tokens)
    if longest > most * together:
        return Said("ignored", f"an answer has {longest} tokens")
    return Said("honoured", f"{cut} {_answers(cut)} cut at it") if cut else None


def _answers(count: int) -> str:
    return "answer was" if count == 1 else "answers were"


def _stop(responses: Iterable[Response], spec: AnySpec) -> Said | None:
    stop = spec.generation.stop
    if not stop or spec.engine.get("include_stop_str_in_output"):
        return None
    past = sum(any(word in response.text for word in stop) for response in responses)
    return Said("ignored", f"{past} answers hold a stop string") if past else None


def _repeats(several: bool | None) -> Said | None:
    if several is None:
        return None
    if several:
        return Said("honoured", "the server gave several answers to one request")
    return Said("ignored", ONE_BY_ONE)


def _all_logprobs(responses: Iterable[Response]) -> bool:
    return all(response.logprobs for response in responses)


def _forms(
    answers: Iterable[Answer], criteria: Mapping[str, Criterion], definition: Mapping[str, Any], spec: AnySpec
) -> Said | None:
    """Evidence on `structured`: one answer without the requested format shows that the format is not enforced. None
    where no format is requested or there are too few answers.
    """
    if spec.structured == "none":
        return None
    patterns, joint = definition.get("rating_patterns", {}), definition.get("joint", {})
    counted: Counter[bool | None] = Counter()
    for answer in answers:
        names = joint.get(answer.eval_prompt, [answer.criterion])
        if answer.response is not None and all(name in criteria for name in names):
            pattern = patterns.get(answer.eval_prompt)
            asked = (
                tuple(criteria[name] for name in names) if answer.eval_prompt in joint else criteria[answer.criterion]
            )
            counted[has_asked_form(answer.response, asked, spec.structured, pattern, spec.choices)] += 1
    form = (VERDICT_FORMS if spec.choices else FORMS)[spec.structured]
    total = counted[True] + counted[False]
    if counted[False]:
        return Said("ignored", f"{counted[False]} of {total} answers lack the requested form ({form})")
    if total < FEWEST:
        return None
    return Said("honoured", f"each of {total} answers has the requested form ({form})")


def _greedy(answers: Iterable[Answer], spec: AnySpec) -> Said | None:
    """Evidence on temperature 0 from the repeats of queries. Equal repeats support it. Different repeats prove nothing,
    because servers may compute batches of requests differently.

    None with too few repeats, or at another temperature.
    """
    if spec.generation.temperature != 0 or spec.repeats < 2:
        return None
    by_query: dict[str, list[str]] = {}
    for answer in answers:
        if answer.response is not None:
            by_query.setdefault(answer.query_key, []).append(answer.response.text)
    equal = several = 0
    for texts in by_query.values():
        if len(texts) > 1 and max(map(len, texts)) >= _LONG:
            several += 1
            equal += len(set(texts)) == 1
    if several < FEWEST:
        return None
    if equal == several:
        return Said("honoured", f"the repeats of each of {several} queries are equal, word for word")
    return Said("unknown", f"the repeats of {several - equal} of {several} queries differ")
