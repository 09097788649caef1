"""Result of a contamination check for each model: recited texts, share of stories seen, and publication dates."""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from judge.analysis.options.signature import Signed
from judge.base.estimate import Estimate
from judge.base.folders import package_file
from judge.base.wording import Advice, Note, joined
from judge.contamination.report import letters
from judge.contamination.scores import RECITED
from judge.contamination.scores_file import ScoresFile

if TYPE_CHECKING:
    import pandas as pd


# Whether a model or the stories were published first, from published months. No month is guessed.

Order = Literal["model first", "stories first", "not known"]


@dataclass(frozen=True, slots=True)
class Dated:
    """Whether the model or the stories came first, by published months; `brief` is without sources. A model's month is
    that in which its training data ended, if known, else that of its publication."""

    order: Order
    sentence: str
    brief: str


def dated(model: str, dataset: str, released: Sequence[str] = ()) -> Dated:
    """Whether the model or the stories came first; `released` holds months from the user, as ``MODEL=YYYY-MM``."""
    stories = _table()["datasets"].get(dataset)
    own = dict(word.rpartition("=")[::2] for word in released)
    month = _of_model(model, own)
    if stories is None or stories["since"] is None:
        why = "when they were published is not known here" if stories is None else stories["source"]
        return Dated(
            "not known", f"Of the stories: {why}.", "By dates nothing can be told: the stories' month is not known."
        )
    since, source = str(stories["since"]), stories["source"]
    if month is None:
        words = Note(
            f"The stories are public since {since} ({source}); when the model came out is not known here",
            Advice("give {released}", released="MODEL=YYYY-MM"),
            joint=": ",
        )
        unknown = f"By dates nothing can be told: stories {since}, the model's month is not known."
        return Dated("not known", words, unknown)
    # What its makers say of the training data counts before the day of publication, which is later.
    until = month.get("until") or month["since"]
    model_date = f"training data until {month['until']}" if month.get("until") else f"published {month['since']}"
    about = f"The model: {model_date} ({month['source']}); the stories: public since {since} ({source})"
    months = f"(model {until}, stories {since})"
    if until < since:
        brief = f"By their dates it cannot have seen the data set, only what of it is older {months}."
        whole = f"{about}. By these it cannot have seen the data set, only what of it is older."
        return Dated("model first", whole, brief)
    return Dated(
        "stories first", f"{about}. By these it may have seen them.", f"By dates it may have seen them {months}."
    )


def _of_model(model: str, own: Mapping[str, str]) -> Mapping[str, Any] | None:
    plain = letters(model.rpartition("/")[2])
    for name, month in own.items():
        if letters(name.rpartition("/")[2]) == plain:
            return {"since": month, "source": "as you say"}
    # Whole names only: gpt-4.1 begins like gpt-4, and is another model.
    return next((row for row in _table()["models"] if plain in row["names"]), None)


@functools.cache
def _table() -> Mapping[str, Any]:
    import yaml

    text = package_file("contamination", "check", "dates.yaml").read_text(encoding="utf-8")
    table: Mapping[str, Any] = yaml.safe_load(text)
    return table


# From this log-probability of 50 tokens in a row a text counts as recited: 1 in 1,000.
LIKELY = math.log(1e-3)

# In the order of what they show; docs/contamination.md has the rule of each.
Verdict = Literal["recites stories", "some seen", "not shown", "recites none", "cannot be told", "not measured"]


@dataclass(frozen=True, slots=True)
class Recital:
    """Log-probability, in nats, of the likeliest 50 consecutive tokens of each text; high = recited from memory."""

    values: tuple[float, ...] = ()

    @property
    def recited(self) -> int:
        """Number of texts whose likeliest 50 tokens have a probability of at least 1 in 1,000 (`LIKELY`)."""
        return sum(value >= LIKELY for value in self.values)

    @property
    def of(self) -> int:
        """Number of texts with a value; one without 50 consecutive tokens that can be scored has none."""
        return len(self.values)

    def above(self, other: Recital) -> int:
        """Number of texts above the highest value in `other`; 0 if `other` has none."""
        return sum(value > max(other.values, default=0.0) for value in self.values)

    @classmethod
    def of_file(cls, scores: ScoresFile) -> Recital | None:
        """The texts' recital in a scores file; None if it lacks this score."""
        if "recital" not in scores.names:
            return None
        return cls(tuple(value for row in scores.rows if (value := row.scores["recital"]) is not None))


