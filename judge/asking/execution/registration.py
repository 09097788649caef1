"""A study's plan, written down and dated beside its run.yaml, and what a run or an analysis changed of it.

The choice of a prompt, a criterion or a margin after a look at the results makes every interval too short. A plan that
was written before says which of them were chosen before. Its date is that of this machine's clock: whoever wants others
to rely on it deposits the file, or its hash, with a third party.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, ValidationError

from judge.answers.journal import JournalReader
from judge.asking.execution.preparation import changed, whole_definition
from judge.asking.plan import make_plan
from judge.asking.run_definition.spec import RunSpec, load_run_specs
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.asking.run_folder.layout import definition_of, folder_for
from judge.base.errors import RunFolderError, SpecError, unknown
from judge.base.files import write_whole
from judge.base.fingerprint import fingerprint_file
from judge.base.foreign import invalid

FILE = "plan.json"


class Registered(BaseModel):
    """A plan as `plan.json` holds it. `definitions` are those of the run, by result folder. `judge` and `eval_prompt`
    name the row that is to be reported (None: the highest of all); `answers_before` were there when it was written.
    """

    model_config = ConfigDict(strict=True, frozen=True, extra="forbid")

    format: Literal["registered plan 1"] = "registered plan 1"
    registered: str
    answers_before: int
    judge: str | None
    eval_prompt: str | None
    margin: float
    epsilon: float
    drop_systems: list[str]
    repeats: dict[str, int]
    definitions: dict[str, dict[str, Any]]

    @property
    def when(self) -> str:
        """Its date, and whether answers were there before it."""
        day = self.registered[:10]
        if self.answers_before:
            return f"registered on {day}, when {self.answers_before:,} answers were there"
        return f"registered on {day}, before the first answer"


def register(
    run: Path,
    *,
    judge: str | None,
    eval_prompt: str | None,
    margin: float,
    epsilon: float,
    drop_systems: Sequence[str],
    now: datetime,
) -> Path:
    """Write the plan of a run beside its run.yaml; its file. Raises RunFolderError where there is one already, which is
    never replaced, and SpecError for a row that the run does not ask for.
    """
    definition = definition_of(run)
    specs = load_run_specs(definition).asked
    definitions: dict[str, dict[str, Any]] = {}
    repeats, before = {}, 0
    for spec in specs:
        result = _result(definition, spec)
        definitions[result.path.name] = whole_definition(make_plan(spec, folder=definition.parent), definition.parent)
        repeats[result.path.name] = spec.repeats
        if result.journal.is_file():
            with JournalReader(result.journal) as journal:
                before += journal.settled_total()
    _refuse_row([spec.judge for spec in specs], definitions.values(), judge, eval_prompt)
    place = _result(definition, specs[0]).path.parent
    plan = Registered(
        registered=now.astimezone(UTC).isoformat(timespec="seconds"),
        answers_before=before,
        judge=judge,
        eval_prompt=eval_prompt,
        margin=margin,
        epsilon=epsilon,
        drop_systems=list(drop_systems),
        repeats=repeats,
        definitions=definitions,
    )
    return _write(place / FILE, plan)


def registered(folder: Path) -> Registered | None:
    """The plan of a result folder; None without one. Raises RunFolderError for a file that is no plan."""
    path = folder.parent / FILE
    try:
        data = path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    try:
        return Registered.model_validate_json(data)
    except ValidationError as error:
        raise RunFolderError(f"{path} is no registered plan: {invalid(error)}", hint="move it away") from error


def fingerprint_of(folder: Path) -> str:
    """Fingerprint of the plan of a result folder; "" without one."""
    path = folder.parent / FILE
    return fingerprint_file(path) if path.is_file() else ""


def changes(plan: Registered, folder: Path) -> Iterator[str]:
    """What a run asked otherwise than its plan says."""
    before = plan.definitions.get(folder.name)
    if before is None:
        yield f"{folder.name} is not in it"
        return
    result = ResultFolder(folder)
    if not result.journal.is_file():
        return
    with JournalReader(result.journal) as journal:
        now = journal.meta().get("definition")
    if now is None:
        return
    if not plan.answers_before and _began_before(result, plan):
        yield "its first answer is older than the plan"
    yield from changed(before, now)
    yield from _moved("Eval-Prompts", before["eval_prompts"], now["eval_prompts"])
    yield from _moved("criteria", before["criteria"]["names"], now["criteria"]["names"])
    repeats = (read_manifest(result.manifest).get("in_force") or {}).get("repeats")
    if repeats is not None and repeats != plan.repeats[folder.name]:
        yield f"{plan.repeats[folder.name]} repeats became {repeats}"


def _began_before(result: ResultFolder, plan: Registered) -> bool:
    with JournalReader(result.journal) as journal:
        first = journal.totals().first_request
    return first is not None and first < datetime.fromisoformat(plan.registered).timestamp()


def rows_of(plan: Registered, folders: Sequence[Path]) -> set[tuple[str, str]]:
    """(Result folder, Eval-Prompt) of all that the plan asks and these folders hold."""
    names = {folder.name for folder in folders}
    return {
        (name, prompt) for name, each in plan.definitions.items() if name in names for prompt in each["eval_prompts"]
    }


def _moved(
    what: str, before: Mapping[str, Any] | Sequence[str], now: Mapping[str, Any] | Sequence[str]
) -> Iterator[str]:
    added, gone = [n for n in now if n not in before], [n for n in before if n not in now]
    if added:
        yield f"{what} added: {', '.join(added)}"
    if gone:
        yield f"{what} left out: {', '.join(gone)}"


def _refuse_row(
    judges: Sequence[str], definitions: Iterable[Mapping[str, Any]], judge: str | None, eval_prompt: str | None
) -> None:
    if judge is not None and judge not in judges:
        raise SpecError(unknown("judge", judge, judges))
    prompts = {name for each in definitions for name in each["eval_prompts"]}
    if eval_prompt is not None and eval_prompt not in prompts:
        raise SpecError(unknown("Eval-Prompt", eval_prompt, prompts))


def _result(definition: Path, spec: RunSpec) -> ResultFolder:
    return folder_for(definition, spec.name, spec.judge, spec.revision)


def _write(path: Path, plan: Registered) -> Path:
    if path.exists():
        raise RunFolderError(
            f"{path} is there already, and a registered plan is never replaced",
            hint="a plan that was given up is moved aside, and named beside the new one",
        )
    text = orjson.dumps(plan.model_dump(), option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, text, durable=True, follow=False)
    except OSError as error:
        raise RunFolderError(f"{path} cannot be written: {error.strerror}") from error
    return path
