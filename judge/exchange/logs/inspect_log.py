"""Logs of the evaluation tool inspect: `.eval` archives and JSON (https://inspect.aisi.org.uk/eval-logs.html). A row is
one score of one sample; a score with several values has a row for each. Grades C, P and I are labels; grade N means
that there was no answer to score. A failed sample gets a row with a lost score for each scorer."""

from __future__ import annotations

import math
import struct
import zipfile
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge.base.errors import DataError, MissingExtraError
from judge.base.records import Scale
from judge.exchange.logs.fields import (
    CODE,
    Entry,
    LogFacts,
    LogOptions,
    LogRow,
    Loss,
    Tool,
    as_text,
    loss_of,
    lost,
)
from judge.exchange.reader import as_list, as_object, opened_archive, parse, whole

# Reader for the members of a zip archive, also those compressed with zstandard, with limits on their unpacked size.

# Bytes of an unpacked member: a log is a stranger's file, and a small archive may unpack to more than memory holds.
LARGEST_MEMBER = 256 << 20

# How many times longer than its packed form a long member may be.
LONG_MEMBER, LARGEST_RATIO = 16 << 20, 500

# Compression method 93, and a local header of 30 bytes before the name, as the ZIP specification has them.
_ZSTANDARD = 93
# Bytes of a member's header without name and extra field, whose lengths stand in its last four (ZIP, APPNOTE 4.3.7).
_LOCAL_HEADER = 30


def read_member(archive: zipfile.ZipFile, name: str, file: Path) -> bytes:
    """Content of a member; DataError where it is larger than the limits or cannot be unpacked."""
    member = archive.getinfo(name)
    swollen = member.file_size > max(LONG_MEMBER, LARGEST_RATIO * member.compress_size)
    if swollen or member.file_size > LARGEST_MEMBER:
        size = f"{member.file_size:,} bytes out of {member.compress_size:,}"
        raise DataError(f"member {name!r} would be {size}, more than any log needs", file=file)
    with _broken(file, name):
        if member.compress_type == _ZSTANDARD:
            return _zstandard(member, file)
        with archive.open(member) as stream:
            return stream.read(member.file_size)


def _zstandard(member: zipfile.ZipInfo, file: Path) -> bytes:
    # `zipfile` cannot read zstandard before Python 3.14.
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtraError(f"{file} is packed by zstandard, which", "data") from error
    with file.open("rb") as stream:
        stream.seek(member.header_offset)
        header = stream.read(_LOCAL_HEADER)
        name, extra = struct.unpack("<HH", header[26:30])
        stream.seek(member.header_offset + _LOCAL_HEADER + name + extra)
        packed = stream.read(member.compress_size)
    # Frames stand one behind the other in long members; a stream reads them all.
    with pyarrow.CompressedInputStream(pyarrow.BufferReader(packed), "zstd") as unpacked:
        content = bytes(unpacked.read(member.file_size + 1))
    if len(content) != member.file_size:
        raise zipfile.BadZipFile("another length than stated")
    return content


@contextmanager
def _broken(file: Path, name: str) -> Iterator[None]:
    try:
        yield
    except (
        zipfile.BadZipFile,
        zlib.error,
        OSError,
        struct.error,
        EOFError,
        NotImplementedError,  # what zipfile raises for a way of packing that it does not know
        RuntimeError,
    ) as error:
        raise DataError(f"member {name!r} cannot be unpacked: {error}", file=file) from error


GRADES = {"I": "incorrect", "P": "partial", "C": "correct"}
NO_ANSWER = "N"
# Members of an archive that hold the log's header: at its end, and where the run did not end.
_HEADER, _BEGUN = "header.json", "_journal/start.json"

_REASONS: Mapping[str, Loss] = {
    "invalid_response_format": "unparsed",
    "refusal": "refused",
    "no_response": "empty",
    "grader_failed": "unparsed",
    "scoring_failed": "error",
}
# How inspect, before it had scores without a value, explained the I that it wrote for an unreadable grade.
_OLD_DEFAULT = "Grade not found in model output"


@dataclass(slots=True)
class _Log:
    file: Path
    header: Mapping[str, Any]
    asked: LogOptions
    log_facts: LogFacts

    @property
    def model(self) -> str:
        # The evaluated model or, where the judged texts are the model's inputs, the judge itself; "" for none.
        return str(self.header.get("model") or "")

    @property
    def epochs(self) -> int:
        return int((self.header.get("config") or {}).get("epochs") or 1)

    @property
    def scorers(self) -> list[Mapping[str, Any]]:
        return [scorer for scorer in self.header.get("scorers") or [] if isinstance(scorer, Mapping)]

    def entry(self, number: int, sample: Mapping[str, Any], **inner: Any) -> Entry:
        held = {"sample": sample, **inner, "eval": self.header}
        return Entry(self.file, number, held, self.asked.places, self.log_facts)


