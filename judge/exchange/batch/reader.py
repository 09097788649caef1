"""Reader of a batch's result files, whose answers go into the journal of the run that asked for them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from judge.analysis.options.alternatives import Nothing
from judge.asking.run_folder import resolve
from judge.base.errors import RunFolderError, SpecError
from judge.base.wording import Advice
from judge.exchange.batch.custom_id import parse_id
from judge.exchange.batch.importing import Imported, import_results
from judge.exchange.batch.lines import as_openai
from judge.exchange.reader.look import Look
from judge.exchange.reader.reader import Reader, Say

if TYPE_CHECKING:
    from judge.asking.run_folder import ResultFolder

_SHOWN = 5
"""custom_ids named of each kind."""


def _fits(look: Look) -> bool:
    """Whether a file has results of a batch, or its requests, which the import refuses with a sentence of its own."""
    record = dict(look.record())
    named = as_openai(record)
    return "custom_id" in record or parse_id(str(named.get("custom_id") or record.get("key") or "")) is not None


def _read(files: Sequence[Path], _words: Nothing, target: Path | None, say: Say) -> None:
    if target is None:
        raise SpecError(Advice("a batch's results go into the run that asked for them: {output}", output="RUN"))
    folders = resolve([target])
    if len(folders) > 1:
        names = ", ".join(folder.path.name for folder in folders)
        hint = Advice("name one: {output}", output=str(folders[0].path))
        raise RunFolderError(f"{target} holds results of several judges: {names}", hint=hint)
    for line in merged_sentences(import_results(folders[0], tuple(files)), folders[0], ", ".join(map(str, files))):
        say(line)


def merged_sentences(merged: Imported, folder: ResultFolder, source: str) -> Iterator[str]:
    """The outcome of importing batch results into a journal: one sentence, and one line for each kind of problem.
    `source` names the results in the sentence.
    """
    there, failed = merged.there_already, sum(merged.failed.values())
    if not merged.changed:
        yield f"nothing new in {source}: {folder.path} has {there} of its answers already"
    else:
        from judge.base.printing.dollars import dollars

        known_cost = merged.spent.known_cost
        cost = "" if known_cost is None else f", {dollars(known_cost)}"
        yield f"{folder.path}: {merged.answered} answers from {source}{cost}; {there} were there already"
    if failed:
        kinds = ", ".join(f"{count} {kind}" for kind, count in merged.failed.most_common())
        yield f"· {failed} repeats failed ({kinds}): {merged.example}"
        again = f"judge export {folder.path} --as batch"
        yield f"· ask them again: {again}; those given up: judge run {folder.path} --retry"
    if merged.errors_known:
        yield f"· {merged.errors_known} failed repeats were noted before"
    if merged.not_given:
        again = f"judge export {folder.path} --as batch --set one_by_one=true"
        yield f"· {merged.not_given} repeats were not given: the server ignores n; {again}"
    for reason, ids in (
        ("custom_ids stand twice, the first answer counts", merged.duplicates),
        ("custom_ids are not of this run", merged.unknown),
        ("results are of another judge and were left out", merged.other_judge),
        ("half-written last lines were skipped", merged.cut),
    ):
        if ids:
            more = ", ..." if len(ids) > _SHOWN else ""
            yield f"· {len(ids)} {reason}: {', '.join(ids[:_SHOWN])}{more}"
    if merged.totals is not None:
        yield f"· {merged.totals.answered} repeats are answered in all; judge status {folder.path}"


READERS = (
    Reader(
        "batch", "results of a batch API or of vllm run-batch, for the run that asked for them", Nothing, _fits, _read
    ),
)
