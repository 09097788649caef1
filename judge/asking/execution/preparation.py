"""Creation or check of a run's journal before the first request, so that two different runs cannot share a journal."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson

from judge.answers.journal import JournalReader, JournalWriter, fold
from judge.answers.journal.database import is_blank
from judge.asking.execution.plan_part import PlanPart, whole_of
from judge.asking.plan import AnyPlan, Plan, WritingPlan, make_plan
from judge.asking.plan.pairs import Planned, StoryPlace, comparisons_of, pairs_of
from judge.asking.plan.queries import missing_reference
from judge.asking.run_definition.spec import PairsSpec, load_run_specs
from judge.asking.run_folder import ResultFolder
from judge.asking.run_folder.layout import definition_of
from judge.base import redaction
from judge.base.credentials.providers import RECORDED, JudgeName
from judge.base.errors import DataError, RunFolderError, SpecError
from judge.base.fingerprint import fingerprint, fingerprint_file
from judge.base.records import Comparison, Pair, Story, StoryPrompt
from judge.base.wording import Advice, joined, listed
from judge.inputs.datasets import Dataset, open_dataset
from judge.inputs.datasets.files.source_file import json_lines, text_value
from judge.inputs.perturbations.perturbation import is_emptied
from judge.inputs.prompt_file import ask_the_same

# Story-prompts for which models write. A dataset's are taken once, in order of first appearance, with a human story
# if there is one. A file is JSON Lines without texts: `story_prompt` and optionally `id` and `reference`.

_KEYS = frozenset({"id", "story_prompt", "reference"})
HUMAN = "Human"


@dataclass(frozen=True, slots=True)
class StoryPrompts:
    """Source of story-prompts; `read` starts a new pass over them."""

    name: str
    read: Callable[[], Iterator[StoryPrompt]]
    fingerprint: Callable[[], str]

    def stories(self) -> Iterator[Story]:
        """The story-prompts as a journal stores them: `Story` records with an empty text."""
        return (Story(prompt.id, prompt.text, "", "", prompt.reference) for prompt in self.read())


def open_story_prompts(name_or_path: str, columns: Mapping[str, Any] | None = None) -> StoryPrompts:
    """The story-prompts of a dataset given by name, of a file of stories, or of a file of story-prompts."""
    path = Path(name_or_path)
    if path.suffix.lower() in (".jsonl", ".ndjson") and path.is_file() and _is_bare(path):
        return StoryPrompts(
            path.stem, partial(_listed, path), lambda: fingerprint({"story_prompts": fingerprint_file(path)})
        )
    dataset = open_dataset(name_or_path, columns=columns)

    def read() -> Iterator[StoryPrompt]:
        first: dict[str, str | None] = {}
        for story in dataset.stories():
            human = story.text if story.system == HUMAN else story.reference
            if story.story_prompt.strip():
                first[story.story_prompt] = first.get(story.story_prompt) or human
        if not first:
            raise DataError(f"no story of {dataset.name} names its story-prompt", file=name_or_path)
        for index, (text, reference) in enumerate(first.items()):
            yield StoryPrompt(f"p{index}", text, reference)

    return StoryPrompts(dataset.name, read, dataset.fingerprint)


def _is_bare(path: Path) -> bool:
    # A line that cannot be read raises its error when the whole file is read.
    try:
        _, value = next(json_lines(path), (0, None))
    except DataError:
        return False
    return isinstance(value, dict) and "story_prompt" in value and "text" not in value


def _listed(path: Path) -> Iterator[StoryPrompt]:
    seen: dict[str, int] = {}
    for index, (row, value) in enumerate(json_lines(path)):
        if not isinstance(value, dict) or not value.keys() <= _KEYS or "story_prompt" not in value:
            content = sorted(value) if isinstance(value, dict) else value
            raise DataError(
                "not a story-prompt", file=path, row=row, found=content, allowed="story_prompt, id, reference"
            )
        text = text_value(value["story_prompt"], path, row, "story_prompt")
        given = text_value(value.get("id", f"p{index}"), path, row, "id")
        reference = value.get("reference")
        if given in seen:
            raise DataError(f"has the id of row {seen[given]}", file=path, row=row, column="id", found=given)
        seen[given] = row
        reference_text = None if reference is None else text_value(reference, path, row, "reference")
        yield StoryPrompt(given, text, reference_text)


# Reads a file of pairs to compare: JSON Lines with `first`, `second` and optionally `id`.

_ALLOWED = "an object with first and second, the ids of two stories, and perhaps id"


def read_pairs(file: Path) -> list[Pair]:
    """The pairs of a file, in its order. Raises DataError with file and row."""
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", file=file, hint="pairs: {file: FILE}") from error
    pairs = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise DataError(f"not valid JSON ({error})", file=file, row=number) from error
        if not isinstance(data, dict) or not all(isinstance(data.get(key), str) for key in ("first", "second")):
            raise DataError(
                "not a pair", file=file, row=number, found=line[:60].decode("utf-8", "replace"), allowed=_ALLOWED
            )
        first, second = data["first"], data["second"]
        pairs.append(Pair(str(data.get("id", f"{first}|{second}")), "", first, second))
    return pairs


# What must be equal for a run to go on in the same folder; repeats may grow, criteria may be added.
_SAME = {
    "dataset_hash": "the dataset's content",
    "criteria_hash": "the criteria set",
    "eval_prompts": "the Eval-Prompts",
    "generation": "generation",
    "api": "api",
    "system": "system",
    "structured": "structured",
    "scoring": "scoring",
    "pairs": "pairs",
    "pairs_hash": "the file of pairs",
    "orders": "orders",
    "ties": "ties",
    "across": "across",
    "words": "words",
    "judge_key": "the judge (provider, model or identity, revision, engine)",
    "shard": Advice("the part of the plan ({shard}, {limit})"),
}


@dataclass(frozen=True, slots=True)
class Prepared:
    """State of a prepared journal. `subjects` counts what queries are about: stories, or pairs per order shown.
    `resumed`: it already had answers."""

    stories: int
    subjects: int
    definition: dict[str, Any]
    resumed: bool


def dataset_of(plan: Plan, folder: Path) -> Dataset:
    """The run's dataset. A file's path is first resolved against the folder of run.yaml."""
    name = plan.spec.dataset
    beside = folder / name
    dataset = open_dataset(
        str(beside) if beside.is_file() else name, columns=plan.spec.columns, criteria=plan.criteria_set.criteria
    )
    if not dataset.files:
        raise SpecError(f"dataset {name!r} has no files")
    return dataset


def stories_of_run(run: Path) -> tuple[Plan, Dataset]:
    """What a run asks about, by its definition: all of its judges read the stories that the first one does."""
    definition = definition_of(run)
    plan = make_plan(load_run_specs(definition).asked[0], folder=definition.parent)
    return plan, dataset_of(plan, definition.parent)


def story_prompts_of(plan: WritingPlan, folder: Path) -> StoryPrompts:
    """The story-prompts. A file's path is first resolved against the folder of generate.yaml."""
    name = plan.spec.story_prompts
    beside = folder / name
    return open_story_prompts(str(beside) if beside.is_file() else name, plan.spec.columns)


