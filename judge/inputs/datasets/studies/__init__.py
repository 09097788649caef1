"""Readers of the studies' released files, one module for each study, and of the packaged demo set."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

from judge.base.files import package_file
from judge.base.records import Scale, Story
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.native import open_native
from judge.inputs.datasets.locate import need
from judge.inputs.datasets.sources import FILES, LICENCES

# Stands beside every label of the demo set and every statistic computed from one.
LABELS_NOTE = (
    "labels set by rule (an original story has its author's grade; for a damaged one fixed points are taken off), "
    "not by readers"
)


def released(name: str, read: Callable[..., Iterator[Story]], **facts: Any) -> Dataset:
    """The dataset `name` of a study. `read` takes the paths of its files, as `FILES` lists them, each of which must be
    on this machine; `facts` are further fields of the dataset."""
    files = tuple(need(file, name) for file in FILES[name])
    return Dataset(name=name, files=files, stories=partial(read, *files), licence_note=LICENCES[name], **facts)


def demo(name: str) -> Dataset:
    """Dataset `demo`: 12 story-prompts, each with an original story and three damaged versions."""
    return replace(
        open_native(package_file("inputs", "datasets", "demo_stories.jsonl"), name),
        rater_identity=False,
        licence_note="Apache-2.0, as the program",
        labels_note=LABELS_NOTE,
        scale=Scale(1, 5, 1),
        expected={"stories": 48, "systems": 4, "story_prompts": 12, "ratings": 288},
    )