def read_inspect(file: Path, asked: LogOptions, log_facts: LogFacts) -> Iterator[LogRow]:
    """Scores in one log of inspect; rows of failed samples, which have no score, come last."""
    header, samples = _opened(file, log_facts)
    log = _Log(file, header, asked, log_facts)
    log_facts.version = (header.get("packages") or {}).get("inspect_ai")
    rows: list[LogRow] = []
    failed: list[tuple[int, dict[str, Any]]] = []
    keys: dict[str, dict[str, None]] = defaultdict(dict)
    for number, sample in enumerate(samples, start=1):
        if sample.get("error"):
            failed.append((number, sample))
        rows += log.entry(number, sample).with_people(_of_sample(log, number, sample, keys))
    for number, sample in failed:
        rows += _of_failed(log, number, sample, keys)
    yield from _graded(rows, log)


def _opened(file: Path, log_facts: LogFacts) -> tuple[dict[str, Any], Iterator[dict[str, Any]]]:
    """Header and samples; in an archive, samples are read one at a time."""
    if not zipfile.is_zipfile(file) and file.suffix.lower() != ".eval":
        log = as_object(whole(file), file, 1)
        if not isinstance(log.get("eval"), dict):
            raise DataError("is no log of inspect: it has no 'eval'", file=file)
        samples = as_list(log.get("samples"), "samples", file)
        return log["eval"], (as_object(item, file, number) for number, item in enumerate(samples, start=1))
    with opened_archive(file) as archive:
        name = next((item for item in (_HEADER, _BEGUN) if item in archive.namelist()), None)
        if name is None:
            raise DataError("is no log of inspect: it has no header.json", file=file)
        if name != _HEADER:
            log_facts.untold["logs end before their run did: samples that were not written are not counted"] += 1
        begun = as_object(parse(read_member(archive, name, file), file, 1), file, name)
    if not isinstance(begun.get("eval"), dict):
        raise DataError("is no log of inspect: its header has no 'eval'", file=file)
    return begun["eval"], _members(file)


def _members(file: Path) -> Iterator[dict[str, Any]]:
    with opened_archive(file) as archive:
        for name in archive.namelist():
            if name.startswith("samples/") and name.endswith(".json"):
                yield as_object(parse(read_member(archive, name, file), file, 1), file, name)


def _of_sample(log: _Log, number: int, sample: Mapping[str, Any], keys: dict[str, dict[str, None]]) -> Iterator[LogRow]:
    blocked = _stopped(sample.get("output")) == "content_filter"
    scores = sample.get("scores") or {}
    for scorer, score in scores.items():
        values = score.get("value")
        several = values if isinstance(values, dict) else {None: values}
        if len(score.get("history") or []) > 1:
            log.log_facts.untold["scores were edited after the run: the edited value counts"] += 1
        for key, value in several.items():
            criterion = scorer if key is None else f"{scorer}.{key}"
            keys[scorer][criterion] = None
            row = _row(log, number, sample, scorer, criterion, score)
            loss = "filtered" if blocked else _loss(value, score, sample, row.judge)
            entry = log.entry(number, sample, score=score)
            rating = entry.value(value)
            yield from (lost(row, loss),) if loss else entry.scored(row, rating)
    if not sample.get("error"):
        for scorer_entry in log.scorers:
            if scorer_entry.get("name") not in scores:
                name = str(scorer_entry.get("name"))
                keys[name].setdefault("", None)
                yield lost(_row(log, number, sample, name, "", {}), "filtered" if blocked else "missing")


def _of_failed(log: _Log, number: int, sample: Mapping[str, Any], keys: Mapping[str, Any]) -> Iterator[LogRow]:
    loss = loss_of(str(sample["error"].get("message", "")))
    names = [str(scorer_entry.get("name")) for scorer_entry in log.scorers] or list(keys)
    for scorer in names:
        if scorer not in (sample.get("scores") or {}):
            yield lost(_row(log, number, sample, scorer, "", {}), loss)


def _graded(rows: list[LogRow], log: _Log) -> Iterator[LogRow]:
    """Gives rows without a criterion those of their scorer, repeated for each, and turns grades into labels."""
    values: dict[str, set[Any]] = defaultdict(set)
    criteria: dict[str, dict[str, None]] = defaultdict(dict)
    for row in rows:
        if row.criterion:
            values[row.criterion] |= {row.value} if row.value is not None and not row.people else set()
            criteria[row.eval_prompt or ""][row.criterion] = None
    partial = {
        str(scorer_entry.get("name"))
        for scorer_entry in log.scorers
        if (scorer_entry.get("options") or {}).get("partial_credit")
    }
    graded = {name for name, grades_seen in values.items() if grades_seen and grades_seen <= {*GRADES, NO_ANSWER}}
    for name in graded:
        grades = [g for g in GRADES if g != "P" or name in partial or "P" in values[name]]
        log.log_facts.labels[name] = Scale.of_labels([GRADES[g] for g in grades])
    for row in rows:
        scorer = row.eval_prompt or ""
        for criterion in (row.criterion,) if row.criterion else criteria.get(scorer) or (scorer,):
            named = replace(row, criterion=criterion, eval_prompt=None)
            if criterion in graded and not row.people and row.value is not None:
                none = row.value == NO_ANSWER
                yield lost(named, "no_answer") if none else replace(named, value=GRADES[str(row.value)])
            else:
                yield named


