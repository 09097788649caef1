"""Pairwise judgments of MT-Bench (`gpt-4_pair.jsonl`), and human judgments in the same format.

Format: https://github.com/lm-sys/FastChat (`llm_judge`), and
https://huggingface.co/datasets/lmsys/mt_bench_human_judgments. A model's judgment consists of two games; in the second
the answers are swapped. Both count even if they contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from judge.base.errors import DataError
from judge.base.records import Preferred
from judge.exchange.logs.alpaca_eval import LoggedStory, PreferenceLoss, PreferenceRow, PreferenceTool
from judge.exchange.logs.places import LogFacts, as_text, loss_of
from judge.exchange.reader import Look, lines

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


def fits(look: Look) -> bool:
    return look.has("question_id", "g1_winner") or look.has("question_id", "winner")


def read(file: Path, criterion: str, log_facts: LogFacts) -> Iterator[PreferenceRow]:
    """Preferences in one file: two for each judgment by a model (one per game), one for each by a person."""
    for number, held in lines(file):
        if "question_id" not in held or not ({"g1_winner", "winner"} & held.keys()):
            raise DataError("is no judgment of MT-Bench: it has no 'question_id' and winner", file=file, row=number)
        yield from (
            _games(file, number, held, criterion, log_facts)
            if "g1_winner" in held
            else _single_order(file, number, held, criterion)
        )


def _games(
    file: Path, number: int, held: Mapping[str, Any], criterion: str, log_facts: LogFacts
) -> Iterator[PreferenceRow]:
    first_story, second_story = _story(held, "model_1", None), _story(held, "model_2", None)
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
            criterion=criterion,
            preference=_SWAPPED[preference] if swapped and preference else preference,
            loss=loss,
            judge=name,
            eval_prompt=template,
            explanation=as_text(held.get(f"g{game}_judgment")),
        )


def _single_order(file: Path, number: int, held: Mapping[str, Any], criterion: str) -> Iterator[PreferenceRow]:
    """A judgment with a single winner: by a person, or by a model whose two games are summarised."""
    name, template = _judge(held)
    people = name.startswith(_PEOPLE)
    preference, loss = _winner(file, number, held["winner"], None)
    yield PreferenceRow(
        number=number,
        story_prompt=_prompt(held),
        first=_story(held, "model_a", "conversation_a"),
        second=_story(held, "model_b", "conversation_b"),
        criterion=criterion,
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


def _story(held: Mapping[str, Any], model: str, conversation: str | None) -> LoggedStory:
    name, turn = str(held.get(model)), int(held.get("turn") or 1)
    turns = held.get(conversation) if conversation else None
    replies = (
        [message.get("content") for message in turns if message.get("role") == "assistant"]
        if isinstance(turns, list)
        else []
    )
    text = as_text(replies[turn - 1]) if len(replies) >= turn else None
    return LoggedStory(f"{name}/{held['question_id']}/{turn}", name, text)


MT_BENCH = PreferenceTool(
    "mt-bench",
    "MT-Bench's pairwise judgments by models (two orders each) and people, as preferences",
    fits,
    read,
    {
        "story": "MODEL/QUESTION/TURN",
        "story-prompt": "the question's number, and the turn after the first",
        "judge": "judge; expert_N, author_N and human are people",
        "Eval-Prompt": "the judge's template",
        "order": "model_1 first in the first game, model_2 in the second",
    },
    "fschat 0.2.36 (judgments of models); the form of human judgments is untried",
    "both",
)
