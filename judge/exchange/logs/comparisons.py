"""Comparisons of two texts in the logs of AlpacaEval and MT-Bench, by judges or by people."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from judge.base.errors import DataError
from judge.base.fingerprint import sha256_text
from judge.base.records import Preferred, VerdictStatus
from judge.exchange.logs.fields import LogFacts, LogOptions, Tool, as_text, loss_of
from judge.exchange.reader import as_list, as_object, lines, whole

# Types of rows for preference logs: a preference, or a placeholder for one that was lost.

# Reasons for which a log lacks a preference that it should have.
PreferenceLoss = Literal["error", "filtered", "unparsed", "missing", "defaulted", "inconsistent"]

# The status of a preference that was lost for a reason, and the reason in words.
LOSSES: Mapping[PreferenceLoss, tuple[VerdictStatus, str]] = {
    "error": ("not_answered", "the judge, or the tool, failed"),
    "filtered": ("filtered", "a content filter stopped the answer, which is no preference"),
    "unparsed": ("no_preference", "no preference could be read from the answer"),
    "missing": ("not_answered", "the log holds neither a preference nor a reason"),
    "defaulted": ("not_answered", "the tool wrote a tie without asking, since both texts are the same"),
    "inconsistent": ("ambiguous", "the log holds one word for two orders that contradict each other"),
}


@dataclass(frozen=True, slots=True)
class LoggedStory:
    """One of two compared texts, as the log describes it. `system` is the model or person that wrote it."""

    id: str
    system: str
    text: str | None = None


@dataclass(frozen=True, slots=True)
class PreferenceRow:
    """One preference, or its `loss`; `judge` is None for people's. `second_share` is the probability that the second
    story is preferred; None where the log records only a choice."""

    number: int
    story_prompt: str
    first: LoggedStory
    second: LoggedStory
    preference: Preferred | None = None
    loss: PreferenceLoss | None = None
    judge: str | None = None
    rater: str | None = None
    eval_prompt: str | None = None
    second_share: float | None = None
    explanation: str | None = None


# Annotations of AlpacaEval (`annotations.json`), by judges or by people. Format:
# https://github.com/tatsu-lab/alpaca_eval. Preference 1 means output_1, 2 means output_2, 1.5 (0 in older files) a
# tie; another value between 1 and 2 is 1 plus the probability that output_2 is preferred. AlpacaEval shuffles which
# output is shown first, and does not record the order.

# AlpacaEval writes a tie as 0 or as 1.5.
_TIES = (0.0, 1.5)

_NEEDED = ("instruction", "output_1", "output_2", "preference")
_MIDDLE = 1.5
_ANSWERS = ("raw_completion", "preference_raw_completion")


def read_alpaca_eval(file: Path, _: LogOptions, log_facts: LogFacts) -> Iterator[PreferenceRow]:
    """Preferences in one file of AlpacaEval's annotations."""
    for number, entry in enumerate(as_list(whole(file), "annotations", file), start=1):
        held = as_object(entry, file, number)
        missing = [name for name in _NEEDED if name not in held]
        if missing:
            raise DataError(f"is no annotation of AlpacaEval: it has no {missing[0]!r}", file=file, row=number)
        version = as_text(_none_if_nan(held.get("preference_version")))
        log_facts.version = version.partition("==")[2] or version if version else log_facts.version
        yield _row(file, number, held)


def _row(file: Path, number: int, held: Mapping[str, Any]) -> PreferenceRow:
    prompt = "\n\n".join(filter(None, [as_text(held["instruction"]), as_text(held.get("input"))]))
    first, second = (_story(held, prompt, side) for side in (1, 2))
    who = held.get("annotator")
    people = isinstance(who, int) and not isinstance(who, bool)
    raw = next((_none_if_nan(held.get(name)) for name in _ANSWERS if name in held), None)
    row = PreferenceRow(
        number=number,
        story_prompt=prompt,
        first=first,
        second=second,
        judge=None if people else as_text(who) or "unnamed",
        rater=str(who) if people else None,
        explanation=None if people else as_text(raw),
    )
    asked = people or raw is not None or first.text != second.text
    return _preferred(file, row, _none_if_nan(held["preference"]), asked=asked)


def _preferred(file: Path, row: PreferenceRow, preference: Any, *, asked: bool) -> PreferenceRow:
    if preference is None:
        return replace(row, loss="unparsed" if row.explanation else "missing")
    if not isinstance(preference, int | float) or not (preference == 0 or 1 <= preference <= 2):
        raise DataError("is no preference", file=file, row=row.number, found=preference, allowed="null, 0, or 1 to 2")
    value = float(preference)
    if value in _TIES:
        return replace(row, preference="tie") if asked else replace(row, loss="defaulted")
    word: Preferred = "first" if value < _MIDDLE else "second"
    return replace(row, preference=word, second_share=None if value.is_integer() else value - 1)


def _story(held: Mapping[str, Any], prompt: str, side: int) -> LoggedStory:
    system = as_text(held.get(f"generator_{side}")) or f"output_{side}"
    text = as_text(held[f"output_{side}"])
    return LoggedStory(f"{system}/{sha256_text(prompt)[:12]}", system, text)


