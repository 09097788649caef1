"""Whether a model or the stories were published first, from published months. No month is guessed."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judge.base.folders.shipped import package_file
from judge.base.wording import Advice, Note
from judge.contamination.join import letters

Order = Literal["model first", "stories first", "not known"]


@dataclass(frozen=True, slots=True)
class Dated:
    """Whether the model or the stories came first, by published months. For the model the month is that in which its
    training data ended, if known, else that of its publication. `sentence` gives months and sources, and `brief` is a
    short version without sources.
    """

    order: Order
    sentence: str
    brief: str


def dated(model: str, dataset: str, released: Sequence[str] = ()) -> Dated:
    """Whether the model or the stories came first, with sentences on the published months. `released` holds months of
    models that the user gives, as ``MODEL=YYYY-MM``.
    """
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
