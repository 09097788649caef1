"""Scores files: JSON Lines with a header and one line for each text, with its hash in place of the text.

The header names the model (name, revision, hashes of tokenizer and weights) and the settings, counts texts that were
cut or have no score, with reasons, and holds the thresholds with rule and labelled set. Scores of different models or
settings are not compared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from judge.backends.protocol import ScorerFacts
from judge.base.errors import DataError, SpecError, unknown
from judge.base.files import write_whole, writing
from judge.base.wording import PLAIN, Advice, written
from judge.contamination.scoring import Scored
from judge.version import __version__

Floats = NDArray[np.float64]
FORMAT = "judge-contamination-scores/1"


@dataclass(frozen=True, slots=True)
class Row:
    """Line about one text, whose hash is `text`; `undefined` gives the reason for each score that is None. `label`: the
    model has seen the text (None = unknown). `group` is its book."""

    id: str
    text: str
    system: str | None
    label: bool | None
    group: str | None
    tokens: int
    truncated: bool
    scores: Mapping[str, float | None]
    undefined: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class ScoresFile:
    """A header (plain values), and one row for each text."""

    header: Mapping[str, Any]
    rows: tuple[Row, ...]

    @property
    def facts(self) -> ScorerFacts:
        return ScorerFacts(**self.header["model"])

    @property
    def judge(self) -> str:
        """Name of the model as ``provider/name``."""
        return str(self.header["judge"])

    @property
    def names(self) -> list[str]:
        """Names of the scores that the file holds, such as `min_k_20`."""
        return list(self.rows[0].scores) if self.rows else []

    def score(self, name: str) -> Floats:
        """Values of one score, NaN = undefined; raises SpecError for an unknown name."""
        if name not in self.names:
            raise SpecError(unknown("score", name, self.names))
        return np.array([np.nan if (v := row.scores[name]) is None else v for row in self.rows], dtype=np.float64)

    def why_undefined(self, name: str) -> dict[str, int]:
        """Numbers of texts without the score, by reason."""
        return dict(Counter(row.undefined[name] for row in self.rows if name in row.undefined))

    @property
    def labels(self) -> NDArray[np.bool_] | None:
        """Whether the model has seen each text, shape (texts,); None if any text lacks a label."""
        if any(row.label is None for row in self.rows):
            return None
        return np.array([row.label for row in self.rows], dtype=np.bool_)

    @property
    def truncated(self) -> int:
        """Number of texts cut to the model's context length."""
        return sum(row.truncated for row in self.rows)


def assemble(
    source: str,
    judge: str,
    facts: ScorerFacts,
    settings: Mapping[str, Any],
    scored: Sequence[Scored],
    *,
    reference: ScorerFacts | None = None,
    notes: Sequence[str] = (),
) -> ScoresFile:
    """Scores file of the text set `source` and the model `judge`, without thresholds yet."""
    rows = []
    for scored_text in scored:
        values = {name: estimate.value for name, estimate in scored_text.scores.items()}
        why = {name: str(estimate.reason) for name, estimate in scored_text.scores.items() if estimate.value is None}
        text = scored_text.text
        rows.append(
            Row(
                text.id,
                text.key,
                text.system,
                text.label,
                text.group,
                scored_text.tokens,
                scored_text.truncated,
                values,
                why,
            )
        )
    header = {
        "format": FORMAT,
        "source": source,
        "judge": judge,
        "model": asdict(facts),
        "reference": None if reference is None else asdict(reference),
        "settings": dict(settings),
        "texts": len(rows),
        "truncated": sum(row.truncated for row in rows),
        "thresholds": {},
        "without_threshold": {},
        "notes": list(notes),
        "version": __version__,
    }
    return ScoresFile(header, tuple(rows))


def only(scores: ScoresFile, keep: Callable[[Row], bool]) -> ScoresFile:
    """The scores file restricted to the texts that `keep` selects."""
    rows = tuple(row for row in scores.rows if keep(row))
    counted = {"texts": len(rows), "truncated": sum(row.truncated for row in rows)}
    return ScoresFile({**scores.header, **counted}, rows)


def with_thresholds(
    scores: ScoresFile, thresholds: Mapping[str, Any], without: Mapping[str, str] | None = None
) -> ScoresFile:
    """The scores file with records `{rule, value, set, texts, auc, ...}` by score, and reasons for scores without
    one."""
    more = {"thresholds": dict(thresholds), "without_threshold": dict(without or {})}
    return replace(scores, header={**scores.header, **more})


def write(path: Path, scores: ScoresFile) -> None:
    """Write a scores file. If writing fails, no partial file is left; raises SpecError."""
    without = {name: written(why, PLAIN) for name, why in scores.header["without_threshold"].items()}
    header = {**scores.header, "without_threshold": without}
    lines = [orjson.dumps(header), *(orjson.dumps(asdict(row)) for row in scores.rows)]
    with writing(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, b"\n".join(lines) + b"\n")


_MAKE = Advice("make one: judge contamination score DATASET {model} ...")


def read(path: Path) -> ScoresFile:
    """Read a scores file. Raises DataError if the file has another format or lines are missing."""
    if not path.is_file():
        raise DataError("there is no such file", file=path, hint=_MAKE)
    lines = path.read_bytes().splitlines()
    try:
        header = orjson.loads(lines[0]) if lines else {}
        if not isinstance(header, dict) or header.get("format") != FORMAT:
            stated = header.get("format") if isinstance(header, dict) else None
            raise DataError("not a scores file", file=path, row=1, found=stated, allowed=FORMAT, hint=_MAKE)
        rows = tuple(Row(**orjson.loads(line)) for line in lines[1:] if line.strip())
    except (orjson.JSONDecodeError, TypeError) as error:
        raise DataError(f"not a line of a scores file: {error}", file=path) from error
    if len(rows) != header["texts"]:
        raise DataError(f"it promises {header['texts']} texts and holds {len(rows)}", file=path)
    return ScoresFile(header, rows)


def is_scores_file(path: Path) -> bool:
    """Whether the file exists and its first line is the header of a scores file."""
    if not path.is_file():
        return False
    with path.open("rb") as stream:
        return FORMAT.encode() in stream.readline(1 << 16)


def different_model(first: ScorerFacts, second: ScorerFacts) -> str | None:
    """Why two descriptions are of different models; None if they may be of the same. The hashes of the weights decide
    if both are known; else names, revisions and tokenizers are compared."""
    if None not in (first.weights, second.weights):
        return None if first.weights == second.weights else f"the weights of {first.model} and {second.model} differ"
    if _base(first.model) != _base(second.model):
        return f"{first.model} is not {second.model}"
    for name in ("revision", "tokenizer"):
        values = getattr(first, name), getattr(second, name)
        if None not in values and values[0] != values[1]:
            return f"{first.model} has another {name}"
    return None


def _base(model: str) -> str:
    return model.rstrip("/").casefold()
