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
    from judge.base.arrays import Codes
    from judge.lab.people.store import Study
    from judge.questions.source import Source

# What a study beside run.yaml is called; the lab is imported only where there is one.
_FILE = "people.sqlite"
# Stories with ratings by people below which no interval is said, and resamples of story-prompts.
_FEWEST, _RESAMPLES = 10, 200


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
    return f"{words}; {_agreement(study, source)}"


def _agreement(study: Study, source: Source) -> str:
    """Tau of the judge's mean ratings with people's means so far, mean over criteria, with the half-width of its 95 %
    interval over story-prompts."""
    import numpy as np

    from judge.lab.people.study import story_key
    from judge.stats.correlation import kendall

    table = source.table
    prompts = table.stories["story_prompt"]
    keys = {
        tuple(place): story_key(str(prompt or ""), str(text or ""))
        for place, prompt, text in zip(table.stories.index, prompts, table.stories["text"], strict=True)
    }
    judged = table.frame[(table.frame["source"] == "judge") & table.frame["rating"].notna()]
    means = judged.groupby(["dataset", "story", "criterion"], observed=True)["rating"].mean()
    judge: dict[tuple[str, str], float] = {}
    for place, mean in means.items():
        dataset, story, criterion = place if isinstance(place, tuple) else (place, "", "")
        if (dataset, story) in keys:
            judge[keys[dataset, story], str(criterion).casefold()] = float(mean)
    people: dict[tuple[str, str], list[float]] = {}
    prompt_of: dict[str, str] = {}
    for one in study.answered:
        if one.entry.use == "rating":
            prompt_of[one.text.key] = one.text.story_prompt
            for name, value in one.state.values.items():
                people.setdefault((one.text.key, name.casefold()), []).append(value)
    both = [key for key in people if key in judge]
    stories = sorted({story for story, _ in both})
    if len(stories) < _FEWEST:
        return f"{len(stories)} stories that the judge rated too have one: too few for tau"
    criteria = sorted({name for _, name in both})
    pairs = np.full((len(stories), len(criteria), 2), np.nan)
    for story, name in both:
        pairs[stories.index(story), criteria.index(name)] = np.mean(people[story, name]), judge[story, name]

    def tau(rows: Codes) -> float:
        values = []
        for c in range(len(criteria)):
            x, y = pairs[rows, c].T
            here = ~np.isnan(x)
            values.append(kendall.tau_b(kendall.codes(x[here]), kendall.codes(y[here])))
        return float(np.nanmean(values))

    groups = np.unique([prompt_of[story] for story in stories], return_inverse=True)[1]
    rng, drawn = np.random.default_rng(1), []
    for _ in range(_RESAMPLES):
        picked = rng.integers(0, groups.max() + 1, groups.max() + 1)
        drawn.append(tau(np.concatenate([np.flatnonzero(groups == g) for g in picked])))
    low, high = np.nanquantile(drawn, [0.025, 0.975])
    value = 100 * tau(np.arange(len(stories)))
    return f"tau x100 with the judge {value:.0f} ±{100 * (high - low) / 2:.0f} over {len(stories)} stories"
