"""Builds the data frame of a ratings table from columns of integer codes and numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from judge.backends.trained.model import marks_of
from judge.base.errors import DataError, RunFolderError
from judge.base.records import Criterion, Scale
from judge.base.wording import Advice, Note

# The ratings table as a data type: its columns, its stories, and facts about each result folder.

# Columns of the table, in order. `rating` is null where there is none; `rater` is null where identity is unknown.
COLUMNS = (
    "run",
    "judge",
    "dataset",
    "story",
    "story_prompt",
    "system",
    "criterion",
    "eval_prompt",
    "source",
    "rater",
    "repeat",
    "rating",
    "status",
    "flags",
    "explanation",
)

# Column behind `rating`, of tables in which some criterion has labels: the label whose code the rating is.
LABEL = "label"

# Column behind `rater`, of tables in which some person belongs to a panel; null for judges.
PANEL = "panel"

# Columns of the table of stories; every further column is a numeric feature of the story that came with an import.
STORY_COLUMNS = ("story_prompt", "system", "words", "text")


class StoryRow(NamedTuple):
    """A row of the table of stories, by `dataset` and `story`; `words` is the text's number of words."""

    dataset: str
    story: str
    story_prompt: str
    system: str
    words: int
    text: str


@dataclass(frozen=True, slots=True)
class RunFacts:
    """Facts about one result folder, for a table's notes and signature. None = not known.

    `repeats` per query are 0 where not known, and `parser` is the version that read the answers.
    `control`: the judge is no language model. `structured`: how answers were constrained, such as none, choice or json.
    `labels_note`: the dataset's remark on reference labels that no person gave.
    `single`, for imported ratings: True for single ones, False for means of repeats, None if the import did not say.
    `not_in_force` marks settings that were refused or ignored, or whose effect is unknown; "" without any.
    `people`: judge's criterion -> human criterion with which the run compares it.
    `joint`: the Eval-Prompts that rate several criteria in one answer.
    `given`: variable held fixed by default in correlations with these ratings: length, for automatic measures.
    `directions` of automatic measures, by judge: 1 = higher is better, -1 = lower is better, 0 = neither.
    `unasked`: planned repeats that have not been requested yet."""

    run: str
    judge: str
    dataset: str
    revision: str | None
    repeats: int
    criteria: tuple[Criterion, ...]
    eval_prompts: tuple[str, ...]
    parser: str
    notes: tuple[str, ...]
    control: bool
    path: Path
    structured: str | None = None
    labels_note: str | None = None
    single: bool | None = None
    not_in_force: str = ""
    people: Mapping[str, str] = field(default_factory=dict)
    joint: tuple[str, ...] = ()
    given: str | None = None
    directions: Mapping[str, int] = field(default_factory=dict)
    unasked: int = 0


@dataclass(frozen=True, slots=True)
class RatingsTable:
    """Ratings of judges and people, with the stories, the facts of each result folder and the scales with labels.

    `frame` has a row per rating, with `COLUMNS`, `PANEL` where some rater has one, and `LABEL` where a criterion has
    labels. `stories`, by (dataset, story), has `STORY_COLUMNS` and possibly features. `labels` are scales, by (dataset,
    criterion in small letters). `panel` is the one to which human ratings were restricted; None for all people."""

    frame: pd.DataFrame
    stories: pd.DataFrame
    facts: tuple[RunFacts, ...]
    labels: Mapping[tuple[str, str], Scale] = field(default_factory=dict)
    panel: str | None = None

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on the result folders, each once."""
        return tuple(dict.fromkeys(note for fact in self.facts for note in fact.notes))


# Removes stories that a trained judge saw in training from that judge's ratings, with a note.


def marks(manifest: Mapping[str, Any]) -> frozenset[str]:
    """Short hashes of the stories and story-prompts that the judge was trained on."""
    server = manifest.get("in_force", {}).get("server") or {}
    return frozenset(str(server.get("trained_on") or "").split())


def trained_on(manifest: Mapping[str, Any], stories: Mapping[str, StoryRow], folder: Path) -> frozenset[str]:
    """Stories that the judge was trained on, or whose story-prompts were, by the manifest's short hashes. Raises
    RunFolderError where no story is left."""
    trained = marks(manifest)
    if not trained:
        return frozenset()
    gone = frozenset(
        row.story for row in stories.values() if any(mark in trained for mark in marks_of(row.story_prompt, row.text))
    )
    if gone and len(gone) == len(stories):
        raise RunFolderError(
            f"{folder}: {manifest.get('judge')} was trained on the story-prompts of all {len(stories)} stories, and "
            "nothing is left to say about it",
            hint="let it judge other stories; its card.json has its accuracy out of fold",
        )
    return gone


def about(judge: str, gone: frozenset[str], stories: Mapping[str, StoryRow]) -> list[str]:
    """A note on how many stories were left out because the judge was trained on their story-prompts."""
    if not gone:
        return []
    where = f"{judge} was trained on the story-prompts of {len(gone)} of these {len(stories)} stories"
    return [f"{where}: its rows about these are left out"]


# Panels (groups of raters, such as experts) in a ratings table: their names, and a note where panels are pooled.


def panels_in(frame: pd.DataFrame) -> tuple[str, ...]:
    """Sorted names of the raters' panels."""
    return tuple(sorted(str(name) for name in frame[PANEL].dropna().unique())) if PANEL in frame.columns else ()


