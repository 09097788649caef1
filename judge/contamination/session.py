"""One scoring session: loads the models, scores the texts, closes the models."""

from __future__ import annotations

import asyncio
from pathlib import Path

from judge.backends import Scorer, Settings, open_scorer
from judge.contamination.options import ScoringOptions
from judge.contamination.scores_file import ScoresFile, assemble
from judge.contamination.scoring import Cache, Progress, score, settings_of
from judge.contamination.texts import TextSet, first_words, plain_texts
from judge.contamination.thresholds import refuse_other_model


def scored(
    texts: TextSet,
    model: str,
    asked: ScoringOptions,
    folder: Path,
    *,
    calibration: ScoresFile | None = None,
    progress: Progress | None = None,
) -> ScoresFile:
    """Scores file of all texts under the model ``provider/name``, with a cache in `derived/logprobs.sqlite`. Thresholds
    are chosen on the labelled set `calibration`. If another model scored it, an error is raised before any text is
    scored."""
    # Before any weights are loaded: these are mistakes that can be told at once.
    if asked.words is not None:
        texts = first_words(texts, asked.words)
    before = plain_texts(asked.nonmembers, asked.shots) if asked.nonmembers is not None else []
    return asyncio.run(_sitting(texts, model, asked, before, folder, calibration, progress))


async def _sitting(
    texts: TextSet,
    model: str,
    asked: ScoringOptions,
    before: list[str],
    folder: Path,
    calibration: ScoresFile | None,
    progress: Progress | None,
) -> ScoresFile:
    settings = asked.settings
    target = open_scorer(model, settings)
    opened: list[Scorer] = [target]
    try:
        facts = await target.facts()
        if calibration is not None:
            refuse_other_model(model, facts, calibration)
        reference = None
        if asked.reference is not None:
            # The revision was said of the model, not of the reference.
            reference = open_scorer(asked.reference, Settings(settings.base_url, engine=settings.engine))
            opened.append(reference)
        with Cache(folder / "derived" / "logprobs.sqlite") as cache:
            scored_texts = await score(
                texts.texts, target, asked, cache, before=before, reference=reference, progress=progress
            )
        of_reference = None if reference is None else await reference.facts()
        written = settings_of(asked, before)
        return assemble(texts.name, model, facts, written, scored_texts, reference=of_reference, notes=texts.notes)
    finally:
        for scorer in opened:
            await scorer.close()