def _row(
    log: _Log, number: int, sample: Mapping[str, Any], scorer: str, criterion: str, score: Mapping[str, Any]
) -> LogRow:
    """`eval_prompt` holds the scorer's name until all rows have been read."""
    outputs = log.asked.judged == "outputs"
    epoch = int(sample.get("epoch") or 1)
    shown = _words(sample.get("input"))
    row = log.entry(number, sample, score=score).row(
        criterion,
        f"{log.model}/{sample.get('id')}" + (f"/{epoch}" if log.epochs > 1 else "") if outputs else sample.get("id"),
        eval_prompt_is=scorer,
        judge=_judge(log, scorer, score),
        story_prompt=shown if outputs else None,
        system=log.model if outputs else None,
        text=_completion(sample.get("output")) if outputs else shown,
        explanation=score.get("explanation"),
    )
    return replace(row, repeat=None if outputs else epoch - 1)


def _judge(log: _Log, scorer: str, score: Mapping[str, Any]) -> str:
    """The grading model, from the scorer's options, the grader role, the conversation, or the log; else code/SCORER."""
    if log.asked.judged == "inputs":
        return log.model
    options = next((entry.get("options") or {} for entry in log.scorers if entry.get("name") == scorer), {})
    role = (log.header.get("model_roles") or {}).get("grader")
    for model in (options.get("model"), role):
        several = model if isinstance(model, list) else [model]
        names = [str(entry.get("model") if isinstance(entry, Mapping) else entry) for entry in several if entry]
        if names and (model is not role or _asks(scorer, score)):
            return "+".join(names)
    grading = (score.get("metadata") or {}).get("grading")
    if isinstance(grading, list) and grading and isinstance(grading[-1], Mapping) and grading[-1].get("model"):
        return str(grading[-1]["model"])
    if _asks(scorer, score):
        return log.model
    log.log_facts.untold[
        "scores come from scorers that name no grading model: their judge is called code/SCORER here"
    ] += 1
    return f"{CODE}/{scorer}"


def _asks(scorer: str, score: Mapping[str, Any]) -> bool:
    return scorer.rpartition("/")[2].startswith("model_graded") or "grading" in (score.get("metadata") or {})


def _loss(value: Any, score: Mapping[str, Any], sample: Mapping[str, Any], judge: str | None) -> Loss | None:
    if value == "I" and str(score.get("explanation") or "").startswith(_OLD_DEFAULT):
        return "defaulted"
    if value is not None and not (isinstance(value, float) and math.isnan(value)):
        return None
    if _grader_blocked(sample, judge, str(score.get("explanation") or "")):
        return "filtered"
    reason = score.get("reason") or (score.get("metadata") or {}).get("unscored_reason")
    return _REASONS.get(str(reason), "missing")


def _grader_blocked(sample: Mapping[str, Any], judge: str | None, explanation: str) -> bool:
    """Whether a content filter stopped the judge's answer, so that there is no grade."""
    for event in sample.get("events") or []:
        if not isinstance(event, Mapping) or event.get("event") != "model" or event.get("model") != judge:
            continue
        output = event.get("output")
        if _stopped(output) == "content_filter" and explanation.endswith((_completion(output) or "").strip()):
            return True
    return False


def _stopped(output: Any) -> str | None:
    choices = output.get("choices") if isinstance(output, Mapping) else None
    return choices[0].get("stop_reason") if choices and isinstance(choices[0], Mapping) else None


def _completion(output: Any) -> str | None:
    if not isinstance(output, Mapping):
        return None
    if output.get("completion"):
        return str(output["completion"])
    choices = output.get("choices") or []
    return _words([choices[0].get("message")]) if choices else None


def _words(content: Any) -> str | None:
    if isinstance(content, list) and content:
        content = content[-1].get("content") if isinstance(content[-1], Mapping) else None
        if isinstance(content, list):
            content = "\n".join(str(part.get("text", "")) for part in content if isinstance(part, Mapping))
    return as_text(content) if isinstance(content, str) else None


INSPECT = Tool(
    "inspect",
    "scores of inspect's .eval or JSON logs; N, failures and blocks are counted",
    lambda look: bool(look.members & {_HEADER, _BEGUN}) or (look.has("eval", "samples") and bool(look.record("eval"))),
    read_inspect,
    {
        "story": "MODEL/SAMPLE/EPOCH of each output (the epoch where there are several); of inputs the sample's id",
        "criterion": "the scorer's name; SCORER.KEY where a score has several values",
        "judge": "the scorer's or role's grading model; code/SCORER where none is named; of inputs the evaluated model",
        "story-prompt": "the sample's input, of outputs",
        "repeat": "the epoch, of inputs; an epoch of outputs is a text of its own",
    },
    "inspect_ai 0.3.285",
    ("outputs", "inputs"),
)
