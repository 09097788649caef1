"""Explanations of Art or Artifice (TTCW): why experts, and five models, answered Yes or No to a test of creativity
about a story.

Each row is one answer (verdict). The 2,016 verdicts by experts have the explanation as released. Each model has 672,
whose label and explanation the parser extracts from the whole answer. The column `side` is `expert` or the model's
name. The expert's name is left out: three of eleven experts saw each story, so that each would have too few texts per
criterion.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from judge.answers.parsing import Parser
from judge.answers.parsing import parser as load_parser
from judge.base.records import Criterion, Response, Story
from judge.explanations.corpus.corpus import EXPERT, ExplanationTexts, frame_of, stories_of
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import FILES, OTHER_FILES
from judge.inputs.datasets.studies.ttcw import read_stories, read_verdicts
from judge.inputs.datasets.studies.ttcw_answers import read_answers

NAME = "ttcw_explanations"
_DATASET = "ttcw+newyorker"
_PREFIX = "annotations_"


def ttcw_explanations(parser: str = "ours") -> ExplanationTexts:
    """Explanations of verdicts in Art or Artifice (TTCW): those by experts, then those by models. Raises DataError
    where files are missing; the message names the command that downloads them.
    """
    stories_path, verdicts_path = (need(file, "ttcw") for file in FILES["ttcw"])
    answers = [need(file, "ttcw_answers") for file in OTHER_FILES["ttcw_answers"]]
    criteria = load_criteria("ttcw").criteria
    stories = {story.id: story for story in read_stories(stories_path, verdicts_path, whole=True)}
    rows = list(_experts(verdicts_path))
    loaded = load_parser(parser)
    for path in answers:
        rows += _model(path, path.stem.removeprefix(_PREFIX), criteria, loaded)
    for row in rows:
        story = stories[row["story"]]
        row |= {"run": NAME, "dataset": _DATASET, "story_prompt": story.story_prompt, "system": story.system}
    without = sum(not story.text for story in stories.values())
    notes = (
        f"experts' explanations as released, models' as the parser {loaded.version} reads them out of their answers",
        "judge names the side; which of the experts wrote is left out",
        f"{without} of {len(stories)} stories are the magazine's, whose texts are not released",
    )
    return ExplanationTexts(frame_of(rows), stories_of([_known(s) for s in stories.values()]), criteria, (), notes)


def _experts(path: Path) -> Iterator[dict[str, Any]]:
    for verdict in read_verdicts(path):
        yield {
            "story": verdict.story,
            "judge": EXPERT,
            "side": EXPERT,
            "criterion": verdict.test,
            "rating": verdict.value,
            "status": "imported",
            "explanation": verdict.explanation,
        }


def _model(path: Path, name: str, criteria: tuple[Criterion, ...], parser: Parser) -> Iterator[dict[str, Any]]:
    for answer in read_answers(path):
        criterion = criteria[answer.test - 1]
        finished = "content_filter" if answer.blocked else None
        judgment = parser.parse(Response(answer.text or "", finished), criterion)
        yield {
            "story": answer.story,
            "judge": name,
            "side": name,
            "criterion": criterion.name,
            "rating": judgment.rating,
            "status": judgment.status,
            "flags": ";".join(judgment.flags),
            "answer": answer.text or "",
            "explanation": judgment.explanation,
        }


def _known(story: Story) -> tuple[Any, ...]:
    return (_DATASET, story.id, story.story_prompt, story.system, story.text or None, None)
