"""Schema of a run definition (`run.yaml`). It is strict, and generation settings have no hidden defaults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from judge.asking.run_definition import judges as judge_lists
from judge.asking.run_definition.judges import refuse_foreign
from judge.backends.engine_keys import SPEED
from judge.base import yaml_file
from judge.base.credentials import written_keys as literal
from judge.base.credentials.providers import JudgeName
from judge.base.errors import SpecError, nearest, yaml_mistake
from judge.base.fingerprint import fingerprint
from judge.base.records import CHOICES, Generation
from judge.base.wording import Advice

_NEAR_KEYS = frozenset({"headers", "engine", "base_url", "api_key_env"})


def listed(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(listed), Field(min_length=1)]


NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]*$"


class Strict(BaseModel):
    """Base class of definitions. Unknown keys are errors, and values are not converted between types."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


class GenerationSpec(Strict):
    """Settings for generating answers, in a run definition. A setting that is left out is not sent, and the provider's
    default applies.
    """

    temperature: float | None = Field(None, ge=0, description="sampling temperature")
    top_p: float | None = Field(None, gt=0, le=1, description="probability mass for nucleus sampling")
    max_tokens: int | None = Field(None, ge=1, description="length of the longest answer, in tokens")
    seed: int | None = Field(None, description="random seed; repeat i has seed + i and a call of its own")
    stop: list[str] = Field(default_factory=list, description="list of strings that end an answer")

    def record(self) -> Generation:
        """The settings as an immutable `Generation`, as queries carry them."""
        return Generation(self.temperature, self.top_p, self.max_tokens, self.seed, tuple(self.stop))


class CriteriaSpec(Strict):
    """Choice of criteria in a run definition: a set, given by name or file (`set`); optionally a selection from it
    (`only`); and optionally a file with a study's texts as published (`wording`).
    """

    set: str = Field(description="name of a shipped criteria set, or a YAML file")
    only: list[str] | None = Field(
        None, description="names or abbreviations of criteria; all of the set where this is left out"
    )
    wording: str | None = Field(None, description="file of a study that holds the strings as published")


def _criteria(value: Any) -> Any:
    return {"set": value} if isinstance(value, str) else value


class PairsSpec(Strict):
    """Choice of the pairs of stories to compare, where the run definition's key `pairs` is neither `all` nor
    `given`.
    """

    each: int | None = Field(
        None, ge=1, description="number of others for its story-prompt with which each story is compared"
    )
    seed: int | None = Field(None, description="seed for the draw of those others; 0 where it is left out")
    against: str | None = Field(None, min_length=1, description="system with whose stories each story is compared")
    file: str | None = Field(
        None, min_length=1, description="JSON Lines file with the keys first and second, and perhaps id"
    )


_PAIRS_TAKES = "pairs is all, given, {each: K}, {against: SYSTEM} or {file: pairs.jsonl}"


def _pairs(value: Any) -> Any:
    # A single message for a mistake; a union type would give one for each member.
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
        path = ".".join(map(str, first["loc"]))
        raise PydanticCustomError("pairs", "{takes}", {"takes": f"{_PAIRS_TAKES}: {path} {first['msg']}"}) from None


class Reached(Strict):
    """Address of a model, settings of the inference engine that runs it, and limits on requests: the keys common to
    run.yaml and generate.yaml.
    """

    base_url: Annotated[list[str], BeforeValidator(listed)] = Field(
        default_factory=list, description="address of the server, or a list of addresses"
    )
    revision: str | None = Field(None, description="model revision, part of the judge's identity")
    identity: str | None = Field(
        None, description="name under which executors count as the same judge; their answers may then share a journal"
    )
    engine: dict[str, Any] = Field(
        default_factory=dict, description="settings for the engine's start and sampling; part of the judge's identity"
    )
    headers: dict[str, str] = Field(
        default_factory=dict, description="HTTP headers of each request; a value that is a key is written ${NAME}"
    )
    api_key_env: str | None = Field(
        None, description="environment variable with the server's key, none for no key; left out: the provider's own"
    )
    concurrency: int = Field(64, ge=1, le=4096, description="largest number of requests in flight")
    requests_per_minute: int | None = Field(None, ge=1, description="largest number of requests in any minute")
    tokens_per_minute: int | None = Field(
        None, ge=1, description="largest number of tokens, of prompts and (estimated) answers, in any minute"
    )
    attempt_timeout: float = Field(
        120.0, gt=0, description="number of seconds until a server's answer counts as a timeout (hf, local: no limit)"
    )
    probe_timeout: float = Field(
        3.0,
        gt=0,
        description="seconds in which a server must answer the first check; more for models that load first",
    )
    max_attempts: int = Field(8, ge=1, description="number of attempts for a repeat before it counts as failed")
    note: str | None = Field(None, description="sentence printed under every table, e.g. what the ratings cannot show")
    max_cost: float | None = Field(
        None, ge=0, description="largest cost, in the price table's currency; the run stops before it spends more"
    )


