"""The tables of `judge view`: each is the answer to a question, as the question's command gives it."""

from __future__ import annotations

import functools
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from judge.base.wording import PLAIN

if TYPE_CHECKING:
    from judge.base.printing.tables import Table
    from judge.questions.answer import Answer
    from judge.questions.charts.forest import Forest
    from judge.questions.source import Source
    from judge.ratings.ratings_table.columns import Explanations

# Question -> its command, where that has another name.
_LEAF = {"stress": "stress report"}


@dataclass(frozen=True, slots=True)
class Asked:
    """A page of tables, and the question with its options in words."""

    title: str
    text: str
    question: str
    words: Mapping[str, Any] = field(default_factory=dict)

    def command(self, run: Path) -> str:
        """The command that prints these tables."""
        options = [f"--{name} {value}" for name, value in self.words.items()]
        return " ".join(["judge", _LEAF.get(self.question, self.question), shlex.quote(str(run)), *options])


# Pages about ratings, by name.
RATED: Mapping[str, Asked] = MappingProxyType(
    {
        "summary": Asked("Summary", "Summary: may it replace a person, which prompt, what next?", "summary"),
        "coverage": Asked(
            "Coverage",
            "What was requested, answered and rated, and which properties missing ratings go with.",
            "coverage",
        ),
        "consistency": Asked("Consistency", "Does the judge agree with itself over repeats?", "consistency"),
        "correlate": Asked("Correlation", "Does it follow people, over all stories?", "correlate"),
        "correlate-system": Asked("By system", "Does it rank systems as people do?", "correlate", {"level": "system"}),
        "systems": Asked("Systems", "Which systems are better, and are the differences significant?", "systems"),
        "criteria": Asked("Criteria", "Does it distinguish criteria?", "diagnose", {"layout": "criteria"}),
        "diagnose": Asked("Diagnosis", "How does it go wrong?", "diagnose"),
        "stress": Asked("Stress", "What does it make of stories that were changed on purpose?", "stress"),
        "compare": Asked("Eval-Prompts compared", "Is one Eval-Prompt better than another?", "compare"),
        "compare-judges": Asked("Judges compared", "Is one judge better than another?", "compare", {"by": "judge"}),
    }
)

# Pages about comparisons of two stories, by name.
COMPARED: Mapping[str, Asked] = MappingProxyType(
    {
        "coverage": RATED["coverage"],
        **{
            f"rank-{topic}": Asked(title, text, "rank", {"table": topic})
            for topic, title, text in (
                ("agreement", "Agreement", "Does it prefer the story that people prefer, beside what needs no judge?"),
                ("order", "Order", "Does the place of a story decide?"),
                ("systems", "Systems", "Which systems win, and are the differences significant?"),
                ("stories", "Stories", "Does it order a story-prompt's stories as people?"),
                ("transitivity", "Transitivity", "Do its preferences make an order?"),
            )
        },
    }
)


class Answers:
    """Answers about result folders; what several of them need is computed once."""

    def __init__(self, rated: Sequence[Path], compared: Sequence[Path]) -> None:
        self._rated, self._compared = rated, compared
        self._answers: dict[Any, Answer] = {}
        self._source = functools.cache(_source)

    def names(self) -> list[str]:
        """Pages of these folders, without the summary."""
        offered = [*(RATED if self._rated else ()), *(COMPARED if self._compared else ())]
        return [name for name in dict.fromkeys(offered) if name != "summary"]

    def shown(self, name: str) -> list[Table | Forest]:
        """Raises JudgeError where the question cannot be answered."""
        found: list[Table | Forest] = []
        for folders, pages in ((self._rated, RATED), (self._compared, COMPARED)):
            if folders and name in pages:
                found += self._of(folders, pages[name])
        return found

    def _of(self, folders: Sequence[Path], page: Asked) -> list[Table | Forest]:
        from judge.questions.registry import question

        way, options, show = question(page.question).chosen(page.words)
        computed = (tuple(folders), page.question, way.compute, options)
        if computed not in self._answers:
            source = self._source(tuple(folders), explanations=way.explanations)
            self._answers[computed] = question(page.question).ask(source, **page.words)
        answer = self._answers[computed].showing(show)
        return [*(_plots(answer) if page.question == "stress" else ()), *answer.told(PLAIN)]


def _source(folders: Sequence[Path], *, explanations: Explanations) -> Source:
    from judge.questions.source import Source

    return Source(folders, "ours", explanations=explanations)


def _plots(answer: Answer) -> list[Forest]:
    """None of a dataset with more judges than a plot has room for."""
    from judge.base.errors import JudgeError
    from judge.questions.charts import estimates

    plots = []
    for dataset in dict.fromkeys(row.subject.dataset for row in answer.value.rows):
        try:
            plots.append(estimates.detections(answer.value, dataset))
        except JudgeError:
            continue
    return plots
