"""Reads all explanations of runs, one row each, with the variables by which a sample may be stratified."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judge.answers.journal import JournalReader
from judge.asking.run_folder import ResultFolder
from judge.base.errors import DataError, SpecError, unknown, unknown_value
from judge.base.records import Criterion, Scale
from judge.base.wording import Advice, Note
from judge.explanations.corpus.corpus import asks_for_reasons, people_means
from judge.explanations.mapping import stored_map
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets.files.source_file import read_json
from judge.ratings.ratings_table import RatingsTable, RunFacts, perturbed_names, read
from judge.stats import near_ties

# The level of a variable that is not known of a row.
NONE = "none"

_OF_ROWS = ("run", "judge", "dataset", "criterion", "eval_prompt", "system", "status")
# What a sample can be stratified by; ratings, clusters and gaps as bands, perturbations as stories' ids tell them. The
# last four are read out of the texts (`drawing`).
VARIABLES = (
    *_OF_ROWS, "rating", "cluster", "gap", "perturbation", "topic", "disagreement", "quotations", "wording",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Population:
    """Explanations that may be sampled: `frame` has the ratings table's columns for judges, `people`, `gap` and
    `cluster`. `people` is the mean human rating, `gap` the rating minus it. `left_out` counts rows that may not be
    sampled, by reason. `facts` is empty for explanations from a file. `notes` are printed under tables."""

    frame: pd.DataFrame
    left_out: Mapping[str, int]
    stories: pd.DataFrame
    criteria: Mapping[str, Criterion]
    facts: tuple[RunFacts, ...]
    notes: tuple[str, ...]
    silent: tuple[str, ...] = ()

    def only(self, eval_prompts: Sequence[str] = ()) -> Population:
        """The explanations by the named Eval-Prompts, without regard to case; without names those by the ones that ask
        for an explanation. Raises SpecError for a name that does not occur, and where none asks for one."""
        levels = {str(name).casefold(): str(name) for name in self.frame["eval_prompt"].unique() if name}
        for name in eval_prompts:
            if name.casefold() not in levels:
                raise unknown_value("eval_prompt", name, levels.values())
        if not eval_prompts:
            return self._asked()
        inside = self.frame["eval_prompt"].isin([levels[name.casefold()] for name in eval_prompts])
        return replace(self, frame=self.frame[inside].reset_index(drop=True))

    def _asked(self) -> Population:
        by = self.frame["eval_prompt"].isin(self.silent)
        if by.all():
            raise none_asked(self.silent)
        if not by.any():
            return self
        names = ", ".join(name for name in self.silent if (self.frame["eval_prompt"] == name).any())
        left_out = {**self.left_out, f"by {names}, which asked for no explanation": int(by.sum())}
        return replace(self, frame=self.frame[~by].reset_index(drop=True), left_out=left_out)

    def level(self, variable: str) -> pd.Series[Any]:
        """A variable's values as text; `NONE` if unknown. Ratings are rounded to a point, gaps are in three bands."""
        if variable not in VARIABLES:
            raise SpecError(unknown("variable", variable, VARIABLES))
        if variable == "rating":
            return _text(self.frame["rating"].round())
        if variable == "gap":
            return self._gap_bands()
        if variable != "perturbation":
            return _text(self.frame[variable])
        groups = self.frame.groupby("dataset", observed=True)["story"]
        named = {dataset: perturbed_names(stories.unique()) for dataset, stories in groups}
        done = {(dataset, story): name.done for dataset, names in named.items() for story, name in names.items()}
        places = zip(self.frame["dataset"], self.frame["story"].astype(str), strict=True)
        return pd.Series([done.get(key, NONE) for key in places], index=self.frame.index, dtype=str)

    def _gap_bands(self) -> pd.Series[Any]:
        scales = {name: criterion.scale for name, criterion in self.criteria.items()}
        names = self.frame["criterion"].astype(str)
        # "near" people: closer than a quarter of the scale's range.
        quarter = names.map(lambda name: (scales.get(name, Scale()).max - scales.get(name, Scale()).min) / 4)
        gap = self.frame["gap"].to_numpy(dtype=np.float64)
        limit = quarter.to_numpy(dtype=np.float64)
        # People's means carry noise of 1e-16, and a gap of just the limit is no rare one.
        limit = limit - near_ties.SAME
        bands = np.select([np.isnan(gap), gap <= -limit, gap >= limit], [NONE, "below people", "above people"], "near")
        return pd.Series(bands, index=self.frame.index)


