"""The question of a better Eval-Prompt, whose answer asks the judge: see `judge.lab.improve`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from judge.lab.improve import printed, sentences
from judge.lab.improve.improve import improve
from judge.lab.improve.options import ImproveOptions
from judge.questions.answer import Way, frame_of
from judge.questions.question import Question

if TYPE_CHECKING:
    from judge.questions.source import Source


def _more(source: Source, _table: Any) -> Mapping[str, Any]:
    return {"whole": source.whole, "runs": source.folders, "quiet": source.telling is None}


IMPROVE = Question(
    "improve",
    """Better Eval-Prompts for a run's judge: candidates raced on some story-prompts, the winner tested on others.

    The run needs people's ratings of stories of 20 story-prompts or more. Candidates are made of a train part: rated
    examples, explanations, other scales, and texts by a writer. More repeats are raced too. The winner and the original
    are asked afresh on the test part, and IMPROVED is printed where the whole interval of the gain lies above 0.
    Stopped, the same command goes on.

    --budget 0 asks nothing and prints the plan: the smallest gain that it can show, its requests and its cost. A judge
    that is paid for needs a budget.

    Example: judge improve runs/mine --eval-prompt ep1 --budget 5

    Example: judge improve runs/mine --eval-prompt ep1 --writer none --set candidates=6""",
    {
        "race": Way(
            options=ImproveOptions,
            compute=improve,
            further=_more,
            tables=printed.tables,
            frame=lambda found: frame_of(printed.tables(found)[1:] or printed.tables(found)),
            sentence=sentences.sentence,
            screen=printed.screen,
            without=("full", "judge", "panel", "pass_rate", "parser"),
            explanations=True,
            coverage="none",
        )
    },
)