def first_stories(dataset: Dataset, limit: int | None) -> Iterator[Story]:
    """All stories in the dataset's order or the first `limit` after sorting by story-prompt."""
    if limit is None:
        return dataset.stories()
    stories = enumerate(dataset.stories())
    first = heapq.nsmallest(limit, stories, key=lambda pair: (pair[1].story_prompt, pair[0]))
    return (story for _, story in first)


def askable(plan: Plan, dataset: Dataset, stories: Iterable[Story]) -> Iterator[Story]:
    """The stories; SpecError at the first that cannot be asked about. Recorded answers serve every story; other judges
    need its text, unless it was emptied on purpose."""
    recorded = JudgeName.of(plan.spec.judge).provider == RECORDED
    for story in missing_reference(plan, stories):
        if not recorded and not story.text.strip() and not is_emptied(story.id):
            holds = f"; dataset {dataset.with_text} holds the stories that have one" if dataset.with_text else ""
            raise SpecError(
                f"story {story.id!r} of dataset {dataset.name} has no text: {plan.spec.judge} cannot be asked about it",
                hint=f"only recorded answers can be given for it{holds}",
            )
        yield story


def prepare(plan: AnyPlan, folder: Path, result: ResultFolder, part: PlanPart | None = None) -> Prepared:
    """Store stories and definition in a new journal, or check that an existing one belongs to this run; its state."""
    source = story_prompts_of(plan, folder) if isinstance(plan, WritingPlan) else dataset_of(plan, folder)
    definition = _definition(plan, folder, source)
    _refuse_keys(definition)
    if part is not None:
        _check_whole(definition, whole_of(result))
        definition |= {"shard": part.record()}
    if result.journal.is_file() and not result.journal.is_symlink() and is_blank(result.journal):
        result.journal.unlink()
    if result.journal.exists():
        with JournalReader(result.journal) as journal:
            before, tried = journal.meta().get("definition"), journal.last_attempt() > 0
            if before is None and tried:
                raise RunFolderError(
                    f"{result.journal} holds attempts and has lost its definition: nothing was changed",
                    hint="restore it from a copy, or move it away to ask everything anew",
                )
            if before is not None and _asked_in_vain(journal, result) and changed(before, definition):
                before = None
            if before is not None:
                _check_same(before, definition, result)
                merged = _merged(before, definition)
                if isinstance(source, Dataset) and isinstance(plan, Plan):
                    _check_added(plan, source, journal, added=merged["eval_prompts"] != before["eval_prompts"])
                resumed = journal.settled_total() > 0
                prepared = Prepared(journal.story_count(), journal.subject_count(), merged, resumed)
        if before is not None:
            if merged != before:
                with JournalWriter(result.journal, executor="prepare") as writer:
                    writer.set_meta({"definition": merged})
            return prepared
        # A run that was killed before its definition was stored, or whose every request was refused, has no answers.
        _clear(result.journal, attempts=tried)
    with JournalWriter(result.journal, executor="prepare") as writer:
        if isinstance(plan, Plan) and isinstance(source, Dataset):
            count, subjects = _store(writer, plan, folder, source, part)
        else:
            wanted = list(source.stories())
            mine = wanted if part is None else list(part.among(wanted))
            count = subjects = writer.add_stories(mine)
        if count == 0:
            raise SpecError(f"{source.name!r} has nothing to ask about")
        writer.set_meta({"definition": definition})
    return Prepared(count, subjects, definition, resumed=False)


