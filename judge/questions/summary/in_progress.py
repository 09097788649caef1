"""People who are rating a run's stories at this moment: how far they are, and what their ratings say of the judge so
far. A study beside run.yaml is of the run where it holds its stories: by the hash of text and prompt, not by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from judge.base.errors import JudgeError
from judge.questions.summary.result import Summary

if TYPE_CHECKING:
    from judge.questions.source import Source

# What a study beside run.yaml is called; the lab is imported only where there is one.
_FILE = "people.sqlite"


def with_progress(summary: Summary, folders: Sequence[Path], source: Source) -> Summary:
    """The summary with a caveat on each study that lies beside one of the runs; it is never kept with the summary,
    because people go on rating."""
    places = dict.fromkeys(folder.parent for folder in folders if (folder.parent / "run.yaml").is_file())
    files = [place / _FILE for place in places]
    found = [_said(file, source) for file in files if file.is_file()]
    return replace(summary, caveats=(*summary.caveats, *found)) if found else summary


def _said(file: Path, source: Source) -> str:
    from judge.lab.people.store import read_study

    try:
        study = read_study(file)
    except JudgeError as error:
        return f"people: {error.sentence}"
    words = f"people: {study.given} of {study.asked} {study.noun} so far ({file.name})"
    if not study.given or study.pairs:
        return words
    from judge.lab.people.with_judge import with_judge

    told = []
    for name, judged in (every := judged_by_key(source)).items():
        tau = with_judge(study, judged)
        whom = "the judge" if len(every) == 1 else name
        if tau.value is None or tau.low is None or tau.high is None:
            told.append(str(tau.reason))
        else:
            half = 100 * (tau.high - tau.low) / 2
            told.append(f"tau x100 with {whom} {100 * tau.value:.0f} ±{half:.0f} over {tau.n} stories")
    return "; ".join([words, *dict.fromkeys(told)])


def judged_by_key(source: Source) -> dict[str, dict[tuple[str, str], float]]:
    """Mean ratings of each judge over its repeats and Eval-Prompts, by hash of story and criterion in lower case."""
    from judge.lab.people.study import story_key

    table = source.table
    keys = {
        tuple(place): story_key(str(prompt or ""), str(text or ""))
        for place, prompt, text in zip(
            table.stories.index, table.stories["story_prompt"], table.stories["text"], strict=True
        )
    }
    rows = table.frame[(table.frame["source"] == "judge") & table.frame["rating"].notna()]
    found: dict[str, dict[tuple[str, str], float]] = {}
    means = rows.groupby(["judge", "dataset", "story", "criterion"], observed=True)["rating"].mean()
    for judge, dataset, story, criterion, mean in means.reset_index().itertuples(index=False):
        if (dataset, story) in keys:
            found.setdefault(str(judge), {})[keys[dataset, story], str(criterion).casefold()] = float(mean)
    return found
