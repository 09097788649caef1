"""The packaged demo set, as a dataset."""

from __future__ import annotations

from collections import Counter

from judge.inputs.datasets import open_dataset


def test_the_demo_needs_no_file_from_anywhere() -> None:
    dataset = open_dataset("demo")
    stories = list(dataset.stories())
    assert len(stories) == 48
    assert sorted(Counter(s.system for s in stories).values()) == [12, 12, 12, 12]
    assert sum(len(s.ratings) for s in stories) == dataset.expected["ratings"]
    assert all(r.value in dataset.scale for s in stories for r in s.ratings if dataset.scale)
    assert dataset.labels_note is not None
    assert "set by rule" in dataset.labels_note
    assert "not by readers" in dataset.labels_note
