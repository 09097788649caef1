"""A run's definition (`run.yaml`): strict, with no hidden default for generation. Never looks at data or servers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from judge import yaml_file
from judge.backends.engine_keys import SPEED
from judge.credentials import literal
from judge.errors import SpecError, nearest, yaml_mistake
from judge.fingerprint import fingerprint
from judge.judge_name import JudgeName
from judge.records import CHOICES, Generation
from judge.run_definition import judges as judge_lists
from judge.run_definition.foreign import refuse_foreign
from judge.wording import Advice

_NEAR_KEYS = frozenset({"headers", "engine", "base_url", "api_key_env"})


def _listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_listed), Field(min_length=1)]


_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class GenerationSpec(_Strict):
    """How the judge is to generate. What is not said is the provider's default and is not sent."""

    temperature: float | None = Field(None, ge=0, description="sampling temperature")
    top_p: float | None = Field(None, gt=0, le=1, description="nucleus sampling")
    max_tokens: int | None = Field(None, ge=1, description="longest answer, in tokens")
    seed: int | None = Field(None, description="repeat i is asked with seed + i, one call for each repeat")
    stop: list[str] = Field(default_factory=list, description="strings that end an answer")

    def record(self) -> Generation:
        """As the plain value that queries carry."""
        return Generation(self.temperature, self.top_p, self.max_tokens, self.seed, tuple(self.stop))


class CriteriaSpec(_Strict):
    """Which criteria: a set by name or file, some of it, and whose wording."""

    set: str = Field(description="name of a shipped criteria set, or a YAML file")
    only: list[str] | None = Field(None, description="names or abbreviations; all when not said")
    wording: str | None = Field(None, description="a study's file with the strings as published")


def _criteria(value: Any) -> Any:
    return {"set": value} if isinstance(value, str) else value


class PairsSpec(_Strict):
    """Which pairs of stories are compared, where no word says it."""

    each: int | None = Field(None, ge=1, description="each story with so many others of its story-prompt")
    seed: int | None = Field(None, description="draws those others; 0 where it is not said")
    against: str | None = Field(None, min_length=1, description="each story with those of this system")
    file: str | None = Field(None, min_length=1, description="JSON Lines with first and second, and perhaps id")


_PAIRS_TAKES = "pairs is all, given, {each: K}, {against: SYSTEM} or {file: pairs.jsonl}"


def _pairs(value: Any) -> Any:
    """Checked here as a whole: a union would name a mistake once for each of its members."""
    if value is None or value in ("all", "given"):
        return value
    if not isinstance(value, dict) or len(set(value) & {"each", "against", "file"}) != 1:
        raise PydanticCustomError("pairs", "{takes}", {"takes": _PAIRS_TAKES})
    if "seed" in value and "each" not in value:
        raise PydanticCustomError("pairs", "seed goes with each: it draws whom each story is compared with")
    try:
        return PairsSpec.model_validate(value)
    except ValidationError as error:
        (first, *_) = error.errors()
        place = ".".join(map(str, first["loc"]))
        raise PydanticCustomError("pairs", "{takes}", {"takes": f"{_PAIRS_TAKES}: {place} {first['msg']}"}) from None


OF_PAIRS = ("pairs", "orders", "ties", "across")
"""Keys of a run that compares stories."""


