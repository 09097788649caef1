"""One definition for each entry of `judges:`. The run's keys say what is asked, an entry which judge and how it is
reached. Address, API key and engine may only stand in an entry, so that one provider's key is never sent to another's
address."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.backends import IN_PROCESS
from judge.base.credentials.providers import MODELLESS, JudgeName
from judge.base.errors import SpecError, nearest
from judge.base.files import VARIABLE, is_trusted
from judge.base.wording import Advice

# Restricts run definitions that other people wrote. Two things in them need the user's consent.

# Key -> what its files end in; of `dataset` and `story_prompts` the readers see to it.
_SUFFIXES = {
    "eval_prompts": (".jinja",),
    "writer_prompts": (".jinja",),
    "story_prompts": (),
    "criteria.set": (".yaml", ".yml"),
    "criteria.wording": (".json",),
    "pairs.file": (".jsonl", ".ndjson"),
    "dataset": (),
}


def refuse_foreign(data: Mapping[str, Any], folder: Path, where: str) -> None:
    """Raise SpecError where a definition names a file outside `folder`, or lets code that comes with a model run."""
    for key, name in _named(data):
        refuse_file(key, name, folder, where)
    entries = data.get("judges")
    for mapping in (data, *(entries if isinstance(entries, list) else ())):
        engine = mapping.get("engine") if isinstance(mapping, Mapping) else None
        if isinstance(engine, Mapping) and engine.get("trust_remote_code"):
            raise SpecError(
                f"{where}: engine.trust_remote_code would run code of the model, which no run.yaml decides",
                hint=Advice(
                    "if you trust the model's code, take the line out and say it: {overrides}",
                    overrides="engine.trust_remote_code=true",
                ),
            )


def refuse_file(key: str, name: str, folder: Path, where: str) -> None:
    """Raise SpecError where `name`, the value of `key`, is a file outside the folder or of the wrong type. `where` is
    for messages."""
    file = next((path for path in (folder / name, Path(name)) if path.is_file()), None)
    if file is None:
        return
    suffixes = _SUFFIXES[key]
    if suffixes and ("/" in name or "\\" in name or Path(name).suffix) and file.suffix.lower() not in suffixes:
        raise SpecError(f"{where}: {key} {name!r} is no such file: they end in {' or '.join(suffixes)}")
    if not is_trusted(file, folder):
        outside = f"{where}: {key} names a file outside the run's folder: {file.resolve()}"
        words = f"if you mean it: {{overrides}}, or export {VARIABLE}={{}}"
        raise SpecError(outside, hint=Advice(words, file.resolve().parent, overrides=f"{key}={name}"))


def _named(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    # All settings whose value may be a file.
    criteria, pairs, prompts = data.get("criteria"), data.get("pairs"), data.get("eval_prompts")
    parts = criteria if isinstance(criteria, Mapping) else {"set": criteria}
    listed = prompts if isinstance(prompts, list) else [prompts]
    entries: list[tuple[str, Any]] = [("dataset", data.get("dataset"))]
    entries += [(f"criteria.{key}", parts.get(key)) for key in ("set", "wording")]
    entries += [("eval_prompts", name) for name in listed]
    written = data.get("writer_prompts")
    entries += [("writer_prompts", name) for name in (written if isinstance(written, list) else [written])]
    entries.append(("story_prompts", data.get("story_prompts")))
    entries += [("pairs.file", pairs.get("file"))] if isinstance(pairs, Mapping) else []
    for key, value in entries:
        if isinstance(value, str) and value and "\0" not in value:
            yield key, value


# Keys that stand in an entry only.
OF_ONE = ("base_url", "api_key_env", "headers", "engine", "revision", "identity")

# Keys that stand in an entry, or beside `judges` for all entries that do not say them; `max_cost` there is of all.
OF_EACH = (
    "api",
    "system",
    "structured",
    "scoring",
    "generation",
    "concurrency",
    "requests_per_minute",
    "tokens_per_minute",
    "attempt_timeout",
    "probe_timeout",
    "max_attempts",
    "max_cost",
)

# What an entry takes.
ENTRY = ("judge", *OF_ONE, *OF_EACH)

# Keys that every judge of a run shares.
OF_THE_RUN = (
    *("name", "dataset", "columns", "criteria", "people", "eval_prompts", "repeats", "note", "judges"),
    *("pairs", "orders", "ties", "across"),
)


# In the place of a revision: whichever.
ANY = "*"

# Providers that ask no server: an address in the definition is none of theirs.
_LOCAL = IN_PROCESS | MODELLESS


@dataclass(frozen=True, slots=True)
class Definition:
    """One judge's run definition as plain data. `where` names it in error messages."""

    data: dict[str, Any]
    where: str

    def within(self, most: Any) -> dict[str, Any]:
        """The definition for this judge alone, with the lower of its own budget and the run's (`most`, None for no
        limit)."""
        own = self.data.get("max_cost")
        if most is None:
            return self.data
        if isinstance(most, int | float) and isinstance(own, int | float):
            most = min(most, own)
        return self.data | {"max_cost": most}


