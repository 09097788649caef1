"""A corpus of explanations with their metadata, from any source; `read_runs` reads those of runs. Rows without an
explanation are kept, so that missing ones can be counted. `explanation` is what remains after the parser has removed
the rating. All analyses use `text`: the explanation, or None where it is blank."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge.analysis.inputs.candidates import match
from judge.analysis.inputs.selection import is_named
from judge.answers.journal import JournalReader
from judge.asking.run_folder import ResultFolder, resolve
from judge.base.errors import SpecError, TemplateError
from judge.base.fingerprint import text_key
from judge.base.late_pattern import late
from judge.base.printing.tables import cells_of
from judge.base.records import Criterion, Judgment, names_in
from judge.inputs.prompt_file import split
from judge.ratings.rating_matrix import build
from judge.ratings.ratings_table import RatingsTable, RunFacts, read

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RunFacts


# Columns of the frame. The first eight and `side` are texts ("" = not known), `repeat` is Int64 (<NA> = not known),
# `rating` and `people`, the mean of people's ratings of the same story, are float (NaN = none); `answer`,
# `explanation`, `text` and `key` are None where there is none.
COLUMNS = (
    "run",
    "judge",
    "dataset",
    "story",
    "story_prompt",
    "system",
    "criterion",
    "eval_prompt",
    "repeat",
    "rating",
    "status",
    "flags",
    "answer",
    "explanation",
    "text",
    "key",
    "side",
    "people",
)

# The side of people, where people's explanations stand beside judges'; other sides are judges' names.
EXPERT = "expert"

_WORD = late(r"[a-z0-9]+")
_PERSON = {"me": "you", "i": "you", "my": "your", "we": "you", "us": "you"}

Pairs = frozenset[tuple[str, str]]


def plain_words(text: str) -> list[str]:
    """Words in lower case; grammatical person is ignored ("surprised me" equals "surprised you")."""
    return [_PERSON.get(word, word) for word in _WORD.findall(text.lower().replace("’", "").replace("'", ""))]


def word_pairs(text: str) -> Pairs:
    """All pairs of neighbouring words of `plain_words`."""
    return frozenset(pairwise(plain_words(text)))


STORY_COLUMNS = ("story_prompt", "system", "text", "reference")


@dataclass(frozen=True, slots=True, eq=False)
class ExplanationTexts:
    """Explanations, one per row, with their stories, criteria and sources.

    `frame` has `COLUMNS`, a row for each repeat of each query or each row of a file, and index 0, 1, 2... `stories` has
    `STORY_COLUMNS` by (dataset, story), None for an unknown text. `criteria` are those with a known definition; their
    guidelines may be empty. `facts` are empty for a file. `notes` are printed under every table. `silent` names
    Eval-Prompts that request no explanation, as far as known, `people_notes` say which criteria of people's were
    used."""

    frame: pd.DataFrame
    stories: pd.DataFrame
    criteria: tuple[Criterion, ...]
    facts: tuple[RunFacts, ...]
    notes: tuple[str, ...]
    silent: tuple[str, ...] = ()
    people_notes: tuple[str, ...] = ()

    @property
    def with_text(self) -> pd.DataFrame:
        """The explanations that are not blank, as rows that keep their index in `frame`."""
        return self.frame[self.frame["text"].notna()]


def cells_of_judgment(judgment: Judgment) -> dict[str, Any]:
    """Cells of a row from what the parser read of its answer."""
    return cells_of(judgment, "rating", "status", "explanation", flags=";".join(judgment.flags))


def frame_of(rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """Data frame with all `COLUMNS` from rows that may lack some; `text` and its hash `key` are from `explanation`."""
    frame = pd.DataFrame(list(rows), columns=[c for c in COLUMNS if c not in ("text", "key")])
    for column in COLUMNS[:8]:
        frame[column] = frame[column].astype(object).where(frame[column].notna(), "")
    for column in ("status", "flags", "side"):
        frame[column] = frame[column].astype(object).where(frame[column].notna(), "")
    for column in ("answer", "explanation"):
        frame[column] = frame[column].astype(object).where(frame[column].notna(), None)
    for column in ("rating", "people"):
        frame[column] = frame[column].astype("float64")
    frame["repeat"] = frame["repeat"].astype("Int64")
    texts = [text if isinstance(text, str) and text.strip() else None for text in frame["explanation"]]
    frame["text"] = pd.Series(texts, index=frame.index, dtype=object)
    frame["key"] = pd.Series([None if t is None else text_key(t) for t in texts], index=frame.index, dtype=object)
    return frame[list(COLUMNS)]


def stories_of(rows: Sequence[tuple[Any, ...]]) -> pd.DataFrame:
    """Data frame by (dataset, story) from tuples (dataset, story, story-prompt, system, text, reference); no
    duplicates."""
    frame = pd.DataFrame(list(rows), columns=["dataset", "story", *STORY_COLUMNS], dtype=object)
    frame = frame.where(frame.notna(), None)
    return frame.drop_duplicates(["dataset", "story"]).set_index(["dataset", "story"])


def narrowed(
    texts: ExplanationTexts,
    *,
    criteria: Sequence[str] = (),
    judges: Sequence[str] = (),
    eval_prompts: Sequence[str] = (),
) -> ExplanationTexts:
    """The explanations of the named criteria, judges and Eval-Prompts, without regard to case; no names keep all.
    Raises SpecError for a name that does not occur, and where no explanation is left."""
    frame = texts.frame
    wanted = pd.Series(data=True, index=frame.index)
    for column, names in (("criterion", criteria), ("judge", judges), ("eval_prompt", eval_prompts)):
        if names:
            wanted &= is_named(frame[column], names, column, frame.loc[frame[column] != "", column])
    if not wanted.any():
        raise SpecError(f"no explanation is at once {', '.join([*judges, *eval_prompts, *criteria])}")
    kept = frame[wanted].reset_index(drop=True)
    left = set(kept["criterion"])
    facts = texts.facts
    if judges:
        facts = tuple(f for f in facts if f.judge.casefold() in {name.casefold() for name in judges}) or facts
    return replace(texts, frame=kept, criteria=tuple(c for c in texts.criteria if c.name in left), facts=facts)


_Place = tuple[str, str, str, str, str, int]


@dataclass(slots=True)
class Beside:
    """What the ratings table lacks: whole answers, stories with references, and whether explanations were requested.
    `asks` maps (result folder, Eval-Prompt) to that; Eval-Prompts without a stored template are missing."""

    answers: dict[_Place, str] = field(default_factory=dict)
    stories: dict[tuple[str, str], tuple[Any, ...]] = field(default_factory=dict)
    asks: dict[tuple[Path, str], bool] = field(default_factory=dict)

    def read(self, journal: JournalReader, fact: RunFacts) -> None:
        """Add one journal's answers, stories and requests; `fact` says which run it is."""
        for story in journal.stories(ratings=False):
            story_key = (fact.dataset, story.id)
            self.stories.setdefault(
                story_key, (*story_key, story.story_prompt, story.system, story.text, story.reference)
            )
        for answer in journal.answers():
            if answer.response is not None:
                # An answer about several criteria is the whole answer of each.
                for name in names_in(answer.criterion):
                    key = (fact.run, fact.judge, answer.story, name, answer.eval_prompt, answer.repeat)
                    self.answers[key] = answer.response.text
        self.asks |= {(fact.path, name): asked for name, asked in asks_for_reasons(journal, fact).items()}


