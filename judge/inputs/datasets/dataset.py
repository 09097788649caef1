"""A dataset: its stories, which are read on demand and unchanged, and facts about it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from judge.base.errors import SpecError, unknown
from judge.base.fingerprint import fingerprint, fingerprint_file
from judge.base.records import Criterion, Pair, Scale, Story
from judge.inputs.prompt_file import labels_fault

# Scales of ratings that are labels, declared in a column map, in a file's header or by criteria.

KEYS = ("labels", "unordered")
ALL = "*"
_WITHIN = ("labels", "ordered", "positive")


@dataclass(frozen=True, slots=True)
class LabelScales:
    """Scales of ratings that are labels, by criterion (case is ignored); `others` is that of all without an entry."""

    named: Mapping[str, tuple[str, Scale]] = field(default_factory=dict)
    others: Scale | None = None

    def __bool__(self) -> bool:
        return bool(self.named) or self.others is not None

    @classmethod
    def of_criteria(cls, criteria: Iterable[Criterion]) -> LabelScales:
        """Label scales of those criteria whose scale has labels."""
        return cls({c.name.casefold(): (c.name, c.scale) for c in criteria if c.scale.labels})

    def of(self, criterion: str) -> Scale | None:
        entry = self.named.get(criterion.casefold())
        return self.others if entry is None else entry[1]

    def with_given(self, given: LabelScales, owner: str) -> LabelScales:
        """These scales and those `given` elsewhere. Raises SpecError if labels or their order differ, since a code
        would mean two labels. `owner` names these."""
        others = {ALL: given.others} if given.others else {}
        for name, scale in (*given.named.values(), *others.items()):
            own = self.others if name == ALL else self.of(name)
            if own is not None and [label.casefold() for label in own.labels] != [
                label.casefold() for label in scale.labels
            ]:
                subject = "ratings" if name == ALL else name
                raise SpecError(
                    f"{owner} has the labels {', '.join(own.labels)} for {subject}, another source has "
                    f"{', '.join(scale.labels)}",
                    hint="write the same labels in the same order in both",
                )
        return LabelScales({**self.named, **given.named}, given.others or self.others)

    def record(self) -> dict[str, Any]:
        """The scales in the form that `label_scales` reads."""
        scales = dict(self.named.values()) | ({ALL: self.others} if self.others else {})
        return {name: _record(scale) for name, scale in scales.items()}


def is_key(key: str) -> bool:
    """Whether a key of a column map declares labels."""
    return key in KEYS or key.startswith("labels.")


def label_scales(columns: Mapping[str, Any], where: str = "column map") -> LabelScales:
    """The label scales that a column map declares. Raises SpecError for an invalid declaration."""
    given_labels: dict[str, Any] = {}
    given = columns.get("labels")
    if isinstance(given, Mapping):
        given_labels.update({str(name): value for name, value in given.items()})
    elif given is not None:
        given_labels[ALL] = given
    given_labels |= {key.removeprefix("labels."): value for key, value in columns.items() if key.startswith("labels.")}
    loose = set(_words(columns.get("unordered"), where))
    for name in sorted(loose - {ALL} - given_labels.keys()):
        if ALL in given_labels:
            given_labels[name] = given_labels[ALL]
            continue
        raise SpecError(f"{where}: unordered: {unknown('criterion with labels', name, given_labels)}")
    scales = {name: _scale(name, value, where, loose={ALL, name} & loose) for name, value in given_labels.items()}
    others = scales.pop(ALL, None)
    return LabelScales({name.casefold(): (name, scale) for name, scale in scales.items()}, others)


def _scale(name: str, value: Any, where: str, *, loose: set[str]) -> Scale:
    subject = f"{where}: labels" if name == ALL else f"{where}: labels of {name}"
    ordered, positive = not loose, None
    if isinstance(value, Mapping):
        for key in value:
            if key not in _WITHIN:
                raise SpecError(f"{subject}: {unknown('key', str(key), _WITHIN)}")
        if not isinstance(value.get("ordered", True), bool):
            raise SpecError(f"{subject}: ordered must be true or false, not {value['ordered']!r}")
        ordered, positive = ordered and value.get("ordered", True), value.get("positive")
        value = value.get("labels")
    labels = [" ".join(word.split()) for word in _words(value, subject)]
    wrong = labels_fault(labels, None if positive is None else str(positive))
    if wrong is not None:
        raise SpecError(f"{subject}: {wrong}")
    scale = Scale.of_labels(labels, ordered=ordered)
    code = None if positive is None else scale.code_of(str(positive))
    return scale if code is None else Scale.of_labels(labels, ordered=ordered, positive=labels[code])


def _words(value: Any, where: str) -> list[str]:
    # `=one,two` on the command line.
    if value is None:
        return []
    if isinstance(value, str):
        return [part.strip() for part in value.removeprefix("=").split(",")]
    if isinstance(value, list | tuple) and all(isinstance(part, str) for part in value):
        return list(value)
    bare = isinstance(value, list) and any(isinstance(part, bool) for part in value)
    hint = "YAML takes a bare Yes for true: write 'Yes'" if bare else None
    raise SpecError(f"{where}: must be a list of texts, not {value!r}", hint=hint)


def _record(scale: Scale) -> dict[str, Any]:
    record: dict[str, Any] = {"labels": list(scale.labels), "ordered": scale.ordered}
    return record | ({"positive": scale.positive} if scale.positive is not None else {})


@dataclass(frozen=True, slots=True)
class Dataset:
    """Stories with their ratings, as a reader provides them. The fingerprint is of `files`, `columns` and `decoded`.

    `name` is the registered one, or the file's without its suffix. `columns` is the column map, if one was given.
    `stories` and `pairs` start a new pass. The own JSON Lines, and tables with one row a story, are read row by row.
    `rater_identity`: whether ratings name their raters; None if known only after reading. `scale` is that of all
    ratings.
    `labels_note` is printed wherever these ratings are shown (e.g. that the demo's labels follow from its making).
    `expected` are the right counts of `stories`, `systems`, `story_prompts`, `ratings`, `pairs`; empty = unknown.
    `decoded` describes what the reader decodes, if the file has a documented encoding.
    `with_text` names the dataset of only the stories with a text, if some here have none.
    `labels` are scales of criteria whose ratings are labels; such a rating's value is the label's code.
    `left_out` gives the number of entries that the reader leaves out because they are no ratings, by description."""

    name: str
    files: tuple[Path, ...]
    stories: Callable[[], Iterator[Story]]
    rater_identity: bool | None = None
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
        """Hash of the files' bytes in order, of the column map, and of `decoded`. Paths do not matter."""
        content: dict[str, Any] = {"files": [fingerprint_file(f) for f in self.files], "columns": dict(self.columns)}
        # Datasets of which nothing is decoded keep the hash that journals made before this field hold.
        return fingerprint(content | ({"decoded": self.decoded} if self.decoded else {}))
