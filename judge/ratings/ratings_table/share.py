"""Program of a helper process that parses its share of a journal's blocks into `derived/`; started by `helpers`."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from judge.answers.journal import JournalReader
from judge.answers.parsing import parser as load_parser
from judge.answers.parsing.stored_answers import StoredAnswers
from judge.asking.run_folder import ResultFolder
from judge.base.records import Criterion
from judge.ratings.ratings_table.judgments import Walk, identity_of
from judge.ratings.ratings_table.parsed_file import ParsedFile


def main() -> None:
    """Parse one share of a journal's answers, which the command-line arguments name, and store the judgments in the
    cache. Stops early if the parent process has ended.
    """
    folder, parser, identity, share, shares, parent = sys.argv[2:]
    result = ResultFolder(Path(folder))
    loaded = load_parser(parser)
    with JournalReader(result.journal) as journal, journal.snapshot():
        definition = journal.meta()["definition"]
        texts = {story.id: story.text for story in journal.stories(ratings=False)}
        if identity_of(parser, loaded.version, definition, texts.items()) != identity:
            return
        criteria = map(Criterion.of, definition["criteria_records"])
        reading = StoredAnswers.of_run(loaded, criteria, definition, texts.__getitem__)
        with ParsedFile(result.parsed(parser), identity) as kept:
            walk = Walk(journal, reading, kept)
            for number in journal.blocks()[int(share) :: int(shares)]:
                if not kept.writable or (os.name != "nt" and os.getppid() != int(parent)):
                    return
                walk.block(number)