def noted(frame: pd.DataFrame, facts: Sequence[RunFacts]) -> list[RunFacts]:
    """The facts, with a note that panels are pooled if the frame has any."""
    panel_names = panels_in(frame)
    return (
        [replace(fact, notes=(*fact.notes, pooled_note(panel_names))) for fact in facts] if panel_names else list(facts)
    )


def pooled_note(panels: Sequence[str]) -> str:
    """Note under every table that pools the ratings of several panels."""
    many = f"people of {len(panels)} panels" if len(panels) > 1 else "people of one panel"
    sentence = f"{many} ({', '.join(panels)}) are taken together with whoever has none"
    return Note(sentence, Advice("{panel} takes one alone, judge panels sets them side by side", panel=panels[0]))


Codes = NDArray[np.integer[Any]]
Names = Sequence[str | None]

NUMBERS = ("repeat", "rating")
TEXT = "explanation"
NAMED = tuple(name for name in COLUMNS if name not in (*NUMBERS, TEXT))


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """The ratings of one journal, or a dataset's human ones. `named` has, for each column of names, (codes, names) or
    the one value of all rows; `PANEL` only where some rater has one. `rating` is NaN where there is none; `repeat` is
    None for people, `explanations` where there are none or they were not read."""

    named: Mapping[str, tuple[Codes, Names] | str | None]
    rating: NDArray[np.float64]
    repeat: NDArray[np.int64] | None = None
    explanations: NDArray[np.object_] | None = None


# Whether explanations are read; "given": only whether there is one.
Explanations = bool | Literal["given"]


def frame_of(pieces: Sequence[Piece], *, explanations: Explanations) -> pd.DataFrame:
    """One frame of all pieces. Unless `explanations` is True, names are categorical, sorted, so that sorting and
    grouping give the order of text, and explanations are null or, where a piece has one, ""."""
    count = sum(piece.rating.size for piece in pieces)
    columns: dict[str, Any] = {}
    panelled = any(PANEL in piece.named for piece in pieces)
    for name in (*NAMED, PANEL) if panelled else NAMED:
        codes, names = _together([(piece.named.get(name), piece.rating.size) for piece in pieces])
        columns[name] = _texts(codes, names) if explanations is True else categories(codes, names)
    columns["rating"] = np.concatenate([np.empty(0), *(piece.rating for piece in pieces)])
    columns["repeat"] = _repeats(pieces, count)
    columns[TEXT] = _explanations(pieces) if explanations is True else _given(pieces)
    return pd.DataFrame({name: columns[name] for name in ordered(columns)}, copy=False)


def outline_of(fact: RunFacts) -> Piece:
    """One row without a rating for each criterion and Eval-Prompt of a run."""
    criteria, prompts = len(fact.criteria), len(fact.eval_prompts)
    named: dict[str, tuple[Codes, Names] | str | None] = {
        "run": fact.run,
        "judge": fact.judge,
        "dataset": fact.dataset,
        "criterion": (np.repeat(np.arange(criteria), prompts), [criterion.name for criterion in fact.criteria]),
        "eval_prompt": (np.tile(np.arange(prompts), criteria), fact.eval_prompts),
        "source": "judge",
    }
    return Piece(named, np.full(criteria * prompts, np.nan))


def stacked(frames: Sequence[pd.DataFrame]) -> pd.DataFrame:
    """The rows of all frames; empty ones are left out, and a single one keeps its categorical columns."""
    filled = [frame for frame in frames if len(frame)] or frames[:1]
    return filled[0] if len(filled) == 1 else pd.concat(filled, ignore_index=True)


def ordered(present: Iterable[str]) -> list[str]:
    """The columns of a ratings table: `COLUMNS`, with `PANEL` after `rater` and `LABEL` after `rating` if `present`."""
    present, names = set(present), []
    for name in COLUMNS:
        names.append(name)
        more = {"rater": PANEL, "rating": LABEL}.get(name)
        names += [more] if more in present else []
    return names