def passages_of(scores: ScoresFile) -> Recital:
    """Recital of the well-known passages scored with the stories, from the file's header; empty if it has none."""
    return Recital(tuple(float(value) for value in scores.header.get("passages") or ()))


def tells(stories: Recital, passages: Recital | None) -> bool:
    """Whether the test for recital would detect a memorised story; False without passages. It would if the model
    recites at least one passage, or if at least half of the passages have a higher value than every story."""
    return passages is not None and bool(
        passages.recited or (passages.of and 2 * passages.above(stories) >= passages.of)
    )


@dataclass(frozen=True, slots=True)
class Checked:
    """Result for one model on the stories of one dataset. `stories` and `passages` are None if not scored, for the
    reason `why`. `corrected` is the share of seen stories, undefined without a labelled set. `file` is the written
    scores file."""

    dataset: str
    model: str
    dated: Dated
    stories: Recital | None = None
    passages: Recital | None = None
    corrected: Estimate = field(default_factory=lambda: Estimate.undefined("no labelled set"))
    why: str = ""
    file: Path | None = None

    @property
    def verdict(self) -> Verdict:
        """Whether the model has seen the stories, in a few words, by the rules of docs/contamination.md."""
        if self.stories is None:
            return "not measured"
        if self.stories.recited:
            return "recites stories"
        if self.corrected.value is not None and self.corrected.low is not None:
            return "some seen" if self.corrected.low > 0 else "not shown"
        return "recites none" if tells(self.stories, self.passages) else "cannot be told"

    @property
    def sentence(self) -> str:
        """What was measured for this model and dataset, and what cannot be concluded from it."""
        if self.stories is None:
            return joined("Not measured: ", self.why, ".")
        stories, passages = self.stories, self.passages or Recital()
        above = passages.above(stories)
        text = (
            f"It recites {stories.recited or 'none'} of {stories.of:,} stories ({RECITED} tokens in a row with a "
            f"probability of 1 in 1,000 or more), and {passages.recited} of {passages.of} passages that the web holds "
            f"in many copies; {above} of these it expects more than any story."
        )
        if stories.recited:
            text += " Such a story it has seen, or one that shares the passage."
        elif tells(stories, passages):
            text += " A story met as often would show; one met once or a few times would not."
        else:
            text += " It knows too few of these to tell anything by it."
        share = self.corrected
        if share.value is not None and share.low is not None and share.high is not None:
            ends = f"{100 * share.low:.0f} to {100 * share.high:.0f}"
            return f"{text} By the labelled set {100 * share.value:.0f} % [{ends}] of the stories were seen."
        return joined(text, " What share it has seen cannot be said: ", share.reason or "", ".")

    @property
    def cells(self) -> dict[str, Any]:
        stories, passages = self.stories, self.passages
        return {
            "dataset": self.dataset,
            "model": self.model,
            "verdict": self.verdict,
            "stories": stories and stories.of,
            "recited": stories and stories.recited,
            "passages": passages and passages.of,
            "passages_recited": passages and passages.recited,
            "passages_above": passages and stories and passages.above(stories),
            "corrected": self.corrected,
            "order": self.dated.order,
            "measured": self.sentence,
            "dates": self.dated.sentence,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Check(Signed):
    """Result of a contamination check, with one row for each model and dataset."""

    rows: tuple[Checked, ...]

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each model and dataset, with an estimate's value, interval, and reason if undefined."""
        from judge.stats.flat_frame import flat_frame

        return flat_frame((row.cells for row in self.rows), self.signature, self.notes)
