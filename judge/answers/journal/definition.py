"""Checks a journal's stored definition, which says what was asked, before anything is read by it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judge.base.errors import TELLS_INTACT, RunFolderError
from judge.base.foreign import invalid
from judge.base.records import Criterion, Structured

_HINT = f"{TELLS_INTACT}; copy the folder again from where it came"


class _Published(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    file: str
    outer: dict[str, str]
    tasks: list[Annotated[list[str], Field(min_length=3, max_length=3)]]


class _Chosen(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow")
    set: str


class _Definition(BaseModel):
    model_config = ConfigDict(strict=True, extra="allow", allow_inf_nan=False)
    # Fields by which journals are read; those with None are missing in journals of earlier versions.
    name: str
    dataset: str | None = None
    dataset_name: str
    dataset_hash: str
    criteria_records: list[dict[str, Any]]
    criteria: _Chosen
    published: _Published | None = None
    eval_prompts: dict[str, str]
    eval_prompt_sources: dict[str, str]
    structured: Structured
    scoring: Literal["text", "logprobs"] | None = None
    generation: dict[str, float | int | str | list[str] | None]
    system: str | None
    api: str | None = None
    judge_key: str | None = None
    labels_note: str | None = None
    rater_identity: bool | str | None = None
    people: dict[str, str] | None = None
    rating_patterns: dict[str, str] | None = None
    joint: dict[str, list[str]] | None = None
    orders: str | None = None
    ties: bool | None = None
    writes: bool | None = None
    shard: dict[str, Any] | None = None


def checked_definition(definition: Any, journal: Path) -> Any:
    """The definition as stored. Raises RunFolderError, naming the field, for one by which no answer can be read."""
    try:
        _Definition.model_validate(definition)
        for record in definition["criteria_records"]:
            Criterion.of(record)
        if definition["eval_prompts"].keys() != definition["eval_prompt_sources"].keys():
            raise ValueError("names other Eval-Prompts than it has templates of")
    except ValidationError as error:
        raise RunFolderError(f"{journal}: its definition {invalid(error)}", hint=_HINT) from error
    except (KeyError, TypeError, ValueError) as error:
        wrong = f"a criterion has no {error}" if isinstance(error, KeyError) else f"something in it {error}"
        raise RunFolderError(f"{journal}: its definition cannot be used: {wrong}", hint=_HINT) from error
    return definition