def without_empty(frame: pd.DataFrame) -> pd.DataFrame:
    """The table without the column of panels if no row has one."""
    if PANEL in frame.columns and not bool(frame[PANEL].notna().any()):
        return frame.drop(columns=PANEL)
    return frame


def categories(codes: Codes, names: Sequence[str]) -> pd.Categorical[Any]:
    """Categorical column of codes, indices into `names`; -1 = null."""
    return pd.Categorical.from_codes(codes, dtype=pd.CategoricalDtype(pd.Index(names, dtype=object)))


def width(levels: int) -> np.dtype[Any]:
    """Smallest integer type that holds the codes of `levels` categories, and -1 for null."""
    return np.dtype(np.int8 if levels < 127 else np.int16 if levels < 32_767 else np.int32)


def _together(parts: Sequence[tuple[tuple[Codes, Names] | str | None, int]]) -> tuple[Codes, list[str]]:
    # Each part is its column, (codes, names) or the one value of all rows, and its number of rows.
    coded: list[tuple[Codes, Names]] = []
    used: list[NDArray[np.intp]] = []
    for column, size in parts:
        codes, names = column if isinstance(column, tuple) else (np.zeros(size, dtype=np.int8), [column])
        coded.append((codes, names))
        used.append(np.flatnonzero(np.bincount(codes, minlength=len(names))))
    levels_used = {names[n] for (_, names), some in zip(coded, used, strict=True) for n in some}
    levels = sorted(name for name in levels_used if name is not None)
    number = {name: n for n, name in enumerate(levels)}
    whole = np.empty(sum(codes.size for codes, _ in coded), dtype=width(len(levels)))
    done = 0
    for (codes, names), some in zip(coded, used, strict=True):
        places = np.full(max(1, len(names)), -1, dtype=whole.dtype)
        places[some] = [-1 if (name := names[n]) is None else number[name] for n in some]
        whole[done : done + codes.size] = places[codes]
        done += codes.size
    return whole, levels


def _texts(codes: Codes, names: Sequence[str]) -> pd.Series[Any]:
    # None for code -1.
    return pd.Series(np.array([*names, None], dtype=object)[codes])


def _repeats(pieces: Sequence[Piece], count: int) -> pd.arrays.IntegerArray:
    numbers, missing = np.ones(count, dtype=np.int64), np.ones(count, dtype=np.bool_)
    done = 0
    for piece in pieces:
        if piece.repeat is not None:
            numbers[done : done + piece.rating.size] = piece.repeat
            missing[done : done + piece.rating.size] = False
        done += piece.rating.size
    return pd.arrays.IntegerArray(numbers, missing)


def _explanations(pieces: Sequence[Piece]) -> pd.Series[Any]:
    blank = (np.full(p.rating.size, None, dtype=object) if p.explanations is None else p.explanations for p in pieces)
    return pd.Series(np.concatenate([np.empty(0, dtype=object), *blank]))


def _given(pieces: Sequence[Piece]) -> pd.Categorical[Any]:
    lacking = (np.True_ if piece.explanations is None else pd.isna(piece.explanations) for piece in pieces)
    parts = (np.zeros(p.rating.size, dtype=np.int8) - lacks for p, lacks in zip(pieces, lacking, strict=True))
    codes = np.concatenate([np.empty(0, dtype=np.int8), *parts])
    return categories(codes, [""] if (codes == 0).any() else [])


# The column `label` of a ratings table: the label that each rating is the code of.

# (dataset, criterion in small letters) -> its scale.
Scales = Mapping[tuple[str, str], Scale]


def scales_of(facts: Iterable[tuple[RunFacts, Iterable[str]]]) -> Scales:
    """Scales with labels, by (dataset, criterion in small letters). Raises RunFolderError for other labels, or none, in
    another folder: codes would have two meanings."""
    scales: dict[tuple[str, str], tuple[Scale, RunFacts]] = {}
    for fact, datasets in facts:
        for dataset in datasets:
            for criterion in fact.criteria:
                scale, first = scales.setdefault((dataset, criterion.name.casefold()), (criterion.scale, fact))
                if scale.labels != criterion.scale.labels:
                    raise RunFolderError(
                        f"{criterion.name} of dataset {dataset!r} is rated {_words(scale)} in {first.path} and "
                        f"{_words(criterion.scale)} in {fact.path}",
                        hint="make one table for each",
                    )
    return {key: scale for key, (scale, _) in scales.items() if scale.labels}