def read_runs(runs: Sequence[str | Path], parser: str = "ours") -> ExplanationTexts:
    """Explanations of several runs; each journal is read once, in one consistent snapshot. Raises SpecError where two
    result folders have the same run name and judge: their answers could not be distinguished."""
    beside = Beside()
    return _joined(read([folder.path for folder in resolve(runs)], parser, beside=beside.read), beside)


def of_table(table: RatingsTable) -> ExplanationTexts:
    """Explanations of the judges in a ratings table, which may be filtered, with raw answers from its journals."""
    beside = Beside()
    for fact in table.facts:
        folder = ResultFolder(fact.path)
        if folder.journal.is_file():
            with JournalReader(folder.journal) as journal, journal.snapshot():
                beside.read(journal, fact)
    return _joined(table, beside)


def _joined(table: RatingsTable, beside: Beside) -> ExplanationTexts:
    seen: dict[tuple[str, str], Path] = {}
    for fact in table.facts:
        other = seen.setdefault((fact.run, fact.judge), fact.path)
        if other != fact.path:
            raise SpecError(f"{other} and {fact.path} are both run {fact.run!r} by {fact.judge!r}: give one at a time")
    stories = dict(beside.stories)
    for stored in table.stories.reset_index().to_dict("records"):
        story_key = (str(stored["dataset"]), str(stored["story"]))
        text = stored["text"] if isinstance(stored["text"], str) else None
        stories.setdefault(story_key, (*story_key, stored["story_prompt"], stored["system"], text, None))
    rows: list[dict[str, Any]] = []
    judged = table.frame[table.frame["source"] == "judge"]
    for row in judged.to_dict("records"):
        asked = (row["run"], row["judge"], row["story"], row["criterion"], row["eval_prompt"], row["repeat"])
        # Of a table that was read earlier: what was answered since is in none of its rows.
        answer = None if row["status"] == "not_answered" else beside.answers.get(asked)
        rows.append({**{str(k): v for k, v in row.items()}, "answer": answer})
    criteria: dict[str, Criterion] = {}
    for fact in table.facts:
        for criterion in fact.criteria:
            criteria.setdefault(criterion.name, criterion)
    asking: dict[str, list[bool]] = {}
    for fact in table.facts:
        for name in fact.eval_prompts:
            asking.setdefault(name, []).append(beside.asks.get((fact.path, name), True))
    notes = table.notes
    frame = frame_of(rows)
    frame["people"], people_notes = people_means(table, frame)
    return ExplanationTexts(
        frame,
        stories_of(list(stories.values())),
        tuple(criteria.values()),
        table.facts,
        notes,
        tuple(name for name, stored in asking.items() if not any(stored)),
        tuple(people_notes),
    )


