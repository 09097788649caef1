"""Explanations and keywords selected as in the HANNA judge study, and sentences on the points in which the analysis
still differs from that study.

For the map, the study used answers of the first repeat on stories by people, longer than 10 characters and without
"###". It used them whole, with the sentence that states the rating. For keywords, it applied YAKE to the answers longer
than 10 characters of the first repeat, on all stories, separately for each criterion.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from judge.base.errors import SpecError
from judge.base.fingerprint import text_key
from judge.base.wording import Advice
from judge.explanations.corpus.corpus import ExplanationTexts
from judge.explanations.mapping.options import ExplainOptions

SHORTEST = 10
"""Characters of an answer that is no explanation, by the study."""

RUN_ON = "###"
HUMAN = "human"


def chosen(texts: ExplanationTexts) -> tuple[pd.DataFrame, dict[str, int]]:
    """Rows that the HANNA judge study's map would contain, with the whole answer as `text`, and the number of omitted
    rows by reason.

    Rows with an unknown repeat or system are treated as the first repeat of a story by people.
    """
    frame = whole(texts)
    left_out: dict[str, int] = {}
    for reason, keep in (
        ("not of the first repeat", _first(frame)),
        ("on stories not by people", frame["system"].str.casefold().isin((HUMAN, ""))),
        (f"of {SHORTEST} characters or fewer", frame["text"].str.len() > SHORTEST),
        (f"with {RUN_ON}", ~frame["text"].str.contains(RUN_ON, regex=False)),
    ):
        lost = int((~keep.loc[frame.index]).sum())
        if lost:
            left_out[reason] = lost
        frame = frame[keep.loc[frame.index]]
    return frame, left_out


def corpora(texts: ExplanationTexts) -> Iterator[tuple[str, str, int]]:
    """Yield (criterion, its concatenated answers, number of answers), as the HANNA judge study passed them to YAKE, in
    the criteria's order.
    """
    frame = whole(texts)
    frame = frame[_first(frame) & (frame["text"].str.len() > SHORTEST)]
    names = dict.fromkeys([*(criterion.name for criterion in texts.criteria), *frame["criterion"]])
    for name in sorted(names, key=lambda name: name == ""):
        part = frame[frame["criterion"] == name]
        if len(part):
            yield str(name), " ".join(part["text"]), len(part)


def whole(texts: ExplanationTexts) -> pd.DataFrame:
    """The explanations, with the whole answer in the column `text`, or the explanation alone where the answer is not
    known. `key` is the hash of this text. Rows with neither answer nor explanation are left out.
    """
    frame = texts.frame
    whole_texts = frame["answer"].where(frame["answer"].notna(), frame["explanation"])
    frame = frame.assign(text=whole_texts)[whole_texts.notna()]
    return frame.assign(key=[text_key(text) for text in frame["text"]])


def _first(frame: pd.DataFrame) -> pd.Series[bool]:
    repeats = frame["repeat"]
    return (repeats.isna() | (repeats == 0)).fillna(value=True).astype(bool)


def declared(texts: ExplanationTexts, options: ExplainOptions, *, model: str | None) -> list[str]:
    """Sentences that state which choices follow the HANNA judge study's method and which differ from it."""
    from judge.inputs.embedding.vectors import DEFAULT_MODEL

    notes = [
        "as published: whole answers of first repeats on stories by people, over 10 characters, without ###",
        "as published: YAKE over whole answers of first repeats on all stories, over 10 characters",
        f"not as published: the study set no seed (here {options.seed}), so its figure cannot be reproduced",
        "not as published: the study printed keywords picked by hand from these 30",
    ]
    if model != DEFAULT_MODEL:
        notes.append(
            f"not as published: the model is {Path(model).name if model else 'TF-IDF'}, the study's was {DEFAULT_MODEL}"
        )
    if options.map != "umap":
        notes.append("not as published: the study's map was a UMAP")
    frame = texts.frame
    if frame["answer"].isna().all():
        notes.append("not as published: whole answers are not known here, explanations are used in their place")
    if (frame["repeat"].isna()).any():
        notes.append("repeats are not known here: every row counts as a first repeat")
    if (frame["system"] == "").any():
        notes.append("systems are not known here: all stories count as written by people")
    elif HUMAN not in set(frame["system"].str.casefold()):
        raise SpecError(Advice("{as_published} analyses stories by people, and no system here is called Human"))
    return notes
