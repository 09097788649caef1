"""Stages of an improvement: each is a run of its own in its own folder, with its stories and Eval-Prompts.

A stage's answers lie in a journal, as those of `judge run` do: killed, it goes on, and every other command reads it.
The budget is one for all stages; what earlier ones spent is taken from it.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import yaml

from judge.answers.journal import JournalReader
from judge.asking.execution.session import Result, Sitting, charged, sit
from judge.asking.run_definition.spec import RunSpec, parse_run_spec
from judge.asking.run_definition.writing import AnySpec, GenerateSpec, parse_generate_spec
from judge.asking.run_folder import ResultFolder, folder_cost
from judge.asking.run_folder.layout import DEFINITION, GENERATION, folder_for
from judge.base.credentials.providers import JudgeName
from judge.base.errors import JudgeError
from judge.base.files import write_output
from judge.base.printing.text_layout import dollars
from judge.base.records import Criterion, Story
from judge.base.wording import Advice
from judge.inputs.datasets.files.native import write_stories
from judge.inputs.prompt_file import locate
from judge.lab.generation.stories import Written, written

STORIES, PROMPTS, TASKS, CRITERIA = "stories.jsonl", "prompts", "tasks.jsonl", "criteria.yaml"
_WRITER = "writer"
# Keys of a run that reach the model; a writer of the same provider has them too.
_REACHED = ("base_url", "headers", "api_key_env", "engine", "revision", "concurrency", "attempt_timeout")
_WRITTEN_TOKENS = 900


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks in folders below `home`, by the definition `spec` of the run, whose relative paths are those of `base`.

    `budget` is in dollars for all stages together; None = no limit. `dearest` is what one request may cost at most, as
    far as this can be known before. `quiet`: no progress.
    """

    spec: RunSpec
    base: Path
    home: Path
    budget: float | None = None
    dearest: float = 0.0
    quiet: bool = True

    def spent(self, but: Iterable[Path] = ()) -> float:
        """Dollars that all stages spent, without those in the folders `but`, as far as costs are known."""
        left_out = {folder.resolve() for folder in but}
        folders = [path.parent for path in self.home.glob("*/*/journal.sqlite")]
        costs = [folder_cost(ResultFolder(path)).dollars for path in folders if path.parent.resolve() not in left_out]
        return sum(cost or 0.0 for cost in costs)

    def stage(
        self,
        name: str,
        stories: Sequence[Story],
        prompts: Mapping[str, str],
        criteria: Sequence[Criterion],
        repeats: int,
        seed: int,
        *,
        scaled: bool = False,
    ) -> Stage:
        """The stage of this name: `prompts` (name to source) about `stories`, with its files written.

        `scaled`: the criteria are on another scale than people's ratings, which are left out.
        """
        folder = self.home / name
        data = self.spec.keys_in_force() | {
            "name": name,
            "dataset": STORIES,
            "columns": None,
            "eval_prompts": [f"{PROMPTS}/{prompt}.jinja" for prompt in prompts],
            "repeats": repeats,
            "max_cost": None,
        }
        if scaled:
            stories = [replace(story, ratings=()) for story in stories]
            data.pop("people", None)
            _write(folder / CRITERIA, _criteria_text(criteria))
        file = CRITERIA if scaled else self._criteria_set(folder, self.spec.criteria.set)
        data["criteria"] = {"set": file, "only": [criterion.name for criterion in criteria], "wording": None}
        if self.spec.generation.seed is not None:
            # Equal seeds would give equal answers, and nothing would have been asked afresh.
            data["generation"] = {**data["generation"], "seed": self.spec.generation.seed + seed}
        spec = parse_run_spec(data, str(folder))
        if not (folder / STORIES).is_file():
            folder.mkdir(parents=True, exist_ok=True)
            write_stories(folder / STORIES, stories)
        for prompt, source in prompts.items():
            _write(folder / PROMPTS / f"{prompt}.jinja", source)
        _write(folder / DEFINITION, definition_text(spec))
        return Stage(spec, folder, folder_for(folder / DEFINITION, spec.name, spec.judge, spec.revision))

    def _criteria_set(self, folder: Path, name: str) -> str:
        """Name of the criteria set in a stage's definition; a file of the run is copied beside it."""
        file = locate(name, kind="criteria", suffix=".yaml", kind_name="criteria set", folder=self.base)
        if not (self.base / file.name).is_file() and not Path(name).suffix:
            return name
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, folder / file.name)
        return file.name

    def ask(self, stages: Sequence[Stage]) -> None:
        """Ask everything of these stages that is missing, one stage after another.

        Raises JudgeError where a stage ends early: a budget without room, or a server that answers nothing. The same
        call then goes on.
        """
        for stage in stages:
            if not stage.done:
                self._sit(stage.sitting(quiet=self.quiet))

    def _sit(self, sitting: Sitting) -> None:
        """One stage within the rest of the budget, which is passed by one request at most.

        Near its end requests are sent one at a time: of those in flight, each may cost more than any before.
        """
        spec, result = sitting.spec, None
        if self.budget is not None and charged(spec):
            left = max(0.0, self.budget - self.spent([sitting.folder]))
            early = left - spec.concurrency * self.dearest
            if early > 0:
                result = sit(replace(sitting, spec=_with(spec, max_cost=early)))
            spec = _with(spec, max_cost=left, concurrency=1)
        if result is None or (result.missing and result.outcomes.stopped is not None):
            result = sit(replace(sitting, spec=spec))
        self._finish(sitting.folder, result)

    def _finish(self, folder: Path, result: Result) -> None:
        if result.outcomes.stopped is not None and result.missing:
            spent = dollars(self.spent())
            raise JudgeError(
                f"stopped at {folder.name}: {result.outcomes.stopped}; {spent} were spent in all, and nothing is lost",
                hint=Advice("the same command goes on; {budget} gives it more", budget="DOLLARS"),
            )
        _write(folder / "done", "")

    def written(self, tasks: Mapping[str, str], writer: str) -> list[Written]:
        """The writer's answer to each task (name to instruction), asked once."""
        folder = self.home / _WRITER
        lines = [orjson.dumps({"id": f"t{i}", "story_prompt": text}) for i, text in enumerate(tasks.values())]
        if not (folder / TASKS).is_file():
            _write(folder / TASKS, b"\n".join(lines) + b"\n")
        definition = folder / GENERATION
        same = JudgeName.of(writer).provider == JudgeName.of(self.spec.judge).provider
        reached = {key: getattr(self.spec, key) for key in _REACHED} if same else {}
        if writer != self.spec.judge:
            reached |= {"revision": None}
        data: dict[str, Any] = {
            "name": _WRITER,
            "story_prompts": TASKS,
            "writer": writer,
            "writer_prompts": ["bare"],
            "generation": {"max_tokens": _WRITTEN_TOKENS},
            **{key: value for key, value in reached.items() if value},
        }
        spec: GenerateSpec = parse_generate_spec(data, str(definition))
        _write(definition, yaml.safe_dump(data, sort_keys=False))
        result = folder_for(definition, _WRITER, writer, spec.revision)
        if not (folder / "done").is_file():
            self._sit(Sitting(spec, folder, result, quiet=self.quiet))
        found = {each.wanted.id: each for each in written([result])}
        return [found[f"t{i}"] for i in range(len(tasks))]


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage: its definition, its folder, and the folder of its answers."""

    spec: RunSpec
    folder: Path
    result: ResultFolder

    @property
    def done(self) -> bool:
        """Whether everything was asked; repeats that were given up after errors are not asked again."""
        return (self.folder / "done").is_file() and self.result.journal.is_file()

    def sitting(self, *, quiet: bool) -> Sitting:
        return Sitting(self.spec, self.folder, self.result, quiet=quiet)

    def cost_of(self, prompt: str) -> tuple[float | None, int]:
        """Dollars of one Eval-Prompt's answers (None: not known), and its answers."""
        from judge.asking.run_folder import read_manifest
        from judge.asking.run_folder.cost import cost_of

        with JournalReader(self.result.journal) as journal:
            spending = journal.spending(prompt)
        return cost_of(spending, read_manifest(self.result.manifest)).dollars, spending.answers


def _with(spec: AnySpec, **changes: Any) -> AnySpec:
    return spec.model_copy(update=changes)


def definition_text(spec: RunSpec) -> str:
    """A definition as run.yaml, without keys that have their usual value."""
    said = spec.model_dump(mode="json", exclude_defaults=True)
    return yaml.safe_dump(said, sort_keys=False, allow_unicode=True)


def _criteria_text(criteria: Sequence[Criterion]) -> str:
    """A criteria set's file, without guidelines."""
    entries = [
        {"name": c.name, "abbreviation": c.abbreviation, "definition": c.definition}
        | {"scale": {"min": c.scale.min, "max": c.scale.max, "step": c.scale.step}}
        for c in criteria
    ]
    return yaml.safe_dump({"name": "scaled", "criteria": entries}, sort_keys=False, allow_unicode=True)


def _write(file: Path, content: str | bytes) -> None:
    data = content.encode() if isinstance(content, str) else content
    if file.is_file() and file.read_bytes() == data:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    write_output(file, data)
