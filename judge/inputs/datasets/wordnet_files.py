"""Finds the files of WordNet 3.0 on this machine."""

from __future__ import annotations

import os
from pathlib import Path

from judge.inputs.datasets.locate import registered
from judge.inputs.wordnet import complete

_SYSTEM = (Path("/usr/share/wordnet"), Path("/usr/share/nltk_data/corpora/wordnet"))


def find() -> Path | None:
    """The first complete WordNet folder: registered as `wordnet`, NLTK's or the system's."""
    added = registered().get("wordnet")
    nltk = [Path(part) / "corpora" / "wordnet" for part in os.environ.get("NLTK_DATA", "").split(os.pathsep) if part]
    places = [*([added.path] if added is not None else []), *nltk, *_SYSTEM]
    return next((folder for folder in places if complete(folder)), None)