def definitions(
    data: Mapping[str, Any], names: Sequence[str], where: str, *, revision: str | None = ANY, kept: Sequence[str] = ()
) -> list[Definition]:
    """Each judge's definition (or of the judges in `names`) without the run's budget. `where` is for messages;
    `revision` is that of `names` (`ANY`: all, None: the entry without one). `kept` are keys of one server (such as
    `base_url`) that no override replaces."""
    if "judges" not in data:
        for name in names:
            refuse_address(data, name, where, kept)
        given = names or ([data["judge"]] if data.get("judge") is not None else [])
        return [Definition(_joined(data, {"judge": name}), where) for name in given] or [
            Definition(_joined(data, {}), where)
        ]
    listed = entries(data, where)
    if names:
        listed = [entry for name in names for entry in chosen(listed, name, revision) or [{"judge": name}]]
    return [Definition(_joined(data, entry), f"{where}, judges ({entry['judge']})") for entry in listed]


def shared(data: Mapping[str, Any]) -> dict[str, Any]:
    """A definition without its judges and its budget: the keys that all judges share."""
    return {key: value for key, value in data.items() if key not in ("judge", "judges", "max_cost")}


def entries(data: Mapping[str, Any], where: str) -> list[dict[str, Any]]:
    """The entries of `judges`, after a check of the keys that determine the judge. Raises SpecError with the entry's
    number."""
    listed = data["judges"]
    if "judge" in data:
        raise SpecError(f"{where}: judge and judges exclude each other", hint="write that judge as an entry of judges")
    misplaced = [key for key in OF_ONE if data.get(key) is not None]
    if misplaced:
        raise SpecError(
            f"{where}: {', '.join(misplaced)} beside judges would hold for every provider",
            hint=Advice(
                "write it into the entries it is for, or for all of them: {overrides}", overrides=f"{misplaced[0]}=..."
            ),
        )
    if not isinstance(listed, list) or not listed:
        raise SpecError(
            f"{where}: judges must be a list of judges",
            hint="each entry is a name, `- openai/gpt-4.1-mini`, or keys: `- {judge: openai/MODEL, base_url: ...}`",
        )
    judges = [_entry(entry, f"{where}: judges, entry {number}") for number, entry in enumerate(listed, 1)]
    names = Counter((entry["judge"], entry.get("revision")) for entry in judges)
    twice = [judge for (judge, _), count in names.items() if count > 1]
    if twice:
        raise SpecError(
            f"{where}: judges names {twice[0]} twice, and both would answer into one result folder",
            hint="tell them apart by revision, or put one into a run.yaml of its own",
        )
    return judges


def chosen(judges: Sequence[dict[str, Any]], judge: str, revision: str | None = ANY) -> list[dict[str, Any]]:
    """A judge's entries with the given revision: `ANY` stands for all, None for the entry without one."""
    return [entry for entry in judges if entry["judge"] == judge and revision in (ANY, entry.get("revision"))]


def _joined(data: Mapping[str, Any], entry: Mapping[str, Any]) -> dict[str, Any]:
    # `generation` is merged key by key.
    joined = {**shared(data), **entry}
    both = data.get("generation"), entry.get("generation")
    if isinstance(both[0], Mapping) and isinstance(both[1], Mapping):
        joined["generation"] = {**both[0], **both[1]}
    return deepcopy(joined)


def refuse_address(data: Mapping[str, Any], name: str, where: str, kept: Sequence[str]) -> None:
    """Raise SpecError if `name` would use the address, headers or API key of another provider's judge. `kept` are those
    keys that no override has replaced."""
    own, other = (JudgeName.of(str(judge)).provider for judge in (data.get("judge", ""), name))
    if own == other or not own or {own, other} & _LOCAL:
        return
    for key in ("base_url", "api_key_env", "headers"):
        if data.get(key) and key in kept:
            raise SpecError(
                f"{where}: {key} is for {data['judge']}, and {name} is of another provider",
                hint="list both under judges:, each with its own base_url and key (docs/guides/judges.md)",
            )


def _entry(entry: Any, where: str) -> dict[str, Any]:
    if isinstance(entry, str):
        return {"judge": entry}
    if not isinstance(entry, Mapping) or not isinstance(entry.get("judge"), str):
        raise SpecError(
            f"{where} does not say which judge", hint="write its name, or keys with judge: PROVIDER/MODEL among them"
        )
    for key in map(str, entry):
        if key not in ENTRY:
            raise SpecError(
                f"{where} ({entry['judge']}): {_stranger(key)} (an entry takes {', '.join(ENTRY)})",
                hint="keys of the run are written once, beside judges" if key in OF_THE_RUN else None,
            )
    return {str(key): value for key, value in entry.items()}


def _stranger(key: str) -> str:
    if key in OF_THE_RUN:
        return f"key {key!r} belongs to the run, not to a judge"
    close = nearest(key, ENTRY)
    return f"unknown key {key!r}" + (f", did you mean {close!r}?" if close else "")
