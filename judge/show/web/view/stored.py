"""Access to the journal of a result folder and to the plan that it stores, so that queries can be rendered again and
answers parsed.

Templates are compiled once for each definition and cached. The module does not read run.yaml or the files that it
names, so that pages show the queries of the run even if these files have changed.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge.answers.journal import JournalReader
from judge.answers.journal.database import sentences
from judge.answers.parsing import parser as load_parser
from judge.answers.parsing.stored_answers import StoredAnswers
from judge.asking.execution.verification import stored_plan
from judge.asking.plan import Plan, WritingPlan
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.base.errors import TELLS_INTACT, JudgeError, RunFolderError
from judge.base.fingerprint import fingerprint
from judge.base.records import Answer, Query, Scale, Story, joint_name

# Plans hold compiled templates: the oldest goes, so that the memory of a server that runs for days stays bounded.
_KEPT = 64


@dataclass(frozen=True, slots=True)
class Asked:
    """Definition of a run as recorded in its journal: the plan, the parser of answers (`reading`), and the number of
    `repeats`. `texts_left_out` says that the journal has no texts of stories.
    """

    definition: dict[str, Any]
    manifest: dict[str, Any]
    plan: Plan
    reading: StoredAnswers
    repeats: int
    texts_left_out: bool = False

    @property
    def judge(self) -> str:
        """Name of the judge of the run, as written in run.yaml."""
        return str(self.manifest.get("judge", "?"))

    @property
    def criteria(self) -> list[str]:
        """Names of the run's criteria, in the order of its definition."""
        return [criterion.name for criterion in self.plan.criteria]

    @property
    def scales(self) -> dict[str, Scale]:
        """Rating scales of the run's criteria, by name of the criterion."""
        return {criterion.name: criterion.scale for criterion in self.plan.criteria}

    @property
    def eval_prompts(self) -> list[str]:
        """Names of the run's Eval-Prompts, in the order of its definition."""
        return [prompt.name for prompt in self.plan.eval_prompts]

    @property
    def raters(self) -> str:
        """Word for the ratings that are shown with those of the judge: "people", or "labels" if no person gave them."""
        return "labels" if self.definition.get("labels_note") else "people"

    @property
    def people(self) -> dict[str, str]:
        """The human criterion with which each criterion of the judge is compared, as far as the definition of the run
        names one.
        """
        return dict(self.definition.get("people") or {})

    def query(self, story: Story, criterion: str, eval_prompt: str) -> Query | None:
        """The query about a story as it was sent, rendered again; None where it was not sent (for instance because the
        reference story is missing).

        For an Eval-Prompt that rates several criteria in one answer, it is the query that includes this criterion.
        """
        prompt = next((entry for entry in self.plan.eval_prompts if entry.name == eval_prompt), None)
        if prompt is None:
            return None
        places = ((entry if isinstance(entry, tuple) else (entry,), entry) for entry in self.plan.asked_by(prompt))
        asked = next((entry for criteria, entry in places if criterion in [own.name for own in criteria]), None)
        if asked is None:
            return None
        try:
            return self.plan.query(story, prompt, asked)
        except JudgeError:
            return None


@dataclass(frozen=True, slots=True)
class Stored:
    """An open journal of a run, and the definition of the run that it records."""

    journal: JournalReader
    asked: Asked

    def answers(self, story: Story, criterion: str, eval_prompt: str) -> list[Answer]:
        """Answers to one query about a story, of all repeats that were tried. Answers to a query about several criteria
        are returned as answers about the given criterion.
        """
        together = self.asked.reading.joint.get(eval_prompt)
        if together is not None and criterion not in together:
            return []
        if self.asked.texts_left_out:  # rendered without its text, a query has another key: those of the journal hold
            name = criterion if together is None else joint_name(together)
            key = self.journal.key_of(story.id, name, eval_prompt)
        else:
            query = self.asked.query(story, criterion, eval_prompt)
            key = None if query is None else query.key
        answers = [] if key is None else self.journal.answers_to(key)
        return answers if together is None else [replace(answer, criterion=criterion) for answer in answers]


_plans: dict[Path, tuple[str, Plan, StoredAnswers]] = {}
_lock = threading.Lock()


@contextmanager
def stored(folder: ResultFolder) -> Iterator[Stored]:
    """Context manager that opens a result folder's journal for reading. Errors have messages for users of the pages.

    Raises RunFolderError for a folder without a journal, or whose run was stopped before its first request.
    """
    if not folder.journal.is_file():
        raise RunFolderError(
            f"{folder.path.name} holds imported ratings: there are no answers to show",
            hint="its tables are on the run's page; judge ratings RUN prints the rows",
        )
    with sentences(folder.journal), JournalReader(folder.journal) as journal:
        yield Stored(journal, asked(folder, journal))


def asked(folder: ResultFolder, journal: JournalReader) -> Asked:
    """Definition of the run that the journal records; compiled templates are cached between calls. Raises
    RunFolderError for a run that was stopped before its first request.
    """
    definition = journal.meta().get("definition")
    if definition is None:
        raise RunFolderError(f"{folder.path} was stopped before its first request", hint="judge run it again")
    manifest = read_manifest(folder.manifest)
    word = fingerprint([definition, manifest.get("asked")])
    with _lock:
        kept = _plans.get(folder.path)
        if kept is None or kept[0] != word:
            if len(_plans) >= _KEPT:
                _plans.pop(next(iter(_plans)))
            try:
                plan = stored_plan(definition, folder)
            except (KeyError, TypeError) as error:
                raise RunFolderError(
                    f"{folder.manifest} does not record what was requested ({error})",
                    hint=TELLS_INTACT,
                ) from error
            if isinstance(plan, WritingPlan):
                raise RunFolderError(
                    f"{folder.path} holds stories that were written, and no judgments",
                    hint="judge generate stories GEN reports what became of them",
                )
            reading = StoredAnswers.of_run(load_parser("ours"), plan.criteria, definition)
            kept = _plans[folder.path] = (word, plan, reading)
    repeats = int(manifest.get("in_force", {}).get("repeats") or 1)
    return Asked(
        definition, manifest, kept[1], kept[2].with_texts(journal.text_of), repeats, bool(journal.words_left_out())
    )
