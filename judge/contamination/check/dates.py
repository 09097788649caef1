"""Which came first, the model or the stories? From months that are published. Never guesses one."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from judge.contamination.join import letters
from judge.folders.shipped import package_file
from judge.wording import Advice, Note

Order = Literal["model first", "stories first", "not known"]


@dataclass(frozen=True, slots=True)
class Dated:
    """Which came first, and the sentence that says by which months."""

    order: Order
    sentence: str


def dated(model: str, dataset: str, released: Sequence[str] = ()) -> Dated:
    """Model and stories in order of time; `released` are the user's own months, ``MODEL=YYYY-MM``."""
    stories = _table()["datasets"].get(dataset)
    own = dict(word.rpartition("=")[::2] for word in released)
    known = _of_model(model, own)
    if stories is None or stories["since"] is None:
        why = "when they were published is not known here" if stories is None else stories["source"]
        return Dated("not known", f"Of the stories: {why}.")
    since, source = str(stories["since"]), stories["source"]
    if known is None:
        words = Note(
            f"The stories are public since {since} ({source}); when the model came out is not known here",
            Advice("give {released}", released="MODEL=YYYY-MM"),
            joint=": ",
        )
        return Dated("not known", words)
    until = known.get("until") or known["since"]
    said = f"training data until {known['until']}" if known.get("until") else f"published {known['since']}"
    about = f"The model: {said} ({known['source']}); the stories: public since {since} ({source})"
    if until < since:
        return Dated("model first", f"{about}. By these it cannot have seen the data set, only what of it is older.")
    return Dated("stories first", f"{about}. By these it may have seen them.")


def _of_model(model: str, own: Mapping[str, str]) -> Mapping[str, Any] | None:
    plain = letters(model.rpartition("/")[2])
    for name, month in own.items():
        if letters(name.rpartition("/")[2]) == plain:
            return {"since": month, "source": "as you say"}
    return next((row for row in _table()["models"] if plain in row["names"]), None)


@functools.cache
def _table() -> Mapping[str, Any]:
    import yaml

    text = package_file("contamination", "check", "dates.yaml").read_text(encoding="utf-8")
    found: Mapping[str, Any] = yaml.safe_load(text)
    return found