def judge_key_of(judge: str, how: Reached) -> str:
    """Fingerprint of provider, model, revision and engine settings. A declared `identity` replaces provider and model,
    so that, for example, a server, an engine in this process and a batch file count as one judge."""
    provider, model = JudgeName.of(judge)
    engine = {k: v for k, v in how.engine.items() if k not in SPEED}
    who = {"identity": how.identity} if how.identity else {"provider": provider, "identity": model}
    return fingerprint({**who, "revision": how.revision, "engine": engine})


# Keys of a run that compares stories.
OF_PAIRS = ("pairs", "orders", "ties", "across")


class _Asked(Strict):
    """Keys of run.yaml about the content of queries. They are a separate class so that they precede the keys about
    address, engine and limits (`Reached`).
    """

    name: str = Field(
        pattern=NAME, description="name, of letters, digits, dot, dash and underscore; default: the folder's"
    )
    dataset: str = Field(description="name of a known dataset, or a file of stories")
    columns: dict[str, Any] | None = Field(None, description="column map, where the file is not in native form")
    judge: str = Field(description="provider/model, e.g. openai/gpt-4o-mini, or surface")
    criteria: Annotated[CriteriaSpec, BeforeValidator(_criteria)] = Field(
        description="set name, file, or {set, only, wording}"
    )
    people: dict[str, str] | None = Field(
        None,
        description="criterion -> people's criterion that it is compared with, where people's has another name",
    )
    eval_prompts: Names = Field(description="name or file of an Eval-Prompt, or a list of them")
    pairs: Annotated[Literal["all", "given"] | PairsSpec | None, BeforeValidator(_pairs)] = Field(
        None, description="pairs that are compared: all, given, {each: K}, {against: SYSTEM} or {file: FILE}"
    )
    orders: Literal["both", "random", "as-given"] = Field(
        "both", description="order in which a pair's stories are shown"
    )
    ties: bool = Field(default=True, description="whether a tie is offered as a verdict")
    across: bool = Field(default=False, description="whether stories for different story-prompts are compared too")
    repeats: int = Field(1, ge=1, le=1000, description="number of independent answers to each query")
    generation: GenerationSpec = Field(
        default_factory=GenerationSpec,
        description="generation settings; one that is left out is not sent, and the provider's default holds",
    )
    api: Literal["chat", "completions", "responses"] = Field("chat", description="route of the server's API")
    system: str | None = Field(None, description="system message put before every query")
    structured: Literal["none", "choice", "json", "json-explanation-first"] = Field(
        "none", description="form to which the server is asked to constrain answers"
    )
    scoring: Literal["text", "logprobs"] = Field(
        "text",
        description="source of the rating; logprobs: expected value over the scale's tokens, where one is stated",
    )


class RunSpec(Reached, _Asked):
    """Complete definition of one judge's run."""

    @model_validator(mode="after")
    def _of_pairs(self) -> RunSpec:
        defaults = {"orders": "both", "ties": True, "across": False}
        changed = [key for key, usual in defaults.items() if getattr(self, key) != usual]
        if self.pairs is None and changed:
            raise PydanticCustomError("unpaired", "{key} says how stories are compared", {"key": changed[0]})
        return self

    @property
    def choices(self) -> tuple[str, ...]:
        """Possible verdicts of a comparison: first, second and, if offered, tie; () if stories are rated."""
        return () if self.pairs is None else CHOICES if self.ties else CHOICES[:2]

    def keys_in_force(self) -> dict[str, Any]:
        """All keys with the values in effect; keys of comparisons and `people` only if they are set."""
        unsaid = (set() if self.pairs is not None else set(OF_PAIRS)) | (set() if self.people else {"people"})
        return self.model_dump(exclude=unsaid)

    @property
    def provider(self) -> str:
        return JudgeName.of(self.judge).provider

    def judge_key(self) -> str:
        """Fingerprint of the judge (see `judge_key_of`)."""
        return judge_key_of(self.judge, self)


