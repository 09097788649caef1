"""Outcome of every request for a story: a status, faults, and the origin of the text.

Outcomes are derived from the journal each time; the journal holds the raw answers. No request is repeated because of an
answer's content.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from judge.answers.journal import JournalReader
from judge.asking.run_definition.writing import GenerateSpec, parse_spec
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.asking.run_folder.layout import judge_slug
from judge.base.errors import RunFolderError
from judge.base.fingerprint import sha256_text
from judge.base.judge_name import JudgeName
from judge.base.records import Answer, Story, StoryPrompt
from judge.lab.generation.faults import Fault, faults_of
from judge.lab.generation.near_duplicates import near_duplicates
from judge.lab.generation.refusal import declines
from judge.lab.generation.stripping import Rule, stripped

Status = Literal["ok", "cut", "refused", "empty", "filtered", "not_answered", "not_asked"]
STATUSES: tuple[Status, ...] = get_args(Status)

WHAT: dict[Status, str] = {
    "ok": "a story that its writer ended",
    "cut": "ended by max_tokens or the context, not by its writer",
    "refused": "declines to write",
    "empty": "an answer without a character",
    "filtered": "held back by the provider's filter",
    "not_answered": "given up after errors",
    "not_asked": "planned, and not asked yet",
}

HUMAN = "Human"


@dataclass(frozen=True, slots=True)
class Written:
    """One request for a story with its outcome. `wanted` is the story-prompt, and `writer_prompt` the name of the
    prompt in which it was sent. `text` is the story as exported, `raw` the unchanged output of the model that wrote it
    (`writer`).

    `stripped` lists the rules that removed text from the output; `near` holds the ids of stories that are
    near-duplicates of this one. `why` is the error message of a failed request.
    """

    id: str
    wanted: StoryPrompt
    system: str
    writer: str
    writer_prompt: str
    repeat: int
    status: Status
    text: str = ""
    raw: str = ""
    stripped: tuple[Rule, ...] = ()
    faults: tuple[Fault, ...] = ()
    near: tuple[str, ...] = ()
    key: str = ""
    model: str | None = None
    finish_reason: str | None = None
    why: str | None = None

    @property
    def story(self) -> Story:
        """The generated story in the form in which datasets hold stories."""
        return Story(self.id, self.wanted.text, self.system, self.text, self.wanted.reference)

    def record(self) -> dict[str, Any]:
        """Origin and faults of the generated story, as plain data for the export."""
        return {
            "id": self.id,
            "status": self.status,
            "system": self.system,
            "writer": self.writer,
            "model": self.model,
            "story_prompt": self.wanted.id,
            "writer_prompt": self.writer_prompt,
            "repeat": self.repeat,
            "query_key": self.key,
            "finish_reason": self.finish_reason,
            "words": len(self.text.split()),
            "flags": list(self.faults),
            "near_duplicates": list(self.near),
            "stripped": list(self.stripped),
            "raw_sha256": sha256_text(self.raw) if self.raw else None,
            "error": self.why,
        }


def written(folders: Iterable[ResultFolder], rules: tuple[Rule, ...] = ()) -> list[Written]:
    """Every request for a story in the result folders, with its outcome. Failed requests are included. The order is
    that of the folders and, within a folder, by story-prompt, writer prompt and repeat. `rules` name the parts to
    remove from the texts, such as introductory remarks.

    Raises RunFolderError where a story is in two folders, or where a folder belongs to a run that writes no stories.
    """
    stories = [story for folder in folders for story in _stories_of_folder(folder, rules)]
    twice = [name for name, count in Counter(story.id for story in stories).items() if count > 1]
    if twice:
        raise RunFolderError(
            f"{twice[0]} is a story of two of these folders", hint="give writers of one model their revisions"
        )
    return with_near_duplicates(stories)


def with_near_duplicates(stories: Sequence[Written]) -> list[Written]:
    """The stories, with near-duplicates marked: a story that is similar to others by its system gets the fault
    `near_duplicate` and their ids.
    """
    by_system: dict[str, list[Written]] = defaultdict(list)
    for story in stories:
        if story.text.strip():
            by_system[story.system].append(story)
    near: dict[str, list[str]] = defaultdict(list)
    for group in by_system.values():
        for first, second in near_duplicates([story.text for story in group]):
            near[group[first].id].append(group[second].id)
            near[group[second].id].append(group[first].id)
    return [
        replace(story, near=tuple(near[story.id]), faults=(*story.faults, "near_duplicate"))
        if story.id in near
        else story
        for story in stories
    ]


def _stories_of_folder(folder: ResultFolder, rules: tuple[Rule, ...]) -> Iterator[Written]:
    spec = _spec(folder)
    with JournalReader(folder.journal) as journal:
        if not journal.writes:
            raise _no_stories(folder)
        answers = {
            (stored_answer.story, stored_answer.eval_prompt, stored_answer.repeat): stored_answer
            for stored_answer in journal.answers()
        }
        prompts = list((journal.meta().get("definition") or {})["eval_prompts"])
        for kept in journal.stories(ratings=False):
            wanted = StoryPrompt(kept.id, kept.story_prompt, kept.reference)
            for prompt in prompts:
                for repeat in range(spec.stories_each):
                    answer = answers.get((wanted.id, prompt, repeat))
                    yield _written_story(spec, wanted, prompt, repeat, answer, rules, several=len(prompts) > 1)


def _written_story(
    spec: GenerateSpec,
    wanted: StoryPrompt,
    prompt: str,
    repeat: int,
    answer: Answer | None,
    rules: tuple[Rule, ...],
    *,
    several: bool,
) -> Written:
    system = f"{spec.system_name}/{prompt}" if several else spec.system_name
    who = judge_slug(JudgeName.of(spec.writer).model or spec.writer, spec.revision).replace("@", "-")
    name = f"{wanted.id}:{who}:{prompt}:{repeat}"
    story = Written(name, wanted, system, spec.writer, prompt, repeat, "not_asked")
    if answer is None:
        return story
    story = replace(story, key=answer.query_key)
    response = answer.response
    if response is None:
        held_back = answer.outcome == "filtered"
        return replace(story, status="filtered" if held_back else "not_answered", why=answer.error or answer.outcome)
    text, applied = stripped(response.text, rules)
    return replace(
        story,
        status=_status(response.text, response.finish_reason),
        text=text,
        raw=response.text,
        stripped=applied,
        faults=faults_of(text, wanted.text, spec.words) if text.strip() else (),
        model=response.model,
        finish_reason=response.finish_reason,
    )


def _status(text: str, finish_reason: str | None) -> Status:
    if finish_reason == "content_filter":
        return "filtered"
    if not text.strip():
        return "empty"
    if finish_reason == "length":
        return "cut"
    return "refused" if declines(text) else "ok"


def _spec(folder: ResultFolder) -> GenerateSpec:
    asked = read_manifest(folder.manifest).get("asked")
    spec = parse_spec(asked, str(folder.manifest)) if asked else None
    if not isinstance(spec, GenerateSpec):
        raise _no_stories(folder)
    return spec


def _no_stories(folder: ResultFolder) -> RunFolderError:
    return RunFolderError(f"{folder.path} holds no stories that were written", hint="judge generate GEN asks for them")
