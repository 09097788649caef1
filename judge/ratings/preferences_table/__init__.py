"""The preferences table: a row for each repeat of a judge's comparison, for each by a person, and for preferences
implied by mean ratings, of judges and people."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from judge.answers.journal import JournalReader
from judge.asking.run_folder import ResultFolder, resolve
from judge.asking.run_folder.layout import compares
from judge.base.records import Pair, Story
from judge.inputs.datasets import Dataset
from judge.ratings import ratings_table
from judge.ratings.preferences_table.journaled import (
    COLUMNS,
    ComparisonFacts,
    Known,
    PreferencesTable,
    Source,
    frame_of,
    implied,
    pairs_within,
    people_rows,
    read_imported,
    read_journal,
    shown,
    typed,
)
from judge.ratings.ratings_table import RatingsTable, RunFacts
from judge.ratings.ratings_table.columns import StoryRow, stacked

__all__ = ["COLUMNS", "ComparisonFacts", "PreferencesTable", "Source"]


# Counts planned repeats of comparisons that are neither answered nor given up after failed attempts.


def unasked(facts: Sequence[ComparisonFacts]) -> int:
    """Planned repeats of comparisons, neither answered nor given up, over all result folders."""
    left = 0
    for fact in facts:
        with JournalReader(ResultFolder(fact.path).journal) as journal:
            planned = journal.subject_count() * len(fact.criteria) * len(fact.eval_prompts) * fact.repeats
            left += max(0, planned - journal.settled_total())
    return left


# The preferences table of a dataset alone: people's preferences, and those implied by their ratings.

_PAIRS = ("dataset", "pair", "story_prompt", "first", "second", "first_system", "second_system")
_RATED = ("run", "judge", "dataset", "story", "criterion", "eval_prompt", "source", "rating")


def of_dataset(dataset: Dataset) -> PreferencesTable:
    """People's preferences, and those implied by mean ratings on the pairs they compared or, without any, all within a
    story-prompt. A pair with an unknown story is left out, because its text is not available."""
    stories_by_id = {story.id: story for story in dataset.stories()}
    rows = [(dataset.name, s.id, s.story_prompt, s.system, len(s.text.split()), s.text) for s in stories_by_id.values()]
    stories = pd.DataFrame(rows, columns=StoryRow._fields).set_index(["dataset", "story"])
    preferred = _preferred(dataset, stories_by_id)
    pairs = preferred[list(_PAIRS)].drop_duplicates("pair") if len(preferred) else pairs_within(stories)
    rated_rows = [
        (None, None, dataset.name, s.id, rating.criterion, None, "rater", rating.value)
        for s in stories_by_id.values()
        for rating in s.ratings
    ]
    means = implied(pd.DataFrame(rated_rows, columns=list(_RATED)), pairs)
    return PreferencesTable(stacked([preferred, means]), stories, ())


def _preferred(dataset: Dataset, stories: dict[str, Story]) -> pd.DataFrame:
    rows = []
    for pair in dataset.pairs() if dataset.pairs is not None else ():
        if pair.first not in stories or pair.second not in stories:
            continue
        shown = (dataset.name, pair.id, pair.story_prompt, pair.first, pair.second)
        about = dict(zip(_PAIRS, (*shown, stories[pair.first].system, stories[pair.second].system), strict=True))
        for preference in pair.preferences:
            own = {"criterion": preference.criterion, "preference": preference.value, "rater": preference.rater}
            rows.append({**about, **own, "source": "rater", "status": "ok", "flags": ""})
    return pd.DataFrame(rows).reindex(columns=list(COLUMNS))


def read(runs: Sequence[Path | str]) -> PreferencesTable:
    """The preferences table of runs with comparisons or ratings. People's come once per dataset. Ratings imply
    preferences on pairs that a run or people compared, else all within a story-prompt. Raises RunFolderError without
    results, and for one dataset's name with different stories."""
    datasets: dict[str, Known] = {}
    rows: list[dict[str, Any]] = []
    facts: list[ComparisonFacts] = []
    rating: list[ResultFolder] = []
    for folder in resolve(runs):
        if compares(folder):
            folder_rows, fact = (read_journal if folder.journal.is_file() else read_imported)(folder, datasets)
            rows += folder_rows
            facts.append(fact)
        else:
            rating.append(folder)
    rated = _rated(rating, datasets)
    for name, dataset in datasets.items():
        rows += people_rows(name, dataset)
    stories = _stories(datasets, rated)
    frame = stacked([frame_of(rows), typed(implied(_ratings(datasets, rated), _pairs(datasets, stories)))])
    facts += [] if rated is None else map(_fact, rated.facts)
    return PreferencesTable(frame, stories, tuple(facts))