_Spec_co = TypeVar("_Spec_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Specs(Generic[_Spec_co]):
    """Definitions, one for each judge or writing model. With several, `max_cost` is the budget of all together."""

    asked: tuple[_Spec_co, ...]
    max_cost: float | None = None


def load_run_spec(path: Path, overrides: Iterable[str] = (), *, revision: str | None = judge_lists.ANY) -> RunSpec:
    """run.yaml as the definition of one judge. `overrides` are `key=value`, with dots for nested keys and values in
    YAML; `judge=NAME` selects one of several, with `revision`. Raises SpecError if more than one remains."""
    specs = load_run_specs(path, overrides, revision=revision).asked
    if len(specs) > 1:
        names = ", ".join(dict.fromkeys(spec.judge for spec in specs))
        raise SpecError(
            f"{path} names {len(specs)} judges, and one is wanted: {names}",
            hint=Advice("{overrides}", overrides="judge=NAME"),
        )
    return specs[0]


def load_run_specs(
    path: Path, overrides: Iterable[str] = (), judges: Sequence[str] = (), *, revision: str | None = judge_lists.ANY
) -> Specs[RunSpec]:
    """run.yaml as one definition for each judge, or for each of `judges`: one listed under `judges:` has its entry's
    keys, any other only the run's. Overrides apply to each, except `max_cost`, for all together."""
    data = read_definition(path)
    if "writer_prompts" in data:
        raise SpecError(f"{path} defines stories to write, and asks no judge", hint=f"judge data generate {path}")
    named, of_run, of_each = _sorted(overrides)
    overridden = {_key(pair) for pair in of_each}
    refuse_foreign({key: value for key, value in data.items() if key not in overridden}, path.parent, str(path))
    _apply(data, of_run)
    if data.get("name") is None:
        data["name"] = named_after(path)
    kept = [key for key in judge_lists.OF_ONE if not any(_key(pair) == key for pair in of_each)]
    definitions = judge_lists.definitions(data, list(judges) or named, str(path), revision=revision, kept=kept)
    for definition in definitions:
        _apply(definition.data, of_each)
    most = data.get("max_cost")
    if len(definitions) == 1:
        (only,) = definitions
        return Specs((parse_run_spec(only.within(most), only.where),))
    # What all share is checked first, so that a mistake there is not named as one of the first judge.
    together = parse_run_spec(_base(data, definitions[0], of_each), str(path)).max_cost
    return Specs(tuple(parse_run_spec(definition.data, definition.where) for definition in definitions), together)


def names_judge(path: Path, judge: str, revision: str | None = judge_lists.ANY) -> bool:
    """Whether run.yaml lists this judge with this revision. True for a file without a list of judges."""
    data = read_definition(path)
    return "judges" not in data or bool(judge_lists.chosen(judge_lists.entries(data, str(path)), judge, revision))


def _base(data: dict[str, Any], first: judge_lists.Definition, of_each: Sequence[str]) -> dict[str, Any]:
    base = judge_lists.shared(data) | {"judge": first.data.get("judge")}
    _apply(base, of_each)
    return base | ({"max_cost": data["max_cost"]} if "max_cost" in data else {})


def _sorted(overrides: Iterable[str]) -> tuple[list[str], list[str], list[str]]:
    # If several overrides select a judge, the last one counts.
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
    return pair.partition("=")[0].strip().partition(".")[0]


def _apply(data: dict[str, Any], overrides: Iterable[str]) -> None:
    for pair in overrides:
        override(data, pair)
        literal.refuse_keys(data, Advice("{overrides}"))


def read_definition(path: Path) -> dict[str, Any]:
    """A definition as plain data. Raises SpecError if the file cannot be read or contains an API key."""
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
    """Name of the folder for run.yaml, otherwise the file's name without suffix."""
    return path.resolve().parent.name if path.name == "run.yaml" else path.stem


def named_after(path: Path) -> str:
    name = default_name(path)
    if not re.match(NAME, name):
        message = f"{path}: key 'name' is missing, and {name!r} cannot replace it"
        raise SpecError(message, hint="a name has letters, digits, dot, dash and underscore: add `name: my-run`")
    return name


def json_schema() -> dict[str, Any]:
    """JSON Schema of run.yaml. `name` is optional, because `load_run_spec` fills it in; `judges` may replace
    `judge`."""
    schema = RunSpec.model_json_schema()
    properties = schema["properties"]
    entry = {
        "type": "object",
        "properties": {key: properties[key] for key in judge_lists.ENTRY},
        "required": ["judge"],
        "additionalProperties": False,
    }
    properties["judges"] = {
        "description": "list of several judges that run side by side, each with keys of its own",
        "type": "array",
        "minItems": 1,
        "items": {"anyOf": [{"type": "string"}, entry]},
    }
    schema["required"] = [key for key in schema["required"] if key not in ("name", "judge")]
    schema["oneOf"] = [{"required": ["judge"]}, {"required": ["judges"]}]
    return schema


def parse_run_spec(data: dict[str, Any], where: str) -> RunSpec:
    """Plain data checked as run.yaml. Raises SpecError that names each mistake's key, and the nearest known one."""
    try:
        return RunSpec.model_validate(data)
    except ValidationError as error:
        lines = mistakes(error, _keys)
        hint = Advice("judge run {print_schema} shows every key", print_schema=True)
        raise SpecError(f"{where}: {'; '.join(lines)}", hint=hint) from error


def override(data: dict[str, Any], pair: str) -> None:
    """Set one `key=value` in place. Dots in the key lead to nested keys, and the value is YAML."""
    key, equals, value = pair.partition("=")
    if not equals:
        # What stands behind the key's name may be a secret, so it is never repeated.
        form = Advice("{overrides} {} needs the form key=value", _quoted_key(pair))
        raise SpecError(form, hint=Advice("e.g. {overrides}", overrides="repeats=3"))
    *parents, last = key.strip().split(".")
    target = data
    for parent in parents:
        child = target.setdefault(parent, {})
        if not isinstance(child, dict):
            raise SpecError(Advice("{overrides} {}: {!r} holds a single value, not keys", _quoted_key(pair), parent))
        target = child
    try:
        target[last] = yaml_file.load(value)
    except yaml.YAMLError as error:
        raise SpecError(Advice("{overrides} {}: the value is not valid YAML", _quoted_key(pair))) from error


def _quoted_key(pair: str) -> str:
    match = re.match(r"[A-Za-z_.]*", pair)
    return repr(match.group() if match else "")


def mistakes(error: ValidationError, keys: Callable[[list[str]], set[str]]) -> list[str]:
    """A sentence for each mistake. `keys` gives the keys allowed in a nested part, from those that lead to it."""
    return [_mistake(dict(mistake), keys) for mistake in error.errors()]


def _mistake(error: dict[str, Any], keys: Callable[[list[str]], set[str]]) -> str:
    path = [str(part) for part in error["loc"]]
    where = ".".join(path)
    if error["type"] == "unpaired":
        return f"{error['msg']}, and the run has no pairs: add pairs (all, given, ...), or leave it out"
    if not path:
        return str(error["msg"])
    if error["type"] == "pairs":
        return f"{error['msg']}; found {str(error['input'])[:60]!r}"
    if error["type"] == "extra_forbidden":
        allowed = keys(path[:-1])
        close = nearest(path[-1], allowed)
        guess = f", did you mean {close!r}?" if close else f" (known: {', '.join(sorted(allowed))})"
        return f"unknown key {where!r}{guess}"
    if error["type"] == "missing":
        return f"key {where!r} is missing"
    # Where keys may stand by mistake, what was found is not repeated.
    value = type(error["input"]).__name__ if path[0] in _NEAR_KEYS else repr(str(error["input"])[:60])
    return f"{where}: {error['msg'][0].lower()}{error['msg'][1:]}; found {value}"


def _keys(parents: list[str]) -> set[str]:
    if parents[:1] == ["generation"]:
        return set(GenerationSpec.model_fields)
    if parents[:1] == ["criteria"]:
        return set(CriteriaSpec.model_fields)
    if parents[:1] == ["pairs"]:
        return set(PairsSpec.model_fields)
    return {*RunSpec.model_fields, "judges"}
