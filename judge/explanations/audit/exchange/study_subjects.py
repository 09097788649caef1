"""Adds story, criterion and rating to the 100 explanations of the HANNA study's published audit file, which lacks them.

The file is recognised by its checksum, because in another file the same id may refer to another story.
"""

from __future__ import annotations

import math
from pathlib import Path

from judge.base.fingerprint import sha256
from judge.explanations.audit.file.items import Facts, Subject
from judge.inputs.datasets.files.source_file import read_bytes
from judge.inputs.datasets.sources import SOURCES


def study_subjects(path: Path) -> tuple[dict[tuple[str, str], Subject], list[str]] | None:
    """The explanations in the HANNA study's published file, with what is known about each of them, and notes. None if
    `path` is not that file.

    The keys of the mapping are (story id, text of the explanation). Texts of stories and criteria are None if the
    study's other files are not on this machine.
    """
    if sha256(read_bytes(path)) != SOURCES["hanna/user_study.csv"].sha256:
        return None
    from judge.explanations.corpus.from_studies import hanna_user_study

    texts = hanna_user_study(path)
    criteria = {criterion.name: criterion for criterion in texts.criteria}
    stories = texts.stories.to_dict("index")
    subjects = {}
    for row in texts.frame.to_dict("records"):
        story = stories.get((row["dataset"], row["story"]), {})
        # A human story is the reference of the others; it is none beside itself.
        same = story.get("reference") == story.get("text")
        rating = None if math.isnan(row["rating"]) else float(row["rating"])
        subjects[str(row["story"]), str(row["answer"])] = Subject(
            explanation=str(row["answer"]),
            story=str(row["story"]),
            dataset="hanna",
            system="Human",
            story_prompt=story.get("story_prompt"),
            text=story.get("text"),
            reference=None if same else story.get("reference"),
            criterion=criteria.get(str(row["criterion"])),
            facts=Facts(eval_prompt="ep3", rating=rating),
        )
    return subjects, [f"{path.name}: {note}" for note in texts.notes]
