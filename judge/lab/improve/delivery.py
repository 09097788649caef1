"""What an improvement hands over: the prompt that won, a run.yaml that uses it, and what the prompts cost."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import yaml

from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder.layout import DEFINITION
from judge.base.files import write_output
from judge.inputs.datasets.files.native import write_stories
from judge.lab.improve import answers as arrays
from judge.lab.improve import opened
from judge.lab.improve.asking import PROMPTS, STORIES, Stage, definition_text
from judge.lab.improve.material import AGAIN, MORE, ORIGINAL
from judge.lab.improve.opened import Opened
from judge.lab.improve.result import Improvement, Price

BETTER, WEIGHTS = "better", "weights.yaml"


def deliver(
    run: Opened, found: Improvement, told: Sequence[Sequence[arrays.Answers]], stages: Sequence[Mapping[str, Stage]]
) -> Improvement:
    """Write the prompt, or those whose ratings are combined, the run.yaml that uses it and the stories outside the
    train part, which it may rate.

    `told` holds the answers of each part's rounds, `stages` those of each test, by Eval-Prompt.
    """
    name = _winner([each for each in found.winners if each is not None], told)
    winner = next(each for each in found.proposals if each.name == name)
    stage = next(each[winner.of[0]] for each in stages if winner.of[0] in each)
    folder, called = found.folder / BETTER, f"{run.prompt.name}-{name}"
    if folder.is_dir():
        shutil.rmtree(folder)
    (folder / PROMPTS).mkdir(parents=True)
    files = {folder / PROMPTS / f"{run.prompt.name}-{part}.jinja": text for part, text in winner.parts.items()}
    files = files or {folder / PROMPTS / f"{called}.jinja": winner.source}
    for file, text in files.items():
        write_output(file, text)
    if winner.weighted and found.weights:
        record = dict(zip(found.criteria, found.weights[name], strict=True))
        write_output(folder / WEIGHTS, yaml.safe_dump(record, allow_unicode=True))
    kept = {story for group in found.split.train for story in group}
    stories = [story for story in run.stories if story.id not in kept]
    write_stories(
        folder / STORIES, stories if winner.scale is None else [replace(each, ratings=()) for each in stories]
    )
    data = stage.spec.keys_in_force() | {
        "name": f"{run.spec.name}-{called}"[:80],
        "eval_prompts": [f"{PROMPTS}/{file.name}" for file in files],
        "generation": run.spec.generation.model_dump(),
        "repeats": found.repeats * (2 if name == MORE else 1),
    }
    criteria = stage.folder / str(data["criteria"]["set"])
    if criteria.is_file():
        shutil.copyfile(criteria, folder / criteria.name)
    write_output(folder / DEFINITION, definition_text(parse_run_spec(data, str(folder))))
    price = Price(*_prices(run, found, stages)) if opened.paid(run.spec) else None
    return replace(found, delivered=name, price=price, file=next(iter(files)), definition=folder / DEFINITION)


def _prices(
    run: Opened, found: Improvement, stages: Sequence[Mapping[str, Stage]]
) -> tuple[float | None, float | None]:
    """Dollars for 1,000 stories with the original, and with the winners; None where a cost is not known."""

    def thousand(askings: Sequence[Sequence[str]]) -> float | None:
        each = []
        for by, names in zip(stages, askings, strict=True):
            costs = [by[name].cost_of(ORIGINAL if name == AGAIN else name) for name in names]
            if any(cost is None or not count for cost, count in costs):
                return None
            each.append(sum((cost or 0.0) / count for cost, count in costs))
        return 1000 * len(run.criteria) * found.repeats * float(np.mean(each))

    of = {each.name: each.of for each in found.proposals}
    return thousand([[ORIGINAL]] * len(stages)), thousand([of[name] for name in found.winners if name is not None])


def _winner(names: Sequence[str], told: Sequence[Sequence[arrays.Answers]]) -> str:
    """Of two halves' winners the better one on the story-prompts of both halves that both have answered."""
    if len(set(names)) == 1:
        return names[0]
    leads = []
    for rounds in told:
        common = [each for each in rounds if all(name in each.by for name in names)]
        if common:
            part = arrays.joined(common)
            leads.append(part.score(names[0]) - part.score(names[1]))
    return names[0] if not leads or np.nanmean(leads) >= 0 else names[1]