def none_asked(silent: Sequence[str]) -> SpecError:
    """The error of runs none of whose Eval-Prompts asks for an explanation."""
    names = ", ".join(silent)
    several = len(silent) > 1
    return SpecError(
        f"Eval-Prompt{'s' * several} {names} ask{'s' * (not several)} for no explanation: there is nothing to audit",
        hint=Advice(
            "add ep2 (rating and explanation) to eval_prompts in run.yaml and run judge run RUN again; where a prompt "
            "of your own asks in its text, {eval_prompt} takes its answers",
            eval_prompt=silent[0],
        ),
    )


def read_runs(runs: Sequence[Path | str], parser: str = "ours", *, first_repeat: bool = False) -> Population:
    """All explanations of runs as a population; each journal is read once. Raises SpecError if there is none."""
    references: dict[tuple[str, str], str] = {}
    asks: dict[str, list[bool]] = {}

    def beside(journal: JournalReader, fact: RunFacts) -> None:
        texts = ((story.id, story.reference) for story in journal.stories(ratings=False))
        references.update({(fact.dataset, name): text for name, text in texts if text is not None})
        for name, asked in asks_for_reasons(journal, fact).items():
            asks.setdefault(name, []).append(asked)

    table = read(runs, parser, beside=beside, perturbed=True)
    silent = tuple(name for name, asked in asks.items() if not any(asked))
    return _population(table, references, silent, first_repeat=first_repeat)


def _population(
    table: RatingsTable, references: Mapping[tuple[str, str], str], silent: tuple[str, ...], *, first_repeat: bool
) -> Population:
    judged = table.frame[table.frame["source"] == "judge"]
    left_out: dict[str, int] = {}
    if first_repeat:
        cell = ["run", "judge", "dataset", "story", "criterion", "eval_prompt"]
        first = judged["repeat"].isna() | (judged["repeat"] == judged.groupby(cell)["repeat"].transform("min"))
        left_out["later repeats"] = int((~first).sum())
        judged = judged[first.to_numpy(dtype=bool)]
    # One text at a time: a column of cleaned copies would double the memory.
    has = np.fromiter((isinstance(t, str) and bool(t.strip()) for t in judged["explanation"]), bool, len(judged))
    without = judged.loc[~has, "status"]
    for status, count in without.value_counts().items():
        left_out[f"no explanation, status {status}"] = int(count)
    frame = judged[has].drop(columns=["source", "rater"]).reset_index(drop=True)
    if frame.empty:
        named = {str(name) for name in judged["eval_prompt"].unique()}
        if named and named <= set(silent):
            raise none_asked(silent)
        raise SpecError(
            "none of the answers has an explanation",
            hint="Eval-Prompts ep2 to ep5 ask for one; judge coverage RUN says what was answered",
        )
    frame["people"], beside = people_means(table, frame)
    frame["gap"] = frame["rating"] - frame["people"]
    clusters, notes = _clusters(table.facts, frame)
    frame["cluster"] = clusters
    criteria = {criterion.name: criterion for fact in table.facts for criterion in fact.criteria}
    notes = [*table.notes, *beside, *notes]
    story_references = pd.Series(
        [references.get(cell) for cell in table.stories.index], table.stories.index, dtype=object
    )
    stories = table.stories.assign(reference=story_references)
    return Population(frame, left_out, stories, criteria, table.facts, tuple(dict.fromkeys(notes)), silent)


def _clusters(facts: Sequence[RunFacts], frame: pd.DataFrame) -> tuple[list[str | None], list[str]]:
    """Each row's cluster on its result folder's map (None: it has none), and notes on the maps."""
    keys = ["run", "judge", "story", "criterion", "eval_prompt", "repeat"]
    names: dict[tuple[Any, ...], str] = {}
    notes = []
    for fact in facts:
        kept = stored_map.read(ResultFolder(Path(fact.path)))
        if kept is not None:
            notes.append(f"clusters of {fact.judge}: {kept.signature}")
            for point in kept.points:
                if point.get("cluster") is not None:
                    name = "noise" if point["cluster"] == -1 else str(point["cluster"])
                    names[(fact.run, *(point[key] for key in keys[1:]))] = name
    if not names:
        return [None] * len(frame), []
    rows = frame[keys].itertuples(index=False, name=None)
    return [names.get((*row[:5], None if pd.isna(row[5]) else int(row[5]))) for row in rows], notes


def _text(column: pd.Series[Any]) -> pd.Series[Any]:
    number = pd.api.types.is_numeric_dtype(column)
    text = column.map(lambda v: NONE if pd.isna(v) else f"{v:g}" if number else str(v))
    return text.astype(str).replace("", NONE)


# Reads the explanations to sample from a file: the JSON of the layout stories of `judge diagnose`, written with its
# option `long`, or a table. Which column holds what is never guessed.

_PLACE = ["run", "judge", "dataset", "story", "criterion", "eval_prompt", "repeat", "explanation"]