def _store(writer: JournalWriter, plan: Plan, folder: Path, dataset: Dataset, part: PlanPart | None) -> tuple[int, int]:
    # Numbers of stories and of pairs per order shown; where nothing is compared, the second is the stories' again.
    planned = planned_comparisons(plan, folder, dataset) if plan.compares else []
    if part is not None and plan.compares:
        planned = part.comparisons(planned)
    count = writer.add_stories(askable(plan, dataset, _stored_stories(dataset, part, planned)))
    if count == 0:
        raise SpecError(f"dataset {dataset.name!r} has no stories")
    subjects = writer.add_pairs(planned) if plan.compares else count
    if dataset.pairs is not None:
        writer.add_preferences(_among(dataset, planned if part is not None else None))
    return count, subjects


def _check_added(plan: Plan, dataset: Dataset, journal: JournalReader, *, added: bool) -> None:
    # Before anything is paid for.
    if added or dataset.with_text is not None:
        for _ in askable(plan, dataset, journal.stories(ratings=False)):
            pass


def planned_comparisons(plan: Plan, folder: Path, dataset: Dataset, limit: int | None = None) -> list[Planned]:
    """Comparisons in the plan's order; with `limit`, of its first `limit` pairs."""
    stories = [StoryPlace.of(story) for story in dataset.stories()]
    file = _pairs_file(plan, folder)
    named = None if dataset.pairs is None else dataset.pairs()
    pairs = pairs_of(plan.spec, stories, named, None if file is None else read_pairs(file))
    return comparisons_of(plan.spec, pairs[:limit], stories)


