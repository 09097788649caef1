"""The packaged demo set: stories and mechanically damaged versions, whose labels follow from the damage, not from
raters."""

from __future__ import annotations

from dataclasses import replace

from judge.base.files import package_file
from judge.base.records import Scale
from judge.inputs.datasets.dataset import Dataset
from judge.inputs.datasets.files.native import open_native

# Stands beside every label of the demo set and every statistic computed from one.
LABELS_NOTE = (
    "labels set by rule (an original story has its author's grade; for a damaged one fixed points are taken off), "
    "not by readers"
)


def load(name: str) -> Dataset:
    """Dataset `demo`: 12 story-prompts, each with an original story and three damaged versions."""
    return replace(
        open_native(package_file("inputs", "datasets", "demo_stories.jsonl"), name),
        rater_identity=False,
        citation="storyjudge's own demo set",
        licence_note="Apache-2.0, as the program",
        labels_note=LABELS_NOTE,
        scale=Scale(1, 5, 1),
        expected={"stories": 48, "systems": 4, "story_prompts": 12, "ratings": 288},
    )
