"""Is there an explanation at all? Two definitions of none, length, repetition, run-on. Answers not obtained are apart.

*As published* (the HANNA judge study): the whole answer has 10 characters or fewer, so that a bare copy of a guideline
passes for an explanation. *Ours*: nothing but the rating and at most a copied guideline. Neither says that what is
there explains anything. Eval-Prompts that ask for no explanation are counted like the others, and a note names them
where the run's stored templates tell.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
import pandas as pd

from judge.explanations.quality.evidence import CACHED
from judge.explanations.quality.rows import STORY, codes, groups, name_columns, told
from judge.parsing.ours.explanation import only_guideline
from judge.printing.tables import Column, Table
from judge.records import Criterion
from judge.stats.estimate import Estimate
from judge.stats.estimation.power import clustered_proportion

_ROW = ("run", "judge", "eval_prompt", "criterion")
PUBLISHED = 10
"""Characters up to which the study's program took a whole answer for one without an explanation."""

_NOT_OBTAINED = ("not_answered", "filtered")
_WORDS = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_RUN, _SENTENCE = 8, 4
"""Words of a run that stands twice, and of a sentence that does, for a text to repeat itself."""

_SENTENCE_END = re.compile(r"[.!?…\n]+")
_TURN_MARKS = ("\n", "<|", "[INST]", "[/INST]", "<s>", "</s>")
_NEXT_TURN = re.compile(
    r"<\|(?:im_start|im_end|user|assistant|system|eot_id|start_header_id|endoftext)\|>|\[/?INST\]|</?s>"
    r"|^[ \t]*(?:#{1,6}[ \t]*|\*\*)?(?:user|human|assistant|system|instructions?|ai)(?:\*\*)?[ \t]*(?::|$)"
    r"|^[ \t]*#{2,6}[ \t]*(?:input|response|output|question|story|prompt)\b"
    r"|^[ \t]*(?:now[, ]+)?(?:please )?rate the (?:target )?story on a scale",
    re.IGNORECASE | re.MULTILINE,
)


def table(
    frame: pd.DataFrame,
    criteria: Sequence[Criterion],
    signature: str,
    notes: Sequence[str] = (),
    silent: Sequence[str] = (),
) -> Table:
    """One row a judge, Eval-Prompt and criterion, of all rows of the frame, with text or without.

    `silent` names the Eval-Prompts that ask for no explanation, as far as that is known.
    """
    known = {criterion.name: criterion for criterion in criteria}
    rows = [
        names | presence(frame.iloc[places], known.get(names["criterion"] or ""))
        for names, places in groups(frame, _ROW)
    ]
    columns = [
        *name_columns(rows, _ROW),
        Column("published", "none, as published %", digits=1, factor=100),
        Column("ours", "none, ours %", digits=1, factor=100),
        Column("words", "median words", digits=0),
        Column("repeating", "repeat themselves %", digits=1, factor=100),
        Column("run_on", "run on %", digits=1, factor=100),
        Column("texts", "texts"),
        Column("answered", "answers"),
        Column("lost", "not obtained"),
    ]
    said = [
        *notes,
        (
            f"none, as published: the whole answer has {PUBLISHED} characters or fewer; ours: nothing but the rating "
            "and at most a copied guideline; 95 % intervals by story"
        ),
        (
            f"of texts: length, repeat themselves (a sentence or a run of {_RUN} words stands twice), run on (a next "
            "turn of a chat follows)"
        ),
        "answers that were not obtained are in no share",
    ]
    if silent := [name for name in silent if (frame["eval_prompt"] == name).any()]:
        said.append(f"not asked for by Eval-Prompt {', '.join(silent)}: that there is none is no failure of the judge")
    if without := sorted({row["criterion"] or "rows without one" for row in rows if not _guided(known, row)}):
        said.append(f"criteria without known guidelines, copies of which cannot be told: {', '.join(without)}")
    return Table("Presence: is there an explanation?", columns, rows, signature, said)


def presence(frame: pd.DataFrame, criterion: Criterion | None) -> dict[str, Any]:
    """Cells of one row."""
    obtained = ~frame["status"].isin(_NOT_OBTAINED).to_numpy()
    part = frame[obtained]
    story = codes(part, STORY) if bool(told(part, "story").all()) else np.arange(len(part), dtype=np.int64)
    texts = part["text"].tolist()
    answers = part["answer"].tolist()
    has_answer = np.array([isinstance(one, str) for one in answers], dtype=np.bool_)
    has_text = np.array([isinstance(one, str) for one in texts], dtype=np.bool_)
    none = np.array([no_explanation(one, criterion) for one in texts], dtype=np.float64)
    cells: dict[str, Any] = {"answered": len(part), "lost": int((~obtained).sum()), "texts": int(has_text.sum())}
    cells["ours"] = clustered_proportion(none, story) if none.size else Estimate.undefined("no answer")
    short = np.array([len(one) <= PUBLISHED for one in answers if isinstance(one, str)], dtype=np.float64)
    if short.size:
        cells["published"] = clustered_proportion(short, story[has_answer])
    else:
        cells["published"] = Estimate.undefined("whole answers are not known, only texts" if len(part) else "no answer")
    said = [one for one in texts if isinstance(one, str)]
    if not said:
        nothing = Estimate.undefined("no text")
        return cells | {"words": None, "repeating": nothing, "run_on": nothing}
    where = story[has_text]
    cells["words"] = float(np.median([len(_WORDS.findall(one)) for one in said]))
    cells["repeating"] = clustered_proportion(np.array([repeats(one) for one in said], dtype=np.float64), where)
    cells["run_on"] = clustered_proportion(np.array([runs_on(one) for one in said], dtype=np.float64), where)
    return cells


def no_explanation(text: str | None, criterion: Criterion | None) -> bool:
    """Whether what parsing left is nothing, or at most a copied guideline."""
    if not isinstance(text, str) or not text.strip():
        return True
    return criterion is not None and only_guideline(text, criterion)


@lru_cache(maxsize=CACHED)
def repeats(text: str) -> bool:
    """Whether a sentence of `_SENTENCE` words or more, or any run of `_RUN` words, stands twice."""
    low = text.lower()
    parts = (part.strip() for part in _SENTENCE_END.split(low))
    long = [part for part in parts if part.count(" ") >= _SENTENCE - 1]
    if len(set(long)) < len(long):
        return True
    words = _WORDS.findall(low)
    # A run that stands twice repeats all its pairs: few texts have so many, and only they are looked at further.
    if max(0, len(words) - 1) - len(set(itertools.pairwise(words))) < _RUN - 1:
        return False
    runs = max(0, len(words) - _RUN + 1)
    return len(set(zip(*(words[i:] for i in range(_RUN)), strict=False))) < runs


@lru_cache(maxsize=CACHED)
def runs_on(text: str) -> bool:
    """Whether a next turn of a chat, or a new task, follows on something that was said."""
    if not any(mark in text for mark in _TURN_MARKS):
        return False
    return any(re.search(r"\w", text[: found.start()]) is not None for found in _NEXT_TURN.finditer(text))


def forget() -> None:
    """Let go of the texts that were read."""
    repeats.cache_clear()
    runs_on.cache_clear()


def _guided(known: dict[str, Criterion], row: dict[str, Any]) -> bool:
    criterion = known.get(row["criterion"] or "")
    return criterion is not None and bool(criterion.guidelines)