def read_population(
    path: Path,
    *,
    columns: Mapping[str, str] | None = None,
    criteria: str | None = None,
    first_repeat: bool = False,
) -> Population:
    """The explanations in a file: a table, or the JSON that `judge diagnose` writes with layout stories and `long`.

    A table has the columns `text`, `criterion` and `story`, and optional ones (`story_text, story_prompt, reference,
    judge...`); `columns` maps these names to the table's. `criteria` names the set with definitions and guidelines.
    Raises DataError for an invalid file, SpecError for a criterion that is not in the set.
    """
    if path.suffix.lower() == ".json" and not columns:
        frame, stories, notes = _disagreements(path)
    else:
        frame, stories, notes = _table(path, columns)
    by_name = {c.name: c for c in load_criteria(criteria).criteria} if criteria else {}
    strange = sorted({str(name) for name in frame["criterion"] if name} - set(by_name)) if criteria else []
    if strange:
        raise SpecError(f"{path}: criterion {strange[0]!r} is not in the set {criteria!r} ({', '.join(by_name)})")
    if not criteria and frame["criterion"].any():
        gives = Advice("{criteria} gives them", criteria="SET")
        notes.append(Note("definitions and guidelines of criteria are not in the file", gives, joint=": "))
    left_out: dict[str, int] = {}
    if first_repeat:
        first = frame["repeat"].isna() | (frame["repeat"] == 0)
        left_out["later repeats"] = int((~first).sum())
        frame = frame[first.to_numpy(dtype=bool)]
    has = np.array([isinstance(text, str) and bool(text.strip()) for text in frame["explanation"]], dtype=bool)
    left_out["no explanation"] = int((~has).sum())
    frame = frame[has]
    twice = frame.duplicated(_PLACE)
    left_out["a row like one before"] = int(twice.sum())
    frame = frame[~twice].reset_index(drop=True)
    if frame.empty:
        raise DataError("none of the rows has an explanation", file=path)
    by_name = by_name or {n: Criterion(n, n[:8], "") for n in map(str, frame["criterion"].unique()) if n}
    return Population(frame, left_out, stories, by_name, (), tuple(notes))


def _table(path: Path, columns: Mapping[str, str] | None) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    from judge.explanations.corpus.reading import read_texts

    texts = read_texts(path, columns=columns)
    frame = texts.frame.copy()
    frame["explanation"] = frame["text"]
    frame["people"], frame["gap"], frame["cluster"] = np.nan, np.nan, None
    return frame, texts.stories, [f"explanations are those of {path.name}", *texts.notes]


def _disagreements(path: Path) -> tuple[pd.DataFrame, pd.DataFrame, list[str]]:
    content = read_json(path)
    tables = content if isinstance(content, list) else [content]
    table = next((candidate for candidate in tables if _is_list(candidate)), None)
    if table is None:
        raise DataError(
            "is not a list of disagreements",
            file=path,
            hint=Advice(
                "judge diagnose --layout stories RUN {long} {format} -o FILE writes one", long=True, format="json"
            ),
        )
    rows, stories = [], {}
    for listed in table["rows"]:
        key = (str(listed["dataset"]), str(listed["story"]))
        stories[key] = (*key, listed["story_prompt"], listed["system"], listed["text"] or None, None)
        people = None if listed["people"] is None else listed["people"]["mean"]
        rows += [_said(listed, side, repeat, people) for side in listed["sides"] for repeat in side["repeats"]]
    names = ["dataset", "story", "story_prompt", "system", "text", "reference"]
    story_table = pd.DataFrame(list(stories.values()), columns=names, dtype=object).set_index(["dataset", "story"])
    frame = pd.DataFrame(rows)
    frame["repeat"] = frame["repeat"].astype("Int64")
    for name in ("rating", "people"):
        frame[name] = frame[name].astype("float64")
    frame["gap"] = frame["rating"] - frame["people"]
    notes = [
        f"explanations are those of {path.name}, where ratings differ most: rates say nothing of other stories",
        f"disagreements: {table['signature']}",
    ]
    return frame, story_table, notes


def _is_list(table: Any) -> bool:
    return isinstance(table, Mapping) and bool(table.get("rows")) and all("sides" in row for row in table["rows"])


def _said(listed: Mapping[str, Any], side: Mapping[str, Any], repeat: Mapping[str, Any], people: Any) -> dict[str, Any]:
    """One row, from a story and criterion (`listed`), a judge's `side`, one `repeat`, and the mean human rating."""
    cell = {key: listed[key] for key in ("dataset", "story", "story_prompt", "system", "criterion")}
    asked = {key: side[key] for key in ("run", "judge", "eval_prompt")}
    given = {key: repeat[key] for key in ("repeat", "rating", "status", "flags", "explanation")}
    return {**cell, **asked, **given, "people": people, "cluster": None}
