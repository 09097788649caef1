"""The ratings table: a row for each repeat of each query, and each human rating. Answers are parsed on each reading, so
that an improved parser applies to old ones. Judgments are cached in the folders' `derived/`, which may be deleted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd

from judge.answers.parsing import parser as load_parser
from judge.asking.run_folder import resolve
from judge.ratings.ratings_table.columns import (
    COLUMNS,
    LABEL,
    PANEL,
    STORY_COLUMNS,
    Explanations,
    Piece,
    RatingsTable,
    RunFacts,
    Scales,
    StoryRow,
    frame_of,
    noted,
    notes_of,
    ordered,
    outline_of,
    scales_of,
    stacked,
    with_labels,
)
from judge.ratings.ratings_table.imported import Imported, read_imported
from judge.ratings.ratings_table.journaled import (
    ComparisonsError,
    People,
    perturbed_names,
    read_journal,
    without_perturbed,
)
from judge.ratings.ratings_table.judgments import Asked, Beside, Telling, UnusualError, silent
from judge.ratings.ratings_table.spill import PART_ROWS

__all__ = [
    "COLUMNS",
    "LABEL",
    "PANEL",
    "STORY_COLUMNS",
    "Parts",
    "RatingsTable",
    "RunFacts",
    "UnusualError",
    "perturbed_names",
    "read",
    "read_in_parts",
    "without_perturbed",
]


def read(
    runs: Sequence[Path | str],
    parser: str = "ours",
    *,
    explanations: Explanations = True,
    keep: bool = True,
    telling: Telling = silent,
    beside: Beside | None = None,
    stated: bool = False,
    perturbed: bool = False,
) -> RatingsTable:
    """The ratings table of RUNs: definitions, run folders or result folders.

    Human ratings of a dataset occur once, however many RUNs use it. Without `explanations`, that column is null and
    names are categorical, which saves most of the memory; "given" puts "" where there is one. `keep` lets judgments be
    cached in the folders' `derived/`. `beside` is called for each result folder with the open journal and its
    `RunFacts`, to read more of the same state. `stated` reads ratings from the text, even where the run asked for
    expected values over log-probabilities. Without `perturbed`, stories that were perturbed on purpose are left out,
    with a note.

    Raises RunFolderError if a RUN has no results, or two hold different stories under one dataset's name."""
    asked = Asked(parser, load_parser(parser), explanations, keep, telling, beside, stated)
    pieces: list[Piece] = []
    people: dict[str, People] = {}
    facts: list[RunFacts] = []
    imported: list[Imported] = []
    for folder in resolve(runs):
        if folder.journal.is_file():
            read_pieces, fact = read_journal(folder, asked, people)
            pieces += read_pieces
        elif folder.preferences.is_file():
            raise ComparisonsError(folder.path)
        else:
            imported.append(read_imported(folder, explanations=bool(explanations)))
            fact = imported[-1].fact
        facts.append(fact)
    scales = scales_of((fact, _datasets(fact, imported)) for fact in facts)
    facts = [replace(fact, notes=(*fact.notes, *_said(fact, scales, imported))) for fact in facts]
    pieces += [dataset_people.ratings for dataset_people in people.values()]
    frame = frame_of(pieces, explanations=explanations)
    story_rows = [row for dataset_people in people.values() for row in dataset_people.stories.values()]
    stories = pd.DataFrame(story_rows, columns=StoryRow._fields).set_index(["dataset", "story"])
    if imported:
        frame = stacked([frame, *_once(imported, set(people))])
        # Columns that the first frame lacks come last in the others' place.
        frame = frame[ordered(frame.columns)]
        stories = pd.concat([stories, *(part.stories for part in imported)])
        stories = stories[~stories.index.duplicated()]
    facts = noted(frame, facts)
    frame = with_labels(frame, scales, explanations=explanations is True)
    whole = RatingsTable(frame, stories, tuple(facts), scales)
    return whole if perturbed else without_perturbed(whole)


def _as_text(frame: pd.DataFrame) -> pd.DataFrame:
    coded = [name for name in frame.columns if isinstance(frame[name].dtype, pd.CategoricalDtype)]
    return frame.astype(dict.fromkeys(coded, object))


@dataclass(frozen=True)
class Parts:
    """A ratings table of more rows than memory holds. `outline` has people's rows, and one row without a rating for
    each criterion and Eval-Prompt of a judge; `pieces` are the judges' rows, each piece read as it is taken."""

    outline: RatingsTable
    pieces: Iterable[Piece]

    def frames(self, kept: pd.DataFrame) -> Iterator[pd.DataFrame]:
        """The rows part by part, in the table's order: those that `kept`, some of the outline's rows, stands for."""
        # The outline has judges first. Slices are no copies.
        judged = int((kept["source"] == "judge").sum())
        asked = kept[:judged][["run", "judge", "dataset", "criterion", "eval_prompt"]].astype(object).drop_duplicates()
        yield _as_text(kept[:0])
        for piece in self.pieces:
            frame = with_labels(frame_of([piece], explanations=True), self.outline.labels, explanations=True)
            yield frame.merge(asked).reindex(columns=kept.columns)
        for first in range(judged, len(kept), PART_ROWS):
            yield _as_text(kept[first : first + PART_ROWS])


def read_in_parts(runs: Sequence[Path | str], parser: str, output: Path, *, telling: Telling = silent) -> Parts:
    """`read` with perturbed stories, of a table to write as `output`: rows go through a temporary file beside it.

    Raises UnusualError where some RUN is no journal, or its rows are none that this version writes."""
    asked = Asked(parser, load_parser(parser), explanations=True, keep=True, telling=telling, spill=output)
    pieces: list[Iterable[Piece]] = []
    outlines: list[Piece] = []
    people: dict[str, People] = {}
    facts: list[RunFacts] = []
    for result in resolve(runs):
        if not result.journal.is_file():
            raise UnusualError
        some, fact = read_journal(result, asked, people)
        pieces.append(some)
        facts.append(fact)
        outlines.append(outline_of(fact))
    scales = scales_of((fact, [fact.dataset]) for fact in facts)
    outlines += [dataset_people.ratings for dataset_people in people.values()]
    frame = with_labels(frame_of(outlines, explanations=False), scales, explanations=False)
    for dataset_people in people.values():
        dataset_people.ratings = Piece({}, np.empty(0))  # they are in the frame now
    outlines.clear()
    outline = RatingsTable(frame, pd.DataFrame(columns=list(STORY_COLUMNS)), tuple(noted(frame, facts)), scales)
    return Parts(outline, chain.from_iterable(pieces))


def _datasets(fact: RunFacts, imported: Sequence[Imported]) -> list[str]:
    # Imported ratings may hold several datasets.
    own = next((part.frame["dataset"] for part in imported if part.fact is fact), None)
    return [fact.dataset] if own is None else [str(name) for name in own.dropna().unique()]


def _said(fact: RunFacts, scales: Scales, imported: Sequence[Imported]) -> list[str]:
    names = {criterion.name.casefold() for criterion in fact.criteria}
    datasets = _datasets(fact, imported)
    return notes_of({key: scale for key, scale in scales.items() if key[0] in datasets and key[1] in names})


def _once(imported: Sequence[Imported], seen: set[str]) -> list[pd.DataFrame]:
    # `seen` are the datasets whose human ratings are already in the table.
    kept = []
    for part in imported:
        rater = part.frame["source"] == "rater"
        twice = rater & part.frame["dataset"].isin(seen)
        kept.append(part.frame[~twice] if twice.any() else part.frame)
        seen |= set(part.frame.loc[rater, "dataset"].astype(str))
    return kept
