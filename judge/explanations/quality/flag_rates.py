"""Flag rates of the rules in `flags`, and their precision and recall on explanations not used to develop them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.records import Criterion
from judge.base.wording import Advice, Note
from judge.explanations.corpus.from_studies import hanna_user_study
from judge.explanations.quality.evidence import Library, Readings
from judge.explanations.quality.flags import RULES, Explained, flags
from judge.explanations.quality.quoted_points import QuotedPoints
from judge.explanations.quality.specificity import BY_CRITERION, STORY, Asked, Measured, Row, codes, groups, rows_with
from judge.inputs.datasets.studies.hanna_files import QUESTIONS, read_items
from judge.stats.estimation.power import clustered_proportion
from judge.stats.shares.proportion import wilson
from judge.version import __version__

# Positive items below which a rule's row says that they are too few.
ENOUGH = 10

TOO_FEW = "too few to validate"


@dataclass(frozen=True, slots=True)
class Flagged:
    """Share of texts that each rule flags, by the rule's name, and the number of texts."""

    shares: Mapping[str, Estimate]
    texts: int


@dataclass(frozen=True, slots=True)
class Validated:
    """Agreement of a rule that flags `error` with annotators; `base` is the precision of a rule that flags everything.
    `flagged`, `positive` and `both` count explanations that the rule, annotators and both mark. `remark` warns if
    `positive` is below 10."""

    error: str
    precision: Estimate
    recall: Estimate
    base: Estimate
    both: int
    flagged: int
    positive: int
    items: int
    remark: str | None


def explained(
    frame: pd.DataFrame, criteria: Sequence[Criterion], library: Library, readings: Readings
) -> Iterator[Explained]:
    """The rules' input for each row: the explanation with its story, criterion and rating."""
    points_of = {criterion.name: QuotedPoints(criterion) for criterion in criteria}
    columns = (frame[name].tolist() for name in ("dataset", "story", "criterion", "text", "answer", "rating"))
    for dataset, story, criterion, raw, whole, given in zip(*columns, strict=True):
        text = raw if isinstance(raw, str) else None
        answer = whole if isinstance(whole, str) else text or ""
        rating = None if np.isnan(given) else float(given)
        sources = library.of(dataset, story, criterion)
        points = points_of.get(criterion)
        yield Explained(
            answer=answer,
            text=text,
            rating=rating,
            criterion=None if points is None else points.criterion,
            sources=sources,
            story_known=library.knows(dataset, story),
            reading=readings.of(text or ""),
            quoted=() if points is None else points.of(answer),
        )


def measure(
    frame: pd.DataFrame, criteria: Sequence[Criterion], library: Library, readings: Readings, signature: str
) -> Measured[Flagged]:
    """Share of texts that each rule flags, in one row for each judge, Eval-Prompt and criterion."""
    answers = [flags(explanation) for explanation in explained(frame, criteria, library, readings)]
    flagged = pd.DataFrame(answers, columns=list(RULES), dtype=float)
    rows = []
    for asked, places in groups(frame, BY_CRITERION):
        part = frame.iloc[places]
        story = codes(part, STORY) if bool(rows_with(part, "story").all()) else np.arange(len(part), dtype=np.int64)
        shares = {name: clustered_proportion(flagged[name].to_numpy()[places], story) for name in RULES}
        rows.append(Row(asked, Flagged(shares, len(part))))
    notes: list[str] = [
        Note(
            "flagged by rules that were set on one study's items: they show which texts to read and are no error rates",
            Advice(
                "judge explain {validate_flags} prints their precision and recall there, judge audit asks people",
                validate_flags="user_study.csv",
            ),
            joint="; ",
        ),
    ]
    if unguided := int((~frame["criterion"].isin({c.name for c in criteria if c.guidelines})).sum()):
        notes.append(f"{unguided} texts are about criteria without known guidelines, which three of the rules need")
    return Measured(tuple(rows), signature, tuple(notes))


def validation(path: Path) -> Measured[Validated]:
    """Precision and recall of every rule, on the odd-numbered explanations (1, 3, 5...) of `user_study.csv` of HANNA.

    An explanation is positive if any of three annotators marked it. Raises SpecError if guidelines
    (`eval_prompts.json`) or stories (`hanna_llm_stories.csv`), which the rules read, are missing, and DataError for
    another file."""
    texts = hanna_user_study(path)
    if not texts.criteria or texts.stories.empty:
        missing = "guidelines" if not texts.criteria else "stories"
        hint = "judge data add hanna_eval_prompts PATH" if not texts.criteria else "judge data fetch hanna_llm"
        raise SpecError(f"the rules read the study's {missing}, which are not on this machine", hint=hint)
    items = read_items(path)
    library = Library(texts.stories, texts.criteria)
    flagged = pd.DataFrame(
        [flags(explanation) for explanation in explained(texts.frame, texts.criteria, library, Readings())]
    )
    odd = np.arange(len(items)) % 2 == 1
    rows = [
        Row(Asked(), _validated(name, flagged[name].to_numpy(dtype=bool)[odd], _any(items, name)[odd]))
        for name in QUESTIONS
    ]
    notes = [
        "rules were set on the even items (0, 2, 4...), and are reported on the odd ones; 95 % Wilson intervals",
        (
            "positive: one annotator or more of three said so; the first question's answers are turned round (1 = "
            "followed)"
        ),
        "base rate: what a rule that flags everything reaches as precision",
        f"one study, one Eval-Prompt, {int(odd.sum())} items of human stories: on other data the rules may differ",
        *(note for note in texts.notes if "criteri" in note),
    ]
    signature = f"{path.stem}:{int(odd.sum())} odd items|against:any of 3|ci:wilson|v{__version__}"
    return Measured(tuple(rows), signature, tuple(notes))


def _any(items: Sequence[Any], name: str) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.array([any(item.errors[name]) for item in items], dtype=np.bool_)


def _validated(name: str, flagged: np.ndarray[Any, Any], positive: np.ndarray[Any, Any]) -> Validated:
    both, flagged_count, true = int((flagged & positive).sum()), int(flagged.sum()), int(positive.sum())
    return Validated(
        error=name,
        precision=wilson(both, flagged_count) if flagged_count else Estimate.undefined("the rule flagged nothing"),
        recall=wilson(both, true) if true else Estimate.undefined("no annotator saw this error"),
        base=wilson(true, positive.size),
        both=both,
        flagged=flagged_count,
        positive=true,
        items=int(positive.size),
        remark=TOO_FEW if true < ENOUGH else None,
    )
