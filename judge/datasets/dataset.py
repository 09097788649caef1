"""A dataset: its stories, read on demand and without repairs, and facts about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.datasets.label_scales import LabelScales
from judge.fingerprint import fingerprint, fingerprint_file
from judge.records import Pair, Scale, Story


@dataclass(frozen=True, slots=True)
class Dataset:
    """Stories with their ratings, as one of the readers gives them.

    Attributes
    ----------
    name : str
        The registered name, or the file's name without its ending.
    files : tuple of Path
        Every file that is read; their content makes the fingerprint.
    stories : callable
        Starts a new pass over the stories. Native JSONL, and tables with one row a story, are read row by row.
    rater_identity : bool or None
        Whether ratings name their raters; None where only the ratings themselves can tell.
    scale : Scale or None
        The scale of all ratings; None where the file does not promise one.
    labels_note : str or None
        What must be said wherever these ratings are printed (the demo's labels are by construction).
    expected : mapping
        Promised counts: `stories`, `systems`, `story_prompts`, `ratings`, `pairs`. Empty where nothing is promised.
    columns : mapping
        The column map, where one was given: it is part of what the dataset is.
    decoded : str or None
        What the reader decodes as the file's own documented format, in words; it is part of what the dataset is.
    with_text : str or None
        Where some stories come without a text, the dataset of those that have one; None where all have.
    labels : LabelScales
        Scales of the criteria whose ratings are labels: a rating of these holds the label's code.
    pairs : callable or None
        Starts a new pass over the pairs of stories that people compared; None where nobody compared any.
    left_out : callable or None
        Counts what the reader leaves out because it is no rating (padding, say), in words; None where it leaves nothing
        out.
    """

    name: str
    files: tuple[Path, ...]
    stories: Callable[[], Iterator[Story]]
    rater_identity: bool | None = None
    citation: str | None = None
    licence_note: str | None = None
    labels_note: str | None = None
    scale: Scale | None = None
    expected: Mapping[str, int] = field(default_factory=dict)
    columns: Mapping[str, Any] = field(default_factory=dict)
    decoded: str | None = None
    with_text: str | None = None
    labels: LabelScales = field(default_factory=LabelScales)
    pairs: Callable[[], Iterator[Pair]] | None = None
    left_out: Callable[[], Mapping[str, int]] | None = None

    def fingerprint(self) -> str:
        """Tagged hash of the files' bytes in order, of the column map, and of what is decoded; the files' paths do not
        count.
        """
        content: dict[str, Any] = {"files": [fingerprint_file(f) for f in self.files], "columns": dict(self.columns)}
        # Datasets of which nothing is decoded keep the hash that journals made before this field hold.
        return fingerprint(content | ({"decoded": self.decoded} if self.decoded else {}))
