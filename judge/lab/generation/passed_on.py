"""Export of generated stories for judges: a file of stories and a file with the origin of each. No file is
overwritten.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import orjson

from judge.base.errors import DataError, RunFolderError
from judge.base.records import Story
from judge.base.whole_file import write_whole
from judge.inputs.datasets.files.native import write_stories
from judge.lab.generation.stories import HUMAN, Written

FACTS = ".facts.jsonl"


def passed_on(stories_written: Sequence[Written], *, cut: bool = False, human: bool = False) -> list[Story]:
    """Generated stories for judges: those with status `ok` and, with `cut`, also those that ended at max_tokens or at
    the context limit.

    With `human`, the human stories for the same story-prompts come first; RunFolderError where there are no such human
    stories.
    """
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
    """Write the stories to `path`, and for every request for a story one line on its origin, status and faults
    (`facts_of_stories`) to a second file. Returns the second file's path.

    Raises DataError where a file exists already, and RunFolderError where there are no stories.
    """
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
