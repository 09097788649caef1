"""Outcome of every request for a story, derived from the journal: a status, faults, and the origin of the text. No
request is repeated because of an answer's content."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any, Literal, get_args

import orjson

from judge.answers.journal import JournalReader
from judge.asking.run_definition.writing import GenerateSpec, parse_spec
from judge.asking.run_folder import ResultFolder, read_manifest
from judge.asking.run_folder.layout import judge_slug
from judge.base.credentials.providers import JudgeName
from judge.base.errors import DataError, RunFolderError
from judge.base.files import write_whole
from judge.base.fingerprint import sha256_text
from judge.base.late_pattern import late
from judge.base.printing.tables import cells_of
from judge.base.records import Answer, Story, StoryPrompt
from judge.inputs.datasets.files.native import write_stories
from judge.lab.generation.faults import Fault, Rule, faults_of, stripped

# Near-duplicates: pairs of stories by one model that share many of their word n-grams, among all pairs.

# Words of a gram.
LENGTH = 8

# Two stories are near-duplicates where they share more than this part of the shorter one's grams.
SHARE = 0.05

_WORD = late(r"[\w']+")


def near_duplicates(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Sorted pairs of indices of near-duplicate texts. They share more than 5 % (`SHARE`) of the distinct word 8-grams
    of the text that has fewer."""
    # Texts with equal sets of n-grams are compared with the others only once, which is fast also for a model that
    # always writes the same text.
    alike: dict[frozenset[int], list[int]] = defaultdict(list)
    for index, text in enumerate(texts):
        if grams := _grams(text):
            alike[grams].append(index)
    pairs = [pair for places in alike.values() for pair in combinations(places, 2)]
    sets = list(alike)
    for first, other in _sharing(sets):
        pairs += [(min(a, b), max(a, b)) for a in alike[sets[first]] for b in alike[sets[other]]]
    return sorted(pairs)


def _sharing(sets: Sequence[frozenset[int]]) -> Iterator[tuple[int, int]]:
    holders: dict[int, list[int]] = defaultdict(list)
    for index, grams in enumerate(sets):
        shared: Counter[int] = Counter()
        for gram in grams:
            shared.update(holders[gram])
            holders[gram].append(index)
        for earlier, count in shared.items():
            if count > SHARE * min(len(grams), len(sets[earlier])):
                yield earlier, index


def _grams(text: str) -> frozenset[int]:
    words = _WORD.findall(text.lower())
    return frozenset(hash(tuple(words[at : at + LENGTH])) for at in range(len(words) - LENGTH + 1))


# Detection of answers in which the model refuses to write a story. A refusal by a character in a story does not
# count.

_DECLINES = late(
    r"\b(?:i(?:'m| am) sorry\b.{0,60}\b(?:can't|cannot|can not|unable|won't|not able)"
    r"|i(?:'m| am) (?:unable|not able|not comfortable|afraid i can)"
    r"|i (?:can't|cannot|can not|won't|will not|must decline|decline|refuse)(?: to)?(?: \w+)? ?"
    r"(?:write|create|generate|help|assist|fulfil|fulfill|provide|continue|comply|produce|engage|do (?:that|this))"
    r"|as an? (?:ai|artificial|language model|large language))",
    re.I | re.S,
)
_QUOTED = late(r"[\"“].*?[\"”]", re.S)
# Characters: a refusal says so at its beginning, while a story's people may decline anything later on.
_OPENING = 300

# Words: what is longer was written, whatever it says at first; it is flagged as a reply where it is one.
_LONGEST = 120


def declines(text: str) -> bool:
    """Whether a short answer begins with a refusal outside quotation marks."""
    if len(text.split()) > _LONGEST:
        return False
    return bool(_DECLINES.search(_QUOTED.sub(" ", text[:_OPENING].replace("’", "'"))))


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
    """One request for a story with its outcome; `why` is the error message of a failed one. `text` is the story as
    exported, `raw` the writer's output, and `stripped` the rules that removed text from it. `near` holds ids of
    near-duplicates."""

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
        return Story(self.id, self.wanted.text, self.system, self.text, self.wanted.reference)

    def record(self) -> dict[str, Any]:
        return {
            **cells_of(self, "id", "status", "system", "writer", "model"),
            "story_prompt": self.wanted.id,
            **cells_of(self, "writer_prompt", "repeat"),
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
    """Every request for a story in the folders, also failed ones, by story-prompt, writer prompt and repeat. `rules`
    name the parts to remove. Raises RunFolderError where a story is in two folders, or a run writes no stories."""
    stories = [story for folder in folders for story in _stories_of_folder(folder, rules)]
    twice = [name for name, count in Counter(story.id for story in stories).items() if count > 1]
    if twice:
        raise RunFolderError(
            f"{twice[0]} is a story of two of these folders", hint="give writers of one model their revisions"
        )
    return with_near_duplicates(stories)


def with_near_duplicates(stories: Sequence[Written]) -> list[Written]:
    """The stories, with the fault `near_duplicate` and ids for those similar to others of their system."""
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
    return RunFolderError(f"{folder.path} holds no stories that were written", hint="judge data generate GEN does")


# Export of generated stories for judges: a file of stories and a file with the origin of each. No file is
# overwritten.

FACTS = ".facts.jsonl"


def passed_on(stories_written: Sequence[Written], *, cut: bool = False, human: bool = False) -> list[Story]:
    """Stories for judges: those with status `ok` and, with `cut`, those that ended at max_tokens or the context limit.
    With `human`, the human stories for the same story-prompts come first; RunFolderError without such stories."""
    stories = [story.story for story in stories_written if story.status == "ok" or (cut and story.status == "cut")]
    if not human:
        return stories
    wanted = {story.wanted.id: story.wanted for story in stories_written}
    people = [
        Story(f"{story.id}:{HUMAN}", story.text, HUMAN, story.reference, story.reference)
        for story in wanted.values()
        if story.reference is not None
    ]
    if not people:
        raise RunFolderError("no story-prompt has a human story", hint="leave the human stories out")
    return [*people, *stories]


def write_all(path: Path, stories: Sequence[Story], facts_of_stories: Sequence[Written]) -> Path:
    """Write the stories, and to a second file, whose path it gives, one line on each request's origin, status and
    faults. Raises DataError where a file exists already, and RunFolderError where there are no stories."""
    facts = path.with_suffix(FACTS)
    if facts.exists():
        raise DataError("exists already", file=facts, hint="give another name, or delete the file first")
    if not stories:
        raise RunFolderError("there is no whole story to write", hint="without -o the tables say what became of them")
    write_stories(path, stories)
    try:
        write_whole(
            facts,
            b"".join(orjson.dumps(story.record(), option=orjson.OPT_APPEND_NEWLINE) for story in facts_of_stories),
        )
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}", file=facts) from error
    return facts