def _rated(folders: Sequence[ResultFolder], datasets: dict[str, Known]) -> RatingsTable | None:
    if not folders:
        return None
    preferred: dict[str, list[Pair]] = {}

    def beside(journal: JournalReader, fact: RunFacts) -> None:
        preferred.setdefault(fact.dataset, journal.preferences())

    table = ratings_table.read([folder.path for folder in folders], explanations=False, beside=beside)
    for fact in table.facts:
        if fact.dataset not in datasets:
            own = table.stories.loc[[fact.dataset]] if fact.dataset in table.stories.index else table.stories.head(0)
            rows = own.reset_index()[list(StoryRow._fields)].to_numpy(dtype=object).tolist()
            stories = {str(row[1]): StoryRow(*row) for row in rows}
            # People's ratings come with the table of ratings.
            datasets[fact.dataset] = Known("", fact.run, stories, [], preferred.get(fact.dataset, []))
    return table


def _stories(datasets: dict[str, Known], rated: RatingsTable | None) -> pd.DataFrame:
    rows = [row for dataset in datasets.values() for row in dataset.stories.values()]
    frame = pd.DataFrame(rows, columns=StoryRow._fields).set_index(["dataset", "story"])
    if rated is not None:
        frame = pd.concat([frame, rated.stories])
        frame = frame[~frame.index.duplicated()]
    return frame


def _ratings(datasets: dict[str, Known], rated: RatingsTable | None) -> pd.DataFrame:
    # People's ratings of a dataset appear once, however many runs use the dataset.
    rated_rows = [
        (dataset.run, None, name, story, criterion, None, "rater", value)
        for name, dataset in datasets.items()
        for story, criterion, value in dataset.ratings
    ]
    people = pd.DataFrame(rated_rows, columns=list(_RATED))
    if rated is None:
        return people
    frame = rated.frame[list(_RATED)].astype({name: object for name in _RATED if name != "rating"})
    numbers = {criterion_key for criterion_key, scale in rated.labels.items() if not scale.numeric}
    places = zip(frame["dataset"], frame["criterion"].astype(str).str.casefold(), strict=True)
    frame = frame[[criterion_key not in numbers for criterion_key in places]]
    twice = (frame["source"] == "rater") & frame["dataset"].isin(set(people["dataset"]))
    return pd.concat([frame[~twice], people], ignore_index=True) if len(people) else frame


def _pairs(datasets: dict[str, Known], stories: pd.DataFrame) -> pd.DataFrame:
    # A dataset's compared pairs or, if it has none, all its pairs within a story-prompt.
    rows = []
    for name, dataset in datasets.items():
        pairs = dict(dataset.pairs)
        for pair in dataset.preferred:
            if pair.first in dataset.stories and pair.second in dataset.stories:
                pairs.setdefault(frozenset((pair.first, pair.second)), (pair.id, pair.first, pair.second))
        for pair_id, first, second in pairs.values():
            rows.append({"dataset": name, "pair": pair_id, **shown(dataset.stories, first, second)})
    compared = pd.DataFrame(rows, columns=list(_PAIRS))
    others = stories[~stories.index.get_level_values("dataset").isin(set(compared["dataset"]))]
    return pd.concat([compared, pairs_within(others)], ignore_index=True) if len(others) else compared


def _fact(fact: RunFacts) -> ComparisonFacts:
    # A rating run's mean ratings imply preferences.
    return ComparisonFacts(
        run=fact.run,
        judge=fact.judge,
        dataset=fact.dataset,
        revision=fact.revision,
        repeats=fact.repeats,
        criteria=fact.criteria,
        eval_prompts=fact.eval_prompts,
        orders="implied",
        ties=True,
        parser=fact.parser,
        notes=fact.notes,
        path=fact.path,
        structured=fact.structured,
        not_in_force=fact.not_in_force,
    )