class RunSpec(_Strict):
    """Everything that defines a run."""

    name: str = Field(pattern=_NAME, description="letters, digits, dot, dash, underscore; default: the folder's name")
    dataset: str = Field(description="name of a known dataset, or a file of stories")
    columns: dict[str, Any] | None = Field(None, description="column map, where the file is not in native form")
    judge: str = Field(description="provider/model, e.g. openai/gpt-4o-mini, or surface")
    criteria: Annotated[CriteriaSpec, BeforeValidator(_criteria)] = Field(
        description="set name, file, or {set, only, wording}"
    )
    people: dict[str, str] | None = Field(
        None,
        description="criterion -> people's criterion that it is set against, where people rated it by another name",
    )
    eval_prompts: Names = Field(description="one name or file, or a list of them")
    pairs: Annotated[Literal["all", "given"] | PairsSpec | None, BeforeValidator(_pairs)] = Field(
        None, description="which stories are compared: all, given, {each: K}, {against: SYSTEM} or {file: FILE}"
    )
    orders: Literal["both", "random", "as-given"] = Field("both", description="which of a pair is shown first")
    ties: bool = Field(default=True, description="offer a tie as a verdict")
    across: bool = Field(default=False, description="compare stories for different story-prompts too")
    repeats: int = Field(1, ge=1, le=1000, description="independent answers to each query")
    generation: GenerationSpec = Field(
        default_factory=GenerationSpec,
        description="what is not said is the provider's default, and is not sent",
    )
    api: Literal["chat", "completions", "responses"] = Field("chat", description="which route of the server")
    system: str | None = Field(None, description="system message put before every query")
    structured: Literal["none", "choice", "json", "json-explanation-first"] = Field(
        "none", description="ask the server to constrain the answer"
    )
    scoring: Literal["text", "logprobs"] = Field(
        "text", description="logprobs: the rating is the expected value over the scale's tokens where one is stated"
    )
    base_url: Annotated[list[str], BeforeValidator(_listed)] = Field(
        default_factory=list, description="server, or several"
    )
    revision: str | None = Field(None, description="model revision, part of the judge's identity")
    identity: str | None = Field(
        None, description="name under which executors count as the same judge; their answers may then share a journal"
    )
    engine: dict[str, Any] = Field(
        default_factory=dict, description="how the engine is started and sampled; part of the judge's identity"
    )
    headers: dict[str, str] = Field(
        default_factory=dict, description="sent with each request; a value that is a key is written ${NAME}"
    )
    api_key_env: str | None = Field(
        None, description="environment variable with the server's key, none for no key; not said: the provider's own"
    )
    concurrency: int = Field(64, ge=1, le=4096, description="requests in flight at most")
    requests_per_minute: int | None = Field(None, ge=1, description="requests sent in any minute at most")
    tokens_per_minute: int | None = Field(
        None, ge=1, description="tokens of prompts and answers in any minute at most; those of answers are estimated"
    )
    attempt_timeout: float = Field(120.0, gt=0, description="seconds until an attempt counts as a timeout")
    probe_timeout: float = Field(
        3.0, gt=0, description="seconds in which a server must show that it is there; more for models that load first"
    )
    max_attempts: int = Field(8, ge=1, description="attempts for a repeat before it counts as failed")
    note: str | None = Field(
        None, description="a sentence to stand under every table, e.g. what the ratings cannot mean"
    )
    max_cost: float | None = Field(None, ge=0, description="stop before spending more, in the price table's currency")

    @model_validator(mode="after")
    def _of_pairs(self) -> RunSpec:
        defaults = {"orders": "both", "ties": True, "across": False}
        said = [key for key, usual in defaults.items() if getattr(self, key) != usual]
        if self.pairs is None and said:
            raise PydanticCustomError("unpaired", "{key} says how stories are compared", {"key": said[0]})
        return self

    @property
    def choices(self) -> tuple[str, ...]:
        """The words of a verdict: first, second and, where it is offered, tie; () where stories are rated."""
        return () if self.pairs is None else CHOICES if self.ties else CHOICES[:2]

    def said(self) -> dict[str, Any]:
        """All keys with their values in force; those of a comparison and `people` only where they are said."""
        unsaid = (set() if self.pairs is not None else set(OF_PAIRS)) | (set() if self.people else {"people"})
        return self.model_dump(exclude=unsaid)

    @property
    def provider(self) -> str:
        """The back-end's name: who asks, as each attempt's session records it."""
        return JudgeName.of(self.judge).provider

    def judge_key(self) -> str:
        """Fingerprint of who judges: provider, identity, revision and engine settings.

        A declared identity stands in the provider's and the model's place: whoever declares it says that a server, an
        engine in this process and a batch file are one judge.
        """
        provider, model = JudgeName.of(self.judge)
        engine = {k: v for k, v in self.engine.items() if k not in SPEED}
        who = {"identity": self.identity} if self.identity else {"provider": provider, "identity": model}
        return fingerprint({**who, "revision": self.revision, "engine": engine})


@dataclass(frozen=True, slots=True)
class RunSpecs:
    """A run's definition, once for each judge. `max_cost` is what all of them may spend together, where there are
    several; one judge's own stands in its definition.
    """

    judges: tuple[RunSpec, ...]
    max_cost: float | None = None


