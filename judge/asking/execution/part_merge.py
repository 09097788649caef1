"""Merges shards (parts of a run's plan, each run by its own process) into the whole plan's result folder. First it
checks that they belong to this run and split, are complete, and that no process is writing to them."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.answers.journal import JournalReader, Totals, fold
from judge.answers.journal.parts import coverage, take, taken, untaken
from judge.asking.execution.notes import closed, opened, with_seen
from judge.asking.execution.plan_part import parts_in
from judge.asking.execution.preparation import Prepared, check_same_definition, prepare
from judge.asking.execution.sending.runner import Outcomes
from judge.asking.plan import AnyPlan, plan_of
from judge.asking.run_definition.writing import AnySpec
from judge.asking.run_folder import ResultFolder, lock, read_manifest, write_manifest
from judge.base.errors import RunFolderError
from judge.base.wording import Advice, joined, listed

# Parts named in a message.
_NAMED = 4


@dataclass(frozen=True, slots=True)
class Part:
    """A shard that was started. Of its `planned` repeats, `lacks` are neither answered nor given up. `limit` is the
    number of stories of the plan; None: all."""

    number: int
    shard_count: int
    folder: ResultFolder
    limit: int | None
    lacks: int
    planned: int

    @property
    def label(self) -> str:
        """Name of the shard in the journal of the whole plan."""
        return f"{self.number}-of-{self.shard_count}"


@dataclass(frozen=True, slots=True)
class Joined:
    """Result of a merge. `answered` and `failed` count what it added, `totals` everything, `planned` the plan's
    repeats; `notices` say which shards are incomplete."""

    parts: int
    answered: int
    failed: int
    totals: Totals
    planned: int
    notices: tuple[str, ...]

    @property
    def missing(self) -> int:
        """Number of repeats of the whole plan without an answer."""
        return max(self.planned - self.totals.answered, 0)


def join(spec: AnySpec, folder: Path, result: ResultFolder, *, partial: bool = False) -> Joined:
    """Merge one judge's shards into `result`, the whole plan's folder; again changes nothing. `folder` is run.yaml's.
    An incomplete shard is a RunFolderError, unless `partial`."""
    began = time.time()
    plan = plan_of(spec, folder=folder)
    if not parts_in(result):
        raise RunFolderError(
            f"{result.path} has no shards", hint=Advice("judge run RUN {shard}, 2/N... makes them", shard="1/N")
        )
    with lock(result.path), ExitStack() as held:
        at_rest, notices = _at_rest(result, held)
        check_same_definition(plan, folder, [merged_part for _, _, merged_part in at_rest])
        parts = [_examined(result, plan, *part) for part in at_rest]
        merged_names = taken(result.journal)
        problems = [*notices, *_incomplete(parts, merged_names)]
        if problems and not partial:
            raise _refused(result, problems)
        prepared = prepare(plan, folder, result)
        try:
            merged = [take(result.journal, part.folder.journal, part.label) for part in parts]
            outcomes = Outcomes(
                answered=sum(merged_part.answered for merged_part in merged),
                failed=sum(merged_part.failed for merged_part in merged),
            )
            with JournalReader(result.journal) as journal:
                _note(spec, result, parts, prepared, outcomes, journal, began, problems)
                totals = journal.totals()
        finally:
            fold(result.journal)
    planned = prepared.subjects * plan.queries_per_subject * spec.repeats
    return Joined(len(parts), outcomes.answered, outcomes.failed, totals, planned, tuple(problems))


def not_merged(result: ResultFolder) -> str | None:
    """Text such as "2 shards" on those not merged yet; None where all are."""
    lacking = [part for part in parts_in(result) if untaken(result.journal, part[2].journal, f"{part[0]}-of-{part[1]}")]
    return f"{len(lacking)} shard{'' if len(lacking) == 1 else 's'}" if lacking else None


def _at_rest(result: ResultFolder, held: ExitStack) -> tuple[list[tuple[int, int, ResultFolder]], list[str]]:
    # Shards that no process is writing, and a sentence on each other one. `held` keeps the locks until the merge ends.
    parts, notices = [], []
    for number, shard_count, folder in parts_in(result):
        try:
            held.enter_context(lock(folder.path))
        except RunFolderError as error:
            notices.append(f"shard {number}/{shard_count} cannot be taken yet: {error}")
            continue
        fold(folder.journal)
        parts.append((number, shard_count, folder))
    return parts, notices


def _examined(result: ResultFolder, plan: AnyPlan, number: int, shard_count: int, folder: ResultFolder) -> Part:
    repeats = (read_manifest(folder.manifest).get("in_force") or {}).get("repeats")
    if repeats not in (None, plan.spec.repeats):
        raise RunFolderError(
            f"shard {number}/{shard_count} was asked for {repeats} repeats, and the run has {plan.spec.repeats}",
            hint=Advice(
                "{overrides}, or run the shards again with {}", plan.spec.repeats, overrides=f"repeats={repeats}"
            ),
        )
    with JournalReader(folder.journal) as journal:
        shard: Mapping[str, Any] = (journal.meta().get("definition") or {}).get("shard") or {}
    covered = coverage(folder.journal, result.journal)
    planned = covered.subjects * plan.queries_per_subject * plan.spec.repeats
    return Part(number, shard_count, folder, shard.get("limit"), planned - covered.settled, planned)


def _incomplete(parts: Sequence[Part], merged_names: set[str]) -> Iterator[str]:
    splits = sorted({part.shard_count for part in parts})
    if len(splits) > 1:
        yield f"these are shards of several splits ({', '.join(f'i/{split}' for split in splits)})"
    limits = {part.limit for part in parts}
    if len(limits) > 1:
        several = ", ".join(map(str, sorted(limits, key=str)))
        yield Advice("their shards were run with different {limit} ({})", several)
    for split in splits:
        there = {part.number for part in parts if part.shard_count == split}
        absent = [n for n in range(1, split + 1) if n not in there and f"{n}-of-{split}" not in merged_names]
        for number in absent:
            yield f"shard {number}/{split} was never begun"
    for part in parts:
        if part.planned == 0:
            yield f"shard {part.number}/{part.shard_count} was never begun"
        elif part.lacks > 0:
            yield f"shard {part.number}/{part.shard_count} lacks {part.lacks} of {part.planned} repeats"


def _refused(result: ResultFolder, problems: Sequence[str]) -> RunFolderError:
    more = f"; and {len(problems) - _NAMED} more" if len(problems) > _NAMED else ""
    return RunFolderError(
        joined(f"{result.path} is not merged: ", listed(problems[:_NAMED], "; "), more),
        hint=Advice("run those shards again (they go on where they stopped), or merge what is there with {partial}"),
    )


def _note(
    spec: AnySpec,
    result: ResultFolder,
    parts: Sequence[Part],
    prepared: Prepared,
    outcomes: Outcomes,
    journal: JournalReader,
    began: float,
    problems: Sequence[str],
) -> None:
    before = read_manifest(result.manifest)
    manifests = [read_manifest(part.folder.manifest) for part in parts]
    sittings = list(before.get("sittings", []))
    noted = {(sitting.get("shard"), sitting.get("began")) for sitting in sittings}
    for part, manifest in zip(parts, manifests, strict=True):
        for sitting in manifest.get("sittings", []):
            if (f"{part.number}/{part.shard_count}", sitting.get("began")) not in noted:
                sittings.append(sitting | {"shard": f"{part.number}/{part.shard_count}"})
    server = _servers([before, *manifests])
    note = {"began": began, "executor": "merge", "shards": [f"{part.number}/{part.shard_count}" for part in parts]}
    if before or sittings:
        write_manifest(result.manifest, before | {"sittings": sittings})
    manifest = with_seen(opened(spec, result, prepared, server, note), spec, journal, None)
    write_manifest(result.manifest, closed(manifest, journal, outcomes, began, problems))


def _servers(manifests: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    # Shards may have used different servers.
    told_servers = [(manifest.get("in_force") or {}).get("server") or {} for manifest in manifests]
    joined: dict[str, Any] = {}
    for server_record in told_servers:
        joined |= {key: value for key, value in server_record.items() if key != "servers"}
    servers: dict[str, Any] = {}
    for server_record in told_servers:
        for server in server_record.get("servers") or ():
            servers.setdefault(str(server.get("base_url")), server)
    return joined | ({"servers": list(servers.values())} if servers else {})