def with_labels(frame: pd.DataFrame, scales: Scales, *, explanations: bool) -> pd.DataFrame:
    """The frame with the column `label`, if a scale has labels; human ratings only if all are codes, because people may
    have used another scale. Categorical without `explanations`."""
    if not scales:
        return frame
    words = sorted({label for scale in scales.values() for label in scale.labels})
    number = {word: n for n, word in enumerate(words)}
    codes = np.full(len(frame), -1, dtype=width(len(words)))
    rating, people = frame["rating"].to_numpy(dtype=np.float64), (frame["source"] == "rater").to_numpy()
    for scale, rows in _rows(frame, scales):
        of_scale = np.array([number[label] for label in scale.labels], dtype=codes.dtype)
        for side in (rows[people[rows]], rows[~people[rows]]):
            is_code = _codes(rating[side], scale)
            rated = ~np.isnan(rating[side])
            if not people[side].any() or bool(is_code[rated].all()):
                codes[side[is_code]] = of_scale[rating[side[is_code]].astype(np.int64)]
    column = np.array([*words, None], dtype=object)[codes] if explanations else categories(codes, words)
    labelled = frame.drop(columns=LABEL, errors="ignore").assign(**{LABEL: column})
    return labelled[ordered(labelled.columns)]


def coded(frame: pd.DataFrame, criteria: Sequence[Criterion], file: object) -> pd.DataFrame:
    """Imported rows with labels as codes in `rating`; `with_labels` restores them. Raises DataError for an unknown
    label, and one that contradicts its row's rating."""
    if LABEL not in frame.columns:
        return frame
    rating = frame["rating"].to_numpy(dtype=np.float64, copy=True)
    scales = {criterion.name.casefold(): criterion.scale for criterion in criteria if criterion.scale.labels}
    given = frame[LABEL].notna().to_numpy()
    folded = frame["criterion"].astype(str).str.casefold()
    label = frame[LABEL]
    for name in folded[given].unique():
        own = given & (folded == name).to_numpy()
        scale = scales.get(name)
        if scale is None:
            refuse(own, label, file, "a label of a criterion that has none in manifest.json", column=LABEL)
            continue
        code_of_word = {word: scale.code_of(str(word)) for word in label[own].unique()}
        code = label.map(code_of_word).to_numpy(dtype=np.float64, na_value=np.nan)
        differs = own & ~np.isnan(rating) & (rating != code)
        refuse(own & np.isnan(code), label, file, "no label of this criterion", scale.code_words, LABEL)
        refuse(differs, label, file, "not the label of the rating beside it", scale.code_words, LABEL)
        rated = frame["status"].isin(("ok", "imported")).to_numpy()
        refuse(own & ~rated, label, file, "a label stands beside a status that says there is none", column=LABEL)
        rating[own] = code[own]
    return frame.drop(columns=LABEL).assign(rating=rating)


def notes_of(scales: Scales) -> list[str]:
    """Notes on which label each code stands for, one for each scale."""
    sets: dict[Scale, None] = dict.fromkeys(scales.values())
    return [f"a rating is the code of its label: {scale.code_words}" for scale in sets]


def with_scales(table: RatingsTable, scales: Scales) -> RatingsTable:
    """The table with only these scales, without the notes on others; for a part that needs fewer."""
    gone = set(notes_of(table.labels)) - set(notes_of(scales))
    facts = (replace(fact, notes=tuple(note for note in fact.notes if note not in gone)) for fact in table.facts)
    return replace(table, labels=scales, facts=tuple(facts)) if scales != table.labels else table


def _rows(frame: pd.DataFrame, scales: Scales) -> Iterator[tuple[Scale, NDArray[np.intp]]]:
    dataset, datasets = pd.factorize(frame["dataset"])
    criterion, criteria = pd.factorize(frame["criterion"])
    for (name, folded), scale in scales.items():
        which = [c for c, level in enumerate(criteria) if str(level).casefold() == folded]
        datasets_of_scale = [d for d, level in enumerate(datasets) if str(level) == name]
        yield scale, np.flatnonzero(np.isin(dataset, datasets_of_scale) & np.isin(criterion, which))


def _codes(rating: NDArray[np.float64], scale: Scale) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        return np.asarray((rating >= scale.min) & (rating <= scale.max) & (rating == np.round(rating)), dtype=np.bool_)


def _words(scale: Scale) -> str:
    return f"by labels ({', '.join(scale.labels)})" if scale.labels else f"{scale.min:g} to {scale.max:g}"


def refuse(
    wrong: NDArray[np.bool_],
    values: pd.Series[Any],
    file: object,
    message: str,
    allowed: str | None = None,
    column: str | None = None,
) -> None:
    """Raise DataError, with the value found, for the first row of an imported table that is `wrong`."""
    if wrong.any():
        row = int(wrong.argmax())
        raise DataError(message, file=file, row=row + 2, column=column, found=values.iloc[row], allowed=allowed)