def load_run_spec(path: Path, overrides: Iterable[str] = (), *, revision: str | None = judge_lists.ANY) -> RunSpec:
    """Read run.yaml; `overrides` are `key=value`, with dots for nested keys and values in YAML.

    Of a list of judges, `judge=NAME` among the overrides names the one that is meant, and `revision` which of it.
    """
    found = load_run_specs(path, overrides, revision=revision).judges
    if len(found) > 1:
        names = ", ".join(dict.fromkeys(spec.judge for spec in found))
        raise SpecError(
            f"{path} names {len(found)} judges, and one is wanted: {names}",
            hint=Advice("{overrides}", overrides="judge=NAME"),
        )
    return found[0]


def load_run_specs(
    path: Path, overrides: Iterable[str] = (), judges: Sequence[str] = (), *, revision: str | None = judge_lists.ANY
) -> RunSpecs:
    """Read run.yaml once for each of its judges, or for those that are named in their place.

    A named judge that `judges:` lists comes with its entry; any other has the run's own keys. Overrides hold for each
    judge, but `max_cost`, which is of all.
    """
    data = _read(path)
    named, of_run, of_each = _sorted(overrides)
    said = {_key(pair) for pair in of_each}
    refuse_foreign({key: value for key, value in data.items() if key not in said}, path.parent, str(path))
    _apply(data, of_run)
    if data.get("name") is None:
        data["name"] = _default_name(path)
    kept = [key for key in judge_lists.OF_ONE if not any(_key(pair) == key for pair in of_each)]
    definitions = judge_lists.definitions(data, list(judges) or named, str(path), revision=revision, kept=kept)
    for one in definitions:
        _apply(one.data, of_each)
    most = data.get("max_cost")
    if len(definitions) == 1:
        (only,) = definitions
        return RunSpecs((parse_run_spec(only.within(most), only.where),))
    # What all share is checked first, so that a mistake there is not named as one of the first judge.
    together = parse_run_spec(_base(data, definitions[0], of_each), str(path)).max_cost
    return RunSpecs(tuple(parse_run_spec(one.data, one.where) for one in definitions), together)


def names_judge(path: Path, judge: str, revision: str | None = judge_lists.ANY) -> bool:
    """Whether run.yaml says how this judge is asked: any judge, where it has no list of them."""
    data = _read(path)
    return "judges" not in data or bool(judge_lists.chosen(judge_lists.entries(data, str(path)), judge, revision))


def _base(data: dict[str, Any], first: judge_lists.Definition, of_each: Sequence[str]) -> dict[str, Any]:
    """The run's own keys with some judge, as a definition."""
    base = judge_lists.shared(data) | {"judge": first.data.get("judge")}
    _apply(base, of_each)
    return base | ({"max_cost": data["max_cost"]} if "max_cost" in data else {})


def _sorted(overrides: Iterable[str]) -> tuple[list[str], list[str], list[str]]:
    """The judge that overrides name (the last of them), those of the whole run, and those of each judge."""
    named: list[str] = []
    of_run: list[str] = []
    of_each: list[str] = []
    for pair in overrides:
        key, _, value = pair.partition("=")
        if key.strip() == "judge" and value:
            named = [value.strip()]
        else:
            (of_run if _key(pair) in ("judges", "max_cost", "name") else of_each).append(pair)
    return named, of_run, of_each


def _key(pair: str) -> str:
    """The first key of an override."""
    return pair.partition("=")[0].strip().partition(".")[0]


def _apply(data: dict[str, Any], overrides: Iterable[str]) -> None:
    for pair in overrides:
        override(data, pair)
        literal.refuse_keys(data, Advice("{overrides}"))