def first_comparisons(plan: Plan, dataset: Dataset, planned: Sequence[Planned], most: int) -> list[Comparison]:
    """About `most` of these comparisons, evenly spaced over the whole list, with their stories."""
    shown = planned[:: max(1, len(planned) // most)]
    wanted = {story for comparison in shown for story in (comparison.first, comparison.second)}
    stories = {story.id: story for story in askable(plan, dataset, dataset.stories()) if story.id in wanted}
    return [Comparison(stories[comparison.first], stories[comparison.second], comparison.pair) for comparison in shown]


def _pairs_file(plan: Plan, folder: Path) -> Path | None:
    pairs = plan.spec.pairs
    if not isinstance(pairs, PairsSpec) or pairs.file is None:
        return None
    beside = folder / pairs.file
    return beside if beside.is_file() else Path(pairs.file)


def _stored_stories(dataset: Dataset, part: PlanPart | None, planned: Sequence[Planned]) -> Iterator[Story]:
    if part is None:
        return dataset.stories()
    if not planned:
        return part.stories(dataset)
    mine = {story for comparison in planned for story in (comparison.first, comparison.second)}
    return (story for story in dataset.stories() if story.id in mine)


def _among(dataset: Dataset, planned: Sequence[Planned] | None) -> Iterator[Pair]:
    mine = None if planned is None else {comparison.pair for comparison in planned}
    pairs = () if dataset.pairs is None else dataset.pairs()
    return (pair for pair in pairs if mine is None or pair.id in mine)


def check_same_definition(plan: AnyPlan, folder: Path, results: Iterable[ResultFolder]) -> None:
    """Raise RunFolderError for the first folder with answers to another definition. Parts of the plan are accepted."""
    source = story_prompts_of(plan, folder) if isinstance(plan, WritingPlan) else dataset_of(plan, folder)
    definition = _definition(plan, folder, source)
    for result in results:
        _check_whole(definition, result)


def whole_definition(plan: Plan, folder: Path) -> dict[str, Any]:
    """What decides the requests of a run, with its dataset's content; paths are relative to `folder`."""
    return _definition(plan, folder, dataset_of(plan, folder))


def _definition(plan: AnyPlan, folder: Path, dataset: Dataset | StoryPrompts) -> dict[str, Any]:
    if isinstance(plan, WritingPlan) or isinstance(dataset, StoryPrompts):
        return plan.definition() | {"dataset_name": dataset.name, "dataset_hash": dataset.fingerprint()}
    file = _pairs_file(plan, folder)
    if file is not None and not file.is_file():
        raise SpecError(f"pairs: file: {file} does not exist", hint="give its path from the folder of run.yaml")
    return plan.definition() | {
        "dataset_name": dataset.name,
        "dataset_hash": dataset.fingerprint(),
        "rater_identity": dataset.rater_identity,
        "labels_note": dataset.labels_note,
        **({} if file is None else {"pairs_hash": fingerprint_file(file)}),
    }


def _check_whole(definition: dict[str, Any], result: ResultFolder) -> None:
    # A folder that holds only a part of the plan is accepted.
    if not result.journal.is_file():
        return
    with JournalReader(result.journal) as journal:
        before = journal.meta().get("definition")
    if before is not None:
        _check_same({key: value for key, value in before.items() if key != "shard"}, definition, result)


def _asked_in_vain(journal: JournalReader, result: ResultFolder) -> bool:
    return not journal.settled_total() and journal.last_attempt() > 0 and not (result.path / "batches.json").exists()


def _clear(journal: Path, *, attempts: bool) -> None:
    if not attempts:
        journal.unlink()
        return
    fold(journal)
    number = 1
    while (aside := journal.with_name(f"{journal.stem}.refused-{number}{journal.suffix}")).exists():
        number += 1
    journal.rename(aside)


def _refuse_keys(definition: dict[str, Any]) -> None:
    # An API key would be sent to the judge and stored.
    for name, part in definition.items():
        text = orjson.dumps(part).decode()
        if why := redaction.held_in(text) or redaction.looks_in(text):
            raise SpecError(f"{name} of this run holds {why}: nothing was asked", hint="take it out of the run's files")


def _check_same(before: dict[str, Any], now: dict[str, Any], result: ResultFolder) -> None:
    names = changed(before, now)
    if names:
        holds = f"{result.path} holds a run with other settings: "
        raise RunFolderError(
            joined(holds, listed(names, ", "), " changed since it was started"),
            hint=Advice(
                "give the changed run another name (or {output}), or change the settings back", output="FOLDER"
            ),
        )


def changed(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Names of what one definition asks otherwise than another, of which every request would be affected."""
    names = [words_for_key for key, words_for_key in _SAME.items() if before.get(key) != now.get(key)]
    both = set(before["eval_prompts"]) & set(now["eval_prompts"])
    sources = before["eval_prompt_sources"], now["eval_prompt_sources"]
    # How an answer is read may be mended after it was paid for; what is sent may not.
    if all(ask_the_same(sources[0][name], sources[1][name]) for name in both):
        names = [words_for_key for words_for_key in names if words_for_key != _SAME["eval_prompts"]]
    together = before.get("joint", {}), now.get("joint", {})
    if any(together[0][name] != together[1][name] for name in together[0].keys() & together[1].keys()):
        names.append("the criteria that one answer rates together")
    return names


def _merged(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    # None of the stored criteria and Eval-Prompts are removed.
    records = {record["name"]: record for record in [*before["criteria_records"], *now["criteria_records"]]}
    kept = {k: v for k, v in before.get("rating_patterns", {}).items() if k not in now["eval_prompts"]}
    patterns = kept | now.get("rating_patterns", {})
    # What criteria are set against decides nothing that is asked, and may be said or changed at any time.
    people = {"people": now["people"]} if "people" in now else {}
    return {key: value for key, value in before.items() if key not in ("rating_patterns", "people")} | {
        "eval_prompts": before["eval_prompts"] | now["eval_prompts"],
        "eval_prompt_sources": before["eval_prompt_sources"] | now["eval_prompt_sources"],
        "criteria": {"set": before["criteria"]["set"], "names": list(records)},
        "criteria_records": list(records.values()),
        **people,
        **({"rating_patterns": patterns} if patterns else {}),
        **({"joint": joint} if (joint := before.get("joint", {}) | now.get("joint", {})) else {}),
    }
