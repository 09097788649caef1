"""Presence of explanations: missing ones by two definitions, length, repetition, text after the end, lost answers.

*As published* in the HANNA judge study, an explanation is missing if the whole answer has 10 characters or fewer; a
mere copy of a guideline thus counts as one. By *our* definition, it is missing if there is only the rating and at most
a copied guideline. Neither shows that the text explains anything. Eval-Prompts that request no explanation are counted
too, and a note names them where the stored templates show this."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from judge.answers.parsing.ours.explanation import only_guideline
from judge.base.estimate import Estimate
from judge.base.records import Criterion
from judge.explanations.quality.quoted_evidence import RUN, WORDS, Readings
from judge.explanations.quality.specificity import BY_CRITERION, Measured, Row, groups, story_codes
from judge.stats.estimation.sample_size import clustered_proportion

# Characters up to which the study's program took a whole answer for one without an explanation.
PUBLISHED = 10

_NOT_OBTAINED = ("not_answered", "filtered")


@dataclass(frozen=True, slots=True)
class Presence:
    """Presence of explanations in a group of answers; `published` and `ours` are shares without one. `words` is the
    median length of the texts. `repeating` and `run_on` are shares of texts. `lost` counts answers that were not
    obtained."""

    published: Estimate
    ours: Estimate
    words: float | None
    repeating: Estimate
    run_on: Estimate
    texts: int
    answered: int
    lost: int


def measure(
    frame: pd.DataFrame, criteria: Sequence[Criterion], readings: Readings, signature: str, silent: Sequence[str] = ()
) -> Measured[Presence]:
    """Presence in one row for each judge, Eval-Prompt and criterion, over all rows, with or without text. `silent`
    names the Eval-Prompts that request no explanation, as far as this is known."""
    by_name = {criterion.name: criterion for criterion in criteria}
    rows = tuple(
        Row(asked, presence(frame.iloc[places], by_name.get(asked.criterion or ""), readings))
        for asked, places in groups(frame, BY_CRITERION)
    )
    notes = [
        (
            f"none, as published: the whole answer has {PUBLISHED} characters or fewer; ours: nothing but the rating "
            "and at most a copied guideline; 95 % intervals by story"
        ),
        (
            f"of texts: length, repeat themselves (a sentence or a run of {RUN} words occurs twice), run on (a next "
            "turn of a chat follows)"
        ),
        "answers that were not obtained count in no share",
    ]
    if silent := [name for name in silent if (frame["eval_prompt"] == name).any()]:
        notes.append(f"not asked for by Eval-Prompt {', '.join(silent)}: their absence is no failure of the judge")
    guided = {criterion.name for criterion in criteria if criterion.guidelines}
    if without := sorted({name or "rows without one" for row in rows if (name := row.asked.criterion) not in guided}):
        notes.append(f"criteria without known guidelines, whose copies cannot be recognised: {', '.join(without)}")
    return Measured(rows, signature, tuple(notes))


def presence(frame: pd.DataFrame, criterion: Criterion | None, readings: Readings) -> Presence:
    """Presence in one group of answers; `criterion` is None where its guidelines are not known."""
    obtained = ~frame["status"].isin(_NOT_OBTAINED).to_numpy()
    part = frame[obtained]
    story = story_codes(part)
    texts = part["text"].tolist()
    answers = part["answer"].tolist()
    has_answer = np.array([isinstance(answer, str) for answer in answers], dtype=np.bool_)
    has_text = np.array([isinstance(text, str) for text in texts], dtype=np.bool_)
    none = np.array([no_explanation(text, criterion) for text in texts], dtype=np.float64)
    short = np.array([len(answer) <= PUBLISHED for answer in answers if isinstance(answer, str)], dtype=np.float64)
    if short.size:
        published = clustered_proportion(short, story[has_answer])
    else:
        published = Estimate.undefined("whole answers are not known, only texts" if len(part) else "no answer")
    explanations = [text for text in texts if isinstance(text, str)]
    read = [readings(text) for text in explanations]

    def share(hits: Sequence[bool]) -> Estimate:
        if not explanations:
            return Estimate.undefined("no text")
        return clustered_proportion(np.array(hits, dtype=np.float64), story[has_text])

    return Presence(
        published=published,
        ours=clustered_proportion(none, story) if none.size else Estimate.undefined("no answer"),
        words=float(np.median([len(WORDS.findall(text)) for text in explanations])) if explanations else None,
        repeating=share([reading.repeats for reading in read]),
        run_on=share([reading.runs_on for reading in read]),
        texts=len(explanations),
        answered=len(part),
        lost=int((~obtained).sum()),
    )


def no_explanation(text: str | None, criterion: Criterion | None) -> bool:
    """Whether the parsed explanation is empty or only a copied guideline."""
    if not isinstance(text, str) or not text.strip():
        return True
    return criterion is not None and only_guideline(text, criterion)
