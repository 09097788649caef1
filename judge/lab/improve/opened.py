"""The run that is improved: its definition, the Eval-Prompt, its rated stories, and what is known before asking."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from judge.analysis.inputs.candidates import match
from judge.answers.journal import JournalReader
from judge.asking.execution.session import charged
from judge.asking.plan import load_prices
from judge.asking.plan.prices import reports_cost
from judge.asking.run_definition.spec import RunSpec
from judge.asking.run_folder import ResultFolder, folder_cost, resolve
from judge.asking.run_folder.layout import definition_in_force
from judge.base.errors import SpecError
from judge.base.records import Criterion, Story
from judge.base.wording import Advice
from judge.inputs.criteria import load_criteria
from judge.inputs.eval_prompts.template import EvalPrompt, parse_eval_prompt
from judge.lab.improve.material import Rated
from judge.lab.improve.split import Split
from judge.ratings.rating_matrix import RatingMatrix, build
from judge.ratings.ratings_table import RatingsTable
from judge.stats.correlation import human_ceiling, kendall
from judge.stats.estimation import prompt_gain

# Tokens of an answer, at most and usually, where the run does not say.
_LONGEST_ANSWER, _USUAL_ANSWER = 600, 60
_CHARACTERS_PER_TOKEN = 4.0
_SAMPLE = 40


@dataclass(frozen=True, slots=True, eq=False)
class Opened:
    """One result folder, the definition that asked it with the folder of its paths, the Eval-Prompt to improve, the
    criteria that people rated too, and the stories that they rated, with the ratings' matrix."""

    folder: ResultFolder
    spec: RunSpec
    base: Path
    prompt: EvalPrompt
    criteria: tuple[Criterion, ...]
    stories: tuple[Story, ...]
    matrix: RatingMatrix
    cells: tuple[int, ...]
    partners: tuple[int, ...]
    table: RatingsTable

    def groups(self, split: Split) -> dict[str, int]:
        """Number of each story's story-prompt in the split."""
        parts = {group for part in (split.train, *split.chooses, *split.tests) for group in part}
        return {story: number for number, group in enumerate(sorted(parts)) for story in group}

    def stories_of(self, groups: Sequence[Sequence[str]]) -> list[Story]:
        """The stories of these story-prompts."""
        wanted = {story for group in groups for story in group}
        return [story for story in self.stories if story.id in wanted]


def opened(table: RatingsTable, runs: Sequence[Any]) -> Opened:
    """The run of a narrowed ratings table. Raises SpecError unless it is one judge's with one Eval-Prompt, which asks
    for one numeric rating, of stories that people rated."""
    folders = resolve(runs)
    if len(folders) != 1:
        raise SpecError(
            f"one judge is improved at a time, and these are {len(folders)}",
            hint=f"name one result folder, such as {folders[0].path}",
        )
    (folder,) = folders
    spec, base = definition_in_force(folder)
    if not isinstance(spec, RunSpec) or spec.pairs is not None:
        raise SpecError("the run rates no stories", hint="name a run that does: its Eval-Prompt asks for a rating")
    if spec.criteria.wording is not None:
        raise SpecError(
            "the run sends a study's wording as published, of which no candidate can be made",
            hint="run the same Eval-Prompts without criteria.wording, in the program's own words, and improve those",
        )
    matrix = build(table)[0]
    prompt = _prompt(matrix, folder)
    cells, partners = _cells(matrix, prompt.name)
    known = {c.name: c for c in load_criteria(spec.criteria.set, folder=base).criteria}
    criteria = tuple(known[matrix.cells[cell].criterion] for cell in cells)
    if labels := [criterion.name for criterion in criteria if criterion.scale.labels]:
        numeric = [criterion.name for criterion in criteria if not criterion.scale.labels]
        raise SpecError(
            f"{', '.join(labels)}: rated by labels, and candidates are made for numbers",
            hint=Advice("choose another: {criterion}", criterion=numeric[0])
            if numeric
            else "run it with a numeric scale, such as 0 for no and 1 for yes, and improve that run",
        )
    unrated = np.isnan(matrix.people[list(partners)]).min(axis=0)
    rated = {str(story) for story in matrix.stories["story"][~unrated]}
    with JournalReader(folder.journal) as journal:
        stories = tuple(story for story in journal.stories() if story.id in rated)
    return Opened(folder, spec, base, prompt, criteria, stories, matrix, cells, partners, table)


def _prompt(matrix: RatingMatrix, folder: ResultFolder) -> EvalPrompt:
    names = list(dict.fromkeys(cell.eval_prompt for cell in matrix.cells))
    if len(names) != 1:
        raise SpecError(
            f"one Eval-Prompt is improved at a time, and the run has {', '.join(names) or 'none'}",
            hint=Advice(
                "name it: {eval_prompt}; one that was picked as the best of these ratings has a score that flatters it",
                eval_prompt=names[0] if names else "NAME",
            ),
        )
    with JournalReader(folder.journal) as journal:
        sources = (journal.meta().get("definition") or {}).get("eval_prompt_sources", {})
    prompt = parse_eval_prompt(sources[names[0]], Path(f"{names[0]}.jinja"))
    if prompt.criteria is not None:
        raise SpecError(
            f"Eval-Prompt {prompt.name} rates several criteria in one answer, and a candidate changes how one is rated",
            hint="run one that rates one criterion an answer, such as ep1, on the same stories, and improve that",
        )
    return prompt


