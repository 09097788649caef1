"""Defines a dataset: its stories, which are read on demand and unchanged, and facts about it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.base.fingerprint import fingerprint, fingerprint_file
from judge.base.records import Pair, Scale, Story
from judge.inputs.datasets.label_scales import LabelScales


@dataclass(frozen=True, slots=True)
class Dataset:
    """Stories with their ratings, as a reader provides them.

    Attributes
    ----------
    name : str
        The registered name, or the file's name without its suffix.
    files : tuple of Path
        Every file that is read; the fingerprint is computed from their content.
    stories : callable
        Starts a new pass over the stories. Files in the program's own JSON Lines format, and tables with one
        row a story, are read row by row.
    rater_identity : bool or None
        Whether ratings name their raters; None if this is only known after reading the ratings.
    citation, licence_note : str or None
        The study to cite, and a sentence on the licence; None = not stated.
    scale : Scale or None
        The scale of all ratings; None if the file does not state one.
    labels_note : str or None
        Note printed wherever these ratings are shown (for example that the demo's labels follow from how its
        stories were made).
    expected : mapping
        Counts that the dataset should have: `stories`, `systems`, `story_prompts`, `ratings`, `pairs`. Empty = unknown.
    columns : mapping
        The column map, if one was given. It enters the fingerprint.
    decoded : str or None
        Description of what the reader decodes, if the file has a documented encoding. It enters the fingerprint.
    with_text : str or None
        If some stories have no text, the name of the dataset that holds only the stories with a text; else None.
    labels : LabelScales
        Scales of the criteria whose ratings are labels. The value of such a rating is the label's code.
    pairs : callable or None
        Starts a new pass over the pairs of stories that people compared; None if there are none.
    left_out : callable or None
        Number of entries that the reader leaves out because they are not ratings, by description; None if it leaves
        none out.
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
        """Hash of the bytes of the dataset's files in order, of the column map, and of `decoded`. The files' paths do
        not matter.
        """
        content: dict[str, Any] = {"files": [fingerprint_file(f) for f in self.files], "columns": dict(self.columns)}
        # Datasets of which nothing is decoded keep the hash that journals made before this field hold.
        return fingerprint(content | ({"decoded": self.decoded} if self.decoded else {}))