def _none_if_nan(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value


ALPACA_EVAL = Tool(
    "alpaca-eval",
    "AlpacaEval's annotations as preferences; nulls and unoffered ties are lost",
    lambda look: look.has(*_NEEDED),
    read_alpaca_eval,
    {
        "story": "GENERATOR/ a hash of the instruction",
        "story-prompt": "the instruction, and its input",
        "judge": "the annotator by its name; annotators that are numbers are people",
        "order": "not recorded: AlpacaEval shuffles it, so the effect of the order cannot be computed",
    },
    "alpaca_eval 0.6.6",
    orders="not told",
)


# Pairwise judgments of MT-Bench (`gpt-4_pair.jsonl`), and human judgments in the same format.

_PEOPLE = ("expert_", "author_", "human")
_FAILED = "$ERROR$"
_WINNERS: Mapping[str, Preferred] = {
    "model_1": "first",
    "model_2": "second",
    "model_a": "first",
    "model_b": "second",
    "tie": "tie",
    "tie (bothbad)": "tie",
}
_CONTRADICTION = "tie (inconsistent)"
_SWAPPED: Mapping[Preferred, Preferred] = {"first": "second", "second": "first", "tie": "tie"}


def read_mt_bench(file: Path, _: LogOptions, log_facts: LogFacts) -> Iterator[PreferenceRow]:
    """Preferences in one file: two for each judgment by a model (one per game), one for each by a person."""
    for number, held in lines(file):
        if "question_id" not in held or not ({"g1_winner", "winner"} & held.keys()):
            raise DataError("is no judgment of MT-Bench: it has no 'question_id' and winner", file=file, row=number)
        if "g1_winner" in held:
            yield from _games(file, number, held, log_facts)
        else:
            yield _single_order(file, number, held)


def _games(file: Path, number: int, held: Mapping[str, Any], log_facts: LogFacts) -> Iterator[PreferenceRow]:
    first_story, second_story = _mt_bench_story(held, "model_1", None), _mt_bench_story(held, "model_2", None)
    verdicts = [
        _winner(file, number, held[f"g{game}_winner"], as_text(held.get(f"g{game}_judgment"))) for game in (1, 2)
    ]
    if None not in (verdicts[0][0], verdicts[1][0]) and verdicts[0][0] != verdicts[1][0]:
        log_facts.untold["games had another winner with positions swapped: both verdicts count"] += 1
    name, template = _judge(held)
    for game, (preference, loss) in enumerate(verdicts, start=1):
        swapped = game == 2
        yield PreferenceRow(
            number=number,
            story_prompt=_prompt(held),
            first=second_story if swapped else first_story,
            second=first_story if swapped else second_story,
            preference=_SWAPPED[preference] if swapped and preference else preference,
            loss=loss,
            judge=name,
            eval_prompt=template,
            explanation=as_text(held.get(f"g{game}_judgment")),
        )


def _single_order(file: Path, number: int, held: Mapping[str, Any]) -> PreferenceRow:
    """A judgment with a single winner: by a person, or by a model whose two games are summarised."""
    name, template = _judge(held)
    people = name.startswith(_PEOPLE)
    preference, loss = _winner(file, number, held["winner"], None)
    return PreferenceRow(
        number=number,
        story_prompt=_prompt(held),
        first=_mt_bench_story(held, "model_a", "conversation_a"),
        second=_mt_bench_story(held, "model_b", "conversation_b"),
        preference=preference,
        loss=loss,
        judge=None if people else name,
        rater=name if people else None,
        eval_prompt=None if people else template,
    )


def _winner(
    file: Path, number: int, winner: Any, judgment: str | None
) -> tuple[Preferred | None, PreferenceLoss | None]:
    word = str(winner)
    if word in _WINNERS:
        return _WINNERS[word], None
    if word == _CONTRADICTION:
        return None, "inconsistent"
    if word != "error":
        allowed = ", ".join([*_WINNERS, _CONTRADICTION, "error"])
        raise DataError("is no winner", file=file, row=number, found=winner, allowed=allowed)
    if judgment is None or _FAILED in judgment:
        return None, "error"
    return None, "filtered" if loss_of(judgment) == "filtered" and len(judgment) < _SHORT else "unparsed"


# Characters of an answer that may be a filter's notice; a longer one is a judgment that speaks of something else.
_SHORT = 200


def _judge(held: Mapping[str, Any]) -> tuple[str, str | None]:
    judge = held.get("judge")
    if isinstance(judge, list) and judge:
        return str(judge[0]), as_text(judge[1]) if len(judge) > 1 else None
    return as_text(judge) or "unnamed", None


def _prompt(held: Mapping[str, Any]) -> str:
    return f"question {held['question_id']}" + (f", turn {held['turn']}" if int(held.get("turn") or 1) > 1 else "")


def _mt_bench_story(held: Mapping[str, Any], model: str, conversation: str | None) -> LoggedStory:
    name, turn = str(held.get(model)), int(held.get("turn") or 1)
    turns = held.get(conversation) if conversation else None
    replies = (
        [message.get("content") for message in turns if message.get("role") == "assistant"]
        if isinstance(turns, list)
        else []
    )
    text = as_text(replies[turn - 1]) if len(replies) >= turn else None
    return LoggedStory(f"{name}/{held['question_id']}/{turn}", name, text)


MT_BENCH = Tool(
    "mt-bench",
    "MT-Bench's pairwise judgments by models (two orders each) and people, as preferences",
    lambda look: look.has("question_id", "g1_winner") or look.has("question_id", "winner"),
    read_mt_bench,
    {
        "story": "MODEL/QUESTION/TURN",
        "story-prompt": "the question's number, and the turn after the first",
        "judge": "judge; expert_N, author_N and human are people",
        "Eval-Prompt": "the judge's template",
        "order": "model_1 first in the first game, model_2 in the second",
    },
    "fschat 0.2.36 (judgments of models); the form of human judgments is untried",
)