def _read(path: Path) -> dict[str, Any]:
    """The file as plain data, without keys in it."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise SpecError(f"{path} does not exist", hint="judge init NAME writes a commented one") from None
    except UnicodeDecodeError as error:
        raise SpecError(f"{path} is not UTF-8 (byte {error.start})") from error
    except OSError as error:
        raise SpecError(f"{path} cannot be read: {error.strerror}") from error
    try:
        data = yaml_file.load(text)
    except yaml.YAMLError as error:
        raise SpecError(f"{path} is not valid YAML: {yaml_mistake(error)}") from error
    if not isinstance(data, dict):
        raise SpecError(f"{path} must hold keys and values, like `dataset: demo`", hint="judge init NAME writes one")
    literal.refuse_keys(data, str(path), text)
    return data


def default_name(path: Path) -> str:
    """What a definition without `name` is called: as its folder, or, for a file that is no run.yaml, as the file."""
    return path.resolve().parent.name if path.name == "run.yaml" else path.stem


def _default_name(path: Path) -> str:
    name = default_name(path)
    if not re.match(_NAME, name):
        message = f"{path}: key 'name' is missing, and {name!r} cannot stand in its place"
        raise SpecError(message, hint="a name has letters, digits, dot, dash and underscore: add `name: my-run`")
    return name


def json_schema() -> dict[str, Any]:
    """run.yaml's JSON Schema. `name` may be missing from a file, as `load_run_spec` fills it in; `judges` may list
    several judges in the place of `judge`.
    """
    schema = RunSpec.model_json_schema()
    properties = schema["properties"]
    entry = {
        "type": "object",
        "properties": {key: properties[key] for key in judge_lists.ENTRY},
        "required": ["judge"],
        "additionalProperties": False,
    }
    properties["judges"] = {
        "description": "several judges, asked side by side, each with keys of its own",
        "type": "array",
        "minItems": 1,
        "items": {"anyOf": [{"type": "string"}, entry]},
    }
    schema["required"] = [key for key in schema["required"] if key not in ("name", "judge")]
    schema["oneOf"] = [{"required": ["judge"]}, {"required": ["judges"]}]
    return schema


def stored_run_spec(data: dict[str, Any], where: str) -> RunSpec:
    """A definition out of a manifest, to ask again by it; programs before this one let keys stand in it."""
    literal.refuse_keys(data, where)
    refuse_foreign(data, Path(where).parent, where)
    return parse_run_spec(data, where)


def parse_run_spec(data: dict[str, Any], where: str) -> RunSpec:
    """Check plain data against the schema; every mistake names its key, and an unknown key the nearest known one."""
    try:
        return RunSpec.model_validate(data)
    except ValidationError as error:
        lines = [_mistake(dict(mistake)) for mistake in error.errors()]
        hint = Advice("judge run {print_schema} shows every key", print_schema=True)
        raise SpecError(f"{where}: {'; '.join(lines)}", hint=hint) from error


def override(data: dict[str, Any], pair: str) -> None:
    """Put one `key=value` into plain data, in place: dots go into nested keys, the value is YAML."""
    key, equals, value = pair.partition("=")
    if not equals:
        # What stands behind the key's name may be a secret, so it is never repeated.
        form = Advice("{overrides} {} needs the form key=value", _shown(pair))
        raise SpecError(form, hint=Advice("e.g. {overrides}", overrides="repeats=3"))
    *parents, last = key.strip().split(".")
    target = data
    for parent in parents:
        child = target.setdefault(parent, {})
        if not isinstance(child, dict):
            raise SpecError(Advice("{overrides} {}: {!r} holds a single value, not keys", _shown(pair), parent))
        target = child
    try:
        target[last] = yaml_file.load(value)
    except yaml.YAMLError as error:
        raise SpecError(Advice("{overrides} {}: the value is not valid YAML", _shown(pair))) from error


def _shown(pair: str) -> str:
    """The name in an override."""
    found = re.match(r"[A-Za-z_.]*", pair)
    return repr(found.group() if found else "")


def _mistake(error: dict[str, Any]) -> str:
    path = [str(part) for part in error["loc"]]
    where = ".".join(path)
    if error["type"] == "unpaired":
        return f"{error['msg']}, and the run has no pairs: add pairs (all, given, ...), or leave it out"
    if error["type"] == "pairs":
        return f"{error['msg']}; found {str(error['input'])[:60]!r}"
    if error["type"] == "extra_forbidden":
        known = _keys(path[:-1])
        close = nearest(path[-1], known)
        guess = f", did you mean {close!r}?" if close else f" (known: {', '.join(sorted(known))})"
        return f"unknown key {where!r}{guess}"
    if error["type"] == "missing":
        return f"key {where!r} is missing"
    # Where keys may stand by mistake, what was found is not repeated.
    found = type(error["input"]).__name__ if path[0] in _NEAR_KEYS else repr(str(error["input"])[:60])
    return f"{where}: {error['msg'][0].lower()}{error['msg'][1:]}; found {found}"


def _keys(parents: list[str]) -> set[str]:
    if parents[:1] == ["generation"]:
        return set(GenerationSpec.model_fields)
    if parents[:1] == ["criteria"]:
        return set(CriteriaSpec.model_fields)
    if parents[:1] == ["pairs"]:
        return set(PairsSpec.model_fields)
    return {*RunSpec.model_fields, "judges"}
