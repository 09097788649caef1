"""What an improvement hands over: the prompt that won, a run.yaml that uses it, and what the prompts cost."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder.layout import DEFINITION
from judge.base.files import write_output
from judge.inputs.datasets.files.native import write_stories
from judge.lab.improve import answers as arrays
from judge.lab.improve import opened
from judge.lab.improve.asking import PROMPTS, STORIES, Stage, definition_text
from judge.lab.improve.candidates import ORIGINAL
from judge.lab.improve.opened import Opened
from judge.lab.improve.result import Improvement, Price

BETTER = "better"


def deliver(
    run: Opened, found: Improvement, told: Sequence[Sequence[arrays.Answers]], stages: Sequence[Stage], repeats: int
) -> Improvement:
    """Write the prompt, the run.yaml that uses it and the stories outside the train part, which it may rate.

    `told` holds the answers of each part's rounds, `stages` the tests.
    """
    name = _winner([each for each in found.winners if each is not None], told)
    folder, called = found.folder / BETTER, f"{run.prompt.name}-{name}"
    if folder.is_dir():
        shutil.rmtree(folder)
    file = folder / PROMPTS / f"{called}.jinja"
    file.parent.mkdir(parents=True)
    write_output(file, next(each.source for each in found.proposals if each.name == name))
    train = {story for group in found.split.train for story in group}
    write_stories(folder / STORIES, [story for story in run.stories if story.id not in train])
    data = stages[0].spec.keys_in_force() | {
        "name": f"{run.spec.name}-{called}"[:80],
        "eval_prompts": [f"{PROMPTS}/{file.name}"],
        "generation": run.spec.generation.model_dump(),
    }
    criteria = stages[0].folder / str(data["criteria"]["set"])
    if criteria.is_file():
        shutil.copyfile(criteria, folder / criteria.name)
    write_output(folder / DEFINITION, definition_text(parse_run_spec(data, str(folder))))
    price = _price(run, found, stages, repeats)
    return replace(found, delivered=name, price=price, file=file, definition=folder / DEFINITION)


def _price(run: Opened, found: Improvement, stages: Sequence[Stage], repeats: int) -> Price | None:
    if not opened.paid(run.spec):
        return None

    def thousand(names: Sequence[str | None]) -> float | None:
        costs = [stage.cost_of(name) for stage, name in zip(stages, names, strict=True) if name is not None]
        total, count = sum(cost or 0.0 for cost, _ in costs), sum(number for _, number in costs)
        if not count or any(cost is None for cost, _ in costs):
            return None
        return 1000 * len(run.criteria) * repeats * total / count

    return Price(thousand([ORIGINAL] * len(stages)), thousand(list(found.winners)))


def _winner(names: Sequence[str], told: Sequence[Sequence[arrays.Answers]]) -> str:
    """Of two halves' winners the better one on the story-prompts of both halves that both have answered."""
    if len(set(names)) == 1:
        return names[0]
    leads = []
    for rounds in told:
        common = [each for each in rounds if all(name in each.ratings for name in names)]
        if common:
            part = arrays.joined(common)
            leads.append(part.score(names[0]) - part.score(names[1]))
    return names[0] if not leads or np.nanmean(leads) >= 0 else names[1]
