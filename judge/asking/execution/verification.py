"""Verification of a finished run: recomputes hashes of templates, stories and queries and compares them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from judge.answers.journal import JournalReader
from judge.answers.journal.snapshot import LEFT_OUT
from judge.asking.plan import AnyPlan, Plan, WritingPlan
from judge.asking.run_definition.writing import GenerateSpec, parse_spec
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.base.errors import JudgeError
from judge.base.fingerprint import fingerprint
from judge.base.foreign import reading
from judge.base.records import Criterion, names_in
from judge.inputs.criteria import CriteriaSet, Published
from judge.inputs.eval_prompts import EvalPrompt
from judge.inputs.eval_prompts.template import parse_eval_prompt, parse_writer_prompt, stories_in

_SHOWN = 3


def verify_journal(result: ResultFolder) -> tuple[int, list[str]]:
    """Number of queries verified, and the problems, from the result folder alone. 0 where the texts were removed."""
    with JournalReader(result.journal) as journal:
        problems = journal.check_integrity()
        meta = journal.meta()
        definition = meta.get("definition")
        if definition is None:
            return 0, [*problems, "the journal holds no definition"]
        for name, source in definition["eval_prompt_sources"].items():
            if fingerprint(source) != definition["eval_prompts"][name]:
                problems.append(f"the stored template {name} does not have the stored hash")
        if LEFT_OUT in meta:
            return 0, problems
        try:
            with reading(result.journal, "a journal"):
                plan = stored_plan(definition, result)
        except JudgeError as error:
            return 0, [*problems, f"the stored definition cannot be read: {error}"]
        wrong: list[str] = []
        verified = 0
        asked = _asked(journal)
        if isinstance(plan, WritingPlan):
            verified, wrong = _written_again(plan, journal, asked)
            return verified, [*problems, *_different(wrong)]
        for subject in journal.subjects():
            for prompt in plan.eval_prompts:
                for criterion in plan.asked_by(prompt):
                    name = (criterion if isinstance(criterion, Criterion) else Criterion.together(criterion)).name
                    stories = tuple(story.id for story in stories_in(subject))
                    key = asked.get((stories, name, prompt.name))
                    if key is None:
                        continue
                    if plan.query(subject, prompt, criterion).key == key:
                        verified += 1
                    else:
                        wrong.append("/".join((*stories, "+".join(names_in(name)), prompt.name)))
    return verified, [*problems, *_different(wrong)]


def _different(wrong: list[str]) -> list[str]:
    examples = ", ".join(wrong[:_SHOWN])
    return [f"{len(wrong)} queries have another hash than when they were sent: {examples}"] if wrong else []


def _written_again(
    plan: WritingPlan, journal: JournalReader, asked: dict[tuple[tuple[str, ...], str, str], str]
) -> tuple[int, list[str]]:
    # Requests without a stored key are skipped.
    verified, wrong = 0, []
    for group in plan.asked_in(journal):
        for commission in group:
            wanted, criterion, prompt = commission.journal_names
            key = asked.get(((wanted,), criterion, prompt))
            verified += key == commission.key
            if key not in (None, commission.key):
                wrong.append(f"{wanted}/{prompt}")
    return verified, wrong


def _asked(journal: JournalReader) -> dict[tuple[tuple[str, ...], str, str], str]:
    # The stories are in the order shown.
    second = journal.comparisons()
    return {
        ((story, *(second[key][1:] if key in second else ())), criterion, prompt): key
        for key, story, criterion, prompt in journal.queries()
    }


def stored_plan(definition: dict[str, Any], result: ResultFolder) -> AnyPlan:
    """The plan reconstructed from the result folder, without the files from which it was made."""
    spec = parse_spec(read_manifest(result.manifest)["asked"], str(result.manifest))
    if isinstance(spec, GenerateSpec):
        sources, file, system = definition["eval_prompt_sources"], Path("stored template"), definition["system"]
        asking = (replace(parse_writer_prompt(sources[n], file, system=system), name=n) for n in sources)
        return WritingPlan(spec, tuple(asking))
    criteria = tuple(Criterion.of(record) for record in definition["criteria_records"])
    sources = definition["eval_prompt_sources"].items()
    prompts = tuple(_stored_prompt(name, source, definition) for name, source in sources)
    criteria_set = CriteriaSet(
        definition["criteria"]["set"], "", criteria, result.journal, "", None, _published(definition)
    )
    return Plan(spec, criteria, prompts, criteria_set)


def _published(definition: dict[str, Any]) -> Published | None:
    stored = definition.get("published")
    if stored is None:
        return None
    tasks = {(criterion, prompt): text for criterion, prompt, text in stored["tasks"]}
    return Published(Path(stored["file"]), {}, {}, stored["outer"], tasks)


def _stored_prompt(name: str, source: str, definition: dict[str, Any]) -> EvalPrompt:
    # A journal from elsewhere may hold any name: none becomes a path.
    prompt = replace(parse_eval_prompt(source, Path("stored template"), system=definition["system"]), name=name)
    # Criteria may have been added since: what was asked together stays what it was.
    together = definition.get("joint", {}).get(name)
    return prompt if together is None else replace(prompt, criteria=tuple(together))
