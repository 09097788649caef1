"""Terms that people use more often than judges, or judges more often than people, ranked by log-odds ratio.

The measure is the log-odds ratio with an informative Dirichlet prior, divided by its standard deviation (Monroe,
Colaresi & Quinn 2008, Fightin' Words, Political Analysis 16, equations 15, 16, 22). Side 1 are the texts by people,
side 2 those by judges. y is the count of the term on a side, and n the count of all terms on that side. The prior has
`PRIOR` terms, distributed as the terms of both sides together. Then

    a     = PRIOR (y1 + y2) / (n1 + n2)
    delta = log((y1 + a) / (n1 + PRIOR - y1 - a)) - log((y2 + a) / (n2 + PRIOR - y2 - a))
    z     = delta / sqrt(1 / (y1 + a) + 1 / (y2 + a))

The measure assumes that terms are independent, which terms of one text are not. z therefore only ranks terms; the
counts and rates printed with it show the size of a difference. People and judges do not give the same verdicts, and a
No is explained in other words than a Yes. The measure is therefore also computed for each verdict separately.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from judge.explanations.corpus.corpus import EXPERT
from judge.explanations.mapping import keywords
from judge.explanations.mapping.explanation_map import ExplanationMap
from judge.stats import near_ties

if TYPE_CHECKING:
    import pandas as pd

PRIOR = 1000.0
"""Terms that the prior weighs, some dozens of texts: without it rare terms of one side would lead the list."""

PEOPLE, JUDGES = "people", "judges"

Floats = NDArray[np.float64]
Rows = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class SideWord:
    """A term that people use more often than judges, or judges more often than people.

    Attributes
    ----------
    within : str
        The verdict (band of ratings) to which the texts are restricted; "" = all texts.
    said_by : str
        Who uses the term more often: `PEOPLE` or `JUDGES`.
    term : str
    people, judges : int
        Number of texts by people and by judges that contain the term.
    people_rate, judges_rate : float
        Occurrences of the term per 1,000 terms, in texts by people and by judges. Unlike the numbers of texts,
        rates can be compared where one side writes longer texts.
    stories : int
        Number of stories about which `said_by` uses the term.
    z : float
        Absolute z score: positive whoever uses the term more often.
    """

    within: str
    said_by: str
    term: str
    people: int
    people_rate: float
    judges: int
    judges_rate: float
    stories: int
    z: float


@dataclass(frozen=True, slots=True)
class SideWords:
    """Terms that people or judges use more often, the most distinctive first. `people` and `judges` are the numbers of
    their texts.
    """

    rows: tuple[SideWord, ...]
    people: int
    judges: int
    signature: str

    @property
    def frame(self) -> pd.DataFrame:
        """Data frame with one row for each term that people or judges use more often."""
        from dataclasses import asdict

        import pandas as pd

        frame = pd.DataFrame([asdict(row) for row in self.rows])
        frame.attrs.update(signature=self.signature)
        return frame


def side_words(mapped: ExplanationMap) -> SideWords | None:
    """Terms that people use more often than all judges together, or judges more often than people; None unless there
    are texts by people and by judges and the texts have terms.
    """
    side = mapped.rows["side"].to_numpy(dtype=str)
    people, judges = side == EXPERT, (side != EXPERT) & (side != "")
    if not people.any() or not judges.any():
        return None
    counts = keywords.count(list(mapped.rows["text"]))
    if counts is None:
        return None
    story = mapped.rows["story"].to_numpy(dtype=str)
    verdict = mapped.rows["band"].to_numpy(dtype=str)
    words: list[SideWord] = []
    for within in ("", *dict.fromkeys(sorted(set(verdict) - {""}))):
        kept = np.ones(verdict.size, dtype=np.bool_) if not within else verdict == within
        if (people & kept).any() and (judges & kept).any():
            words += _contrast(counts, people & kept, judges & kept, story, within, mapped.options.top)
    signature = mapped.signature(f"side:logodds/prior{PRIOR:g}")
    return SideWords(tuple(words), int(people.sum()), int(judges.sum()), signature)


def _contrast(
    counts: keywords.Counts, people: Rows, judges: Rows, story: NDArray[np.str_], within: str, top: int
) -> Iterator[SideWord]:
    codes = np.where(people, 0, np.where(judges, 1, -1)).astype(np.int64)
    first, second = keywords.by_group(counts, codes, 2)
    z = log_odds(first, second)
    holds = counts.matrix > 0
    for said_by, mine, scores in ((PEOPLE, people, z), (JUDGES, judges, -z)):
        for i in near_ties.descending(scores.tolist())[:top]:
            if scores[i] <= 0:
                break
            has = np.asarray(holds[:, [i]].todense(), dtype=bool).ravel()
            some, others = int(has[people].sum()), int(has[judges].sum())
            rates = (1000 * float(first[i] / first.sum()), 1000 * float(second[i] / second.sum()))
            about = np.unique(story[mine & has]).size
            term = str(counts.terms[i])
            yield SideWord(within, said_by, term, some, rates[0], others, rates[1], about, float(scores[i]))


def log_odds(first: Floats, second: Floats, prior: float = PRIOR) -> Floats:
    """z score of each term's log-odds ratio; positive where the first side (such as people) uses the term more often
    than the second.

    `first` and `second` are the counts of each term on the two sides, arrays of shape (terms,). `prior` is the total
    count of the Dirichlet prior. The score is 0 where neither side uses the term.
    """
    both = first + second
    total = both.sum()
    weight = prior * both / total if total else both
    held = both > 0
    first_counts, second_counts = (first + weight)[held], (second + weight)[held]
    odds_one = np.log(first_counts / (first.sum() + prior - first_counts))
    odds_two = np.log(second_counts / (second.sum() + prior - second_counts))
    scores = np.zeros(both.shape)
    scores[held] = (odds_one - odds_two) / np.sqrt(1 / first_counts + 1 / second_counts)
    return scores