def _cells(matrix: RatingMatrix, prompt: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    partner = match(matrix)
    pairs = [
        (cell, j)
        for cell, (named, j) in enumerate(zip(matrix.cells, partner.partner, strict=True))
        if named.eval_prompt == prompt and j is not None
    ]
    if not pairs:
        raise SpecError(
            str(partner.reason or "people rated none of the criteria"), hint="judge people has stories rated"
        )
    return tuple(cell for cell, _ in pairs), tuple(j for _, j in pairs)


def one_more_person(run: Opened) -> tuple[float | None, str | None, tuple[str, ...]]:
    """tau of one person with the mean of the others, mean over criteria; the reason without; and the criteria on which
    it is not above 0."""
    values: dict[str, float] = {}
    reason = None
    for criterion, partner in zip(run.criteria, run.partners, strict=True):
        raters = run.matrix.by_rater(partner)
        if not raters.known:
            reason = raters.reason
            continue
        pairs = human_ceiling.one_against_others(raters.ratings)
        taus = [kendall.tau_b(kendall.codes(x), kendall.codes(y)) for x, y in zip(pairs.x, pairs.y, strict=True)]
        defined = [tau for tau in taus if not math.isnan(tau)]
        if defined:
            values[criterion.name] = float(np.mean(defined))
    if not values:
        return None, reason or "no two people rated the same stories", ()
    low = tuple(name for name, value in values.items() if round(value, 9) <= 0)
    return float(np.mean(list(values.values()))), None, low


def spread_of(run: Opened, whole: RatingsTable) -> tuple[float, bool]:
    """Spread over story-prompts of the difference of two Eval-Prompts' tau, and whether this run has measured it."""
    matrix = build(whole)[0]
    place = {(cell.eval_prompt, cell.criterion): i for i, cell in enumerate(matrix.cells)}
    names = [cell.criterion for cell in (run.matrix.cells[i] for i in run.cells)]
    others = {cell.eval_prompt for cell in matrix.cells} - {run.prompt.name}
    rows = {p: [place[p, c] for c in names] for p in (run.prompt.name, *others) if all((p, c) in place for c in names)}
    for other in sorted(others & rows.keys()):
        people = matrix.people[list(run.partners)]
        base, second = matrix.judge[rows[run.prompt.name]], matrix.judge[rows[other]]
        gain = prompt_gain.gain([prompt_gain.Part(people, base[None], second, matrix.story_prompt, matrix.system)])
        if gain.se is not None and gain.clusters >= 10:
            return gain.se * math.sqrt(gain.clusters), True
    return prompt_gain.usual_spread(len(matrix.systems)), False


def rated_of(run: Opened, stories: Sequence[Story], *, comments: bool) -> dict[str, list[Rated]]:
    """Train stories with people's and the judge's ratings, and explanations, by criterion."""
    place = {str(story): i for i, story in enumerate(run.matrix.stories["story"])}
    frame = run.table.frame
    told = frame[(frame["source"] == "judge") & frame["explanation"].notna()]
    first = told.drop_duplicates(["story", "criterion"]).set_index(["story", "criterion"])["explanation"].to_dict()
    made: dict[str, list[Rated]] = {}
    for criterion, cell, partner in zip(run.criteria, run.cells, run.partners, strict=True):
        theirs = run.matrix.criteria[partner]
        rows = made.setdefault(criterion.name, [])
        for story in stories:
            at = place[story.id]
            people, judge = float(run.matrix.people[partner, at]), float(run.matrix.judge[cell, at])
            if math.isnan(people):
                continue
            said = [r.comment for r in story.ratings if comments and r.criterion == theirs and r.comment]
            why = first.get((story.id, criterion.name))
            own = None if math.isnan(judge) else judge
            rows.append(Rated(story, people, own, None if why is None else str(why), said[0] if said else None))
    return made


def paid(spec: RunSpec) -> bool:
    """Whether answers cost money that is known: a model in this process, or on a server without a price, is free."""
    priced = load_prices(spec.judge, spec.base_url, spec.engine) is not None or reports_cost(spec.base_url)
    return charged(spec) and priced


@dataclass(frozen=True, slots=True)
class Costs:
    """Dollars of answers: `each` of one to the original, of `characters`; `dearest` of one request at most. None and 0
    where nothing is paid, or no price is known."""

    each: float | None
    characters: float
    dearest: float

    def of(self, characters: float) -> float | None:
        """Dollars of one answer to a prompt of so many characters."""
        return None if self.each is None else self.each * characters / self.characters


def characters_of(run: Opened, prompt: EvalPrompt, stories: Sequence[Story]) -> float:
    """Mean length of a prompt's requests about some of these stories."""
    few = stories[:: max(1, len(stories) // _SAMPLE)]
    lengths = [
        sum(len(message.content) for message in prompt.render(story, criterion))
        for story in few
        for criterion in run.criteria
    ]
    return float(np.mean(lengths))


def costs_of(run: Opened, longest: int) -> Costs:
    """What answers cost: as measured in the run, else by the price table. `longest` is the longest request in
    characters, of any candidate."""
    characters = characters_of(run, run.prompt, run.stories)
    if not paid(run.spec):
        return Costs(None, characters, 0.0)
    price = load_prices(run.spec.judge, run.spec.base_url, run.spec.engine)
    with JournalReader(run.folder.journal) as journal:
        answered = journal.totals().answered
    spent = folder_cost(run.folder).dollars
    each = spent / answered if spent and answered else None
    if each is None and price is not None:
        each = price.cost(characters / _CHARACTERS_PER_TOKEN, _USUAL_ANSWER)
    if each is None:
        return Costs(None, characters, 0.0)
    limit = run.spec.generation.max_tokens or _LONGEST_ANSWER
    dearest = each * longest / characters * 2 if price is None else price.cost(longest / 2, limit)
    return Costs(each, characters, dearest)
