"""Merging of Ray workers' shards into the journal during a run. Shards are never deleted."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from judge.answers.journal import JournalMerger
from judge.asking.execution.progress import Progress
from judge.asking.execution.ray.shards import read_shard, shards_in, unfinished_in
from judge.asking.execution.sending.runner import Outcomes
from judge.asking.plan import AnyPlan, Price
from judge.asking.run_folder import ResultFolder
from judge.base.errors import RunFolderError
from judge.base.records import Query, Response, Story

_TOLD = ("prompt_tokens", "completion_tokens", "cached_tokens", "cache_write_tokens", "cost")


class Shards:
    """All shards (Parquet files of answers, written by Ray workers) of a result folder, including those of earlier
    sessions, and their merge into the journal.
    """

    def __init__(self, result: ResultFolder, sitting: Path, plan: AnyPlan, price: Price | None) -> None:
        self.answered = 0
        self.failed = 0
        self.spent = Outcomes()
        self.duplicates = 0
        self._refused: dict[Path, str] = {}
        self._unfinished: list[str] = []
        self._told: list[str] = []
        self._sitting = sitting
        self._plan = plan
        self._criteria = {criterion.name: criterion for criterion in plan.criteria}
        self._price = price
        self._judge_key = plan.spec.judge_key()
        self._merger = JournalMerger(result.journal, executor="ray")
        self._seen = self._merger.names()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._merger.close()

    @property
    def notices(self) -> list[str]:
        """Notes for the user on shards (workers' files of answers) that were refused or incomplete, and on duplicate
        attempts.
        """
        sentences = [*self._refused.values(), *self._unfinished, *self._told]
        if self.duplicates:
            sentences.append(f"{self.duplicates} attempts at repeats that were answered already were left out")
        return sentences

    def merge_left_over(self) -> None:
        """Merge into the journal the shards (workers' files of answers) of earlier sessions, and note files that were
        incomplete when those sessions were killed.
        """
        for path in shards_in(self._sitting.parent):
            self._merge(path, None)
        self._unfinished = [
            f"{path} was being written when its worker ended; it was not read, and what it may hold is requested again"
            for path in unfinished_in(self._sitting.parent)
        ]

    def merge_new(self, progress: Progress) -> None:
        """Merge into the journal every complete shard (a worker's file of answers) of this session that was not merged
        yet.
        """
        # Names only: late in a long run there are very many files, and all but a few are merged.
        for name in sorted(os.listdir(self._sitting)):  # noqa: PTH208
            if name.endswith(".parquet") and f"{self._sitting.name}/{name}" not in self._seen:
                self._merge(self._sitting / name, progress)

    def _merge(self, path: Path, progress: Progress | None) -> None:
        name = f"{path.parent.name}/{path.name}"
        if name in self._seen or path in self._refused:
            return
        try:
            rows = read_shard(path, self._judge_key)
            merged = self._merger.merge(name, rows)
        except RunFolderError as error:
            self._refused[path] = str(error)
            return
        self._seen.add(name)
        self.answered += merged.answered
        self.failed += merged.failed
        self.duplicates += merged.duplicates
        if merged.answered:
            self._count(rows, progress)
        if progress is not None:
            progress.committed(merged.answered, merged.failed)

    def note(self, sentence: str) -> None:
        """Add a sentence to the notices on shards for the user."""
        self._told.append(sentence)

    def finish(self, ended: str) -> None:
        """Note in the journal how the session ended."""
        self._merger.finish(ended)

    def _count(self, rows: list[dict[str, Any]], progress: Progress | None) -> None:
        for row in rows:
            if row["outcome"] != "answered":
                continue
            if row["prompt_tokens"] is not None or row.get("cost") is not None:  # the first repeat of its call
                self.spent.spend([Response(row["text"], **{key: row.get(key) for key in _TOLD})], self._price)
            if progress is not None and self._criteria:
                progress.watch(self._query(row), Response(row["text"], row["finish_reason"], row["reasoning"]))

    def _query(self, row: Mapping[str, Any]) -> Query:
        """The query of a shard's row (one answer in a Ray worker's file), with only the fields that are needed to parse
        the answer for the progress line.
        """
        spec = self._plan.spec
        return Query(
            key=row["query_key"],
            story=Story(row["story"], "", "", ""),
            criterion=self._criteria[row["criterion"]],
            eval_prompt=row["eval_prompt"],
            messages=(),
            generation=spec.generation.record(),
            structured=spec.structured,
            choices=spec.choices,
        )