def people_means(table: RatingsTable, frame: pd.DataFrame) -> tuple[Any, list[str]]:
    """Mean rating by people for each row of `frame`, a judge's, with NaN where there is none, and notes on which of
    people's criteria stands for a judge's."""
    against: dict[tuple[str, str, str], str] = {}
    notes: list[str] = []
    raters = table.frame[table.frame["source"] == "rater"]
    if raters.empty:
        return np.full(len(frame), np.nan), notes
    for matrix in build(table):
        matching = match(matrix)
        notes += matching.notes
        for cell, position in zip(matrix.cells, matching.partner, strict=True):
            if position is not None:
                against[matrix.dataset, cell.run, cell.criterion] = matrix.criteria[position]
    means = raters.groupby(["dataset", "story", "criterion"], observed=True)["rating"].mean()
    asked = frame[["dataset", "run", "criterion"]].itertuples(index=False, name=None)
    theirs = [against.get((str(dataset), str(run), str(criterion))) for dataset, run, criterion in asked]
    places = pd.MultiIndex.from_arrays([frame["dataset"], frame["story"], pd.Series(theirs, dtype=object)])
    return means.reindex(places).to_numpy(dtype=np.float64), notes


def asks_for_reasons(journal: JournalReader, fact: RunFacts) -> dict[str, bool]:
    """Whether each Eval-Prompt of a result folder asks for an explanation; one without a stored template is missing."""
    sources = (journal.meta().get("definition") or {}).get("eval_prompt_sources") or {}
    return {name: _asks(name, sources[name]) for name in fact.eval_prompts if name in sources}


def _asks(name: str, source: str) -> bool:
    try:
        return split(source, Path(name)).front.explains
    except TemplateError:  # keys of another version of this program
        return True
