"""The types of automatic measures; a family computes several together, such as the 24 scores of ROUGE."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from judge.base.records import Story

# Inputs of a measure beside the text; `corpus` are all reference stories of the dataset.
Need = Literal["reference", "story-prompt", "corpus", "wordnet", "lm", "encoder", "sentence-encoder", "seq2seq", "mlm"]

# Needs that a person names a model for, and what it must be.
MODELS: Mapping[Need, str] = {
    "lm": "a causal language model",
    "encoder": "an encoder whose tokens have vectors",
    "sentence-encoder": "a sentence-transformers model",
    "seq2seq": "an encoder-decoder",
    "mlm": "a masked language model",
}

# Whether more is said to be better, worse, or nothing is said.
Direction = Literal[1, 0, -1]


class Item(NamedTuple):
    """A measure's input for one story; its system and human ratings are withheld on purpose."""

    text: str
    reference: str
    story_prompt: str

    @classmethod
    def of(cls, story: Story) -> Item:
        """A missing reference or story-prompt becomes ""."""
        return cls(story.text, story.reference or "", story.story_prompt)


@dataclass(frozen=True, slots=True)
class Undefined:
    """Stands in place of a number that is undefined; `reason` says why."""

    reason: str


Value = float | Undefined


@dataclass(frozen=True, slots=True)
class Scored:
    """A story's values by the measures' keys; `cut`: a model read only the beginning of a text."""

    values: Mapping[str, Value]
    cut: bool = False


@dataclass(frozen=True, slots=True)
class Tools:
    """Resources beside each story's texts; `references` are the dataset's distinct reference stories. `models` maps a
    need to a model's name; `cache` is for data that can be computed again; `wordnet` is its folder; `progress(what,
    done, total)` is called."""

    references: Sequence[str] = ()
    models: Mapping[Need, str] = field(default_factory=dict)
    cache: Path | None = None
    wordnet: Path | None = None
    progress: Callable[[str, int, int], None] | None = None


@dataclass(frozen=True, slots=True)
class Measure:
    """One measure: a column of values.

    `key` is that in the family's values. `direction`: 1 = larger is said to be better, -1 = smaller, 0 = neither.
    `recipe` says how it is computed, precisely enough to reproduce it. `as_published`: it repeats what a study
    released, mistakes included; a story that is its own reference then has the formula's value, and is otherwise
    undefined."""

    name: str
    key: str
    direction: Direction
    recipe: str
    as_published: bool = False


@dataclass(frozen=True, slots=True)
class Family:
    """Measures that are computed together; `source` is the publication or program.

    `score` computes distinct items that have all parts in `needs`. The cache key has the versions of `distributions`,
    `version` (raised when values change), `identity` (of the models for the needs) and, if `whole`, all references of
    the dataset, on which values then depend. `extra` is the dependency group with the packages."""

    name: str
    source: str
    measures: tuple[Measure, ...]
    score: Callable[[Sequence[Item], Tools], list[Scored]]
    needs: tuple[Need, ...] = ()
    distributions: tuple[str, ...] = ()
    extra: str = "measures"
    version: int = 1
    identity: Callable[[Mapping[Need, str]], str] = field(default=lambda models: ", ".join(models.values()))
    whole: bool = False
