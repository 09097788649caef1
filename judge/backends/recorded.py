"""Back-end `recorded/<result folder or file>`: replays stored answers. A file is JSON Lines with `story, criterion,
eval_prompt, repeat, text`, optionally `finish_reason`, `reasoning` and, for a comparison, `second` (`story` is shown
first). An answer on several criteria has a list in `criterion`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from judge.answers.journal import JournalReader
from judge.backends.protocol import Capabilities, Settings
from judge.base.errors import BackendError, DataError
from judge.base.foreign import json_value
from judge.base.records import Query, Request, Response, joint_name, names_in

_Place = tuple[str, str | None, str, str, int]


def open(model: str, settings: Settings) -> RecordedBackend:  # noqa: A001, ARG001  the registry's name and form
    """Replays the answers in a result folder (its journal.sqlite) or in a JSON Lines file."""
    return RecordedBackend(Path(model))


class RecordedBackend:
    """Gives each query the answer recorded for its story, criterion, Eval-Prompt and repeat."""

    capabilities = Capabilities(structured=frozenset({"none", "choice", "json"}))

    def __init__(self, path: Path) -> None:
        self.path = path
        self._answers = dict(_from_journal(path / "journal.sqlite") if path.is_dir() else _from_file(path))

    async def probe(self) -> Mapping[str, Any]:
        """Facts for the manifest: number of recorded answers, and their source."""
        return {"recorded": str(self.path), "answers": len(self._answers)}

    async def complete(self, query: Request, repeats: Sequence[int]) -> list[Response]:
        """The recorded answers. A missing one is a `BackendError` that is not retryable."""
        responses = []
        for repeat in repeats:
            story, criterion, eval_prompt = query.journal_names
            other = query.other.id if isinstance(query, Query) and query.other is not None else None
            key = (story, other, criterion, eval_prompt, repeat)
            if key not in self._answers:
                about = f"story {key[0]}" if other is None else f"stories {key[0]} and {other}"
                asked = ", ".join(names_in(key[2]))
                raise BackendError(
                    f"{self.path} holds no answer for {about}, {asked}, {key[3]}, repeat {key[4]}",
                    kind="request",
                    retryable=False,
                )
            responses.append(self._answers[key])
        return responses

    async def close(self) -> None:
        """Does nothing, because no resources are held."""


def _from_journal(path: Path) -> Iterator[tuple[_Place, Response]]:
    with JournalReader(path) as journal:
        compared = journal.comparisons()
        for answer in journal.answers():
            if answer.response is not None:
                second = compared[answer.query_key][1] if answer.query_key in compared else None
                yield (answer.story, second, answer.criterion, answer.eval_prompt, answer.repeat), answer.response


def _from_file(path: Path) -> Iterator[tuple[_Place, Response]]:
    try:
        lines = path.read_bytes().splitlines()
    except OSError as error:
        raise DataError(
            f"cannot be read: {error.strerror}", file=path, hint="recorded/RESULT_FOLDER or FILE"
        ) from error
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            data = json_value(line)
            second = None if data.get("second") is None else str(data["second"])
            story, eval_prompt = str(data["story"]), str(data["eval_prompt"])
            criterion = data["criterion"]
            criterion = joint_name(list(map(str, criterion))) if isinstance(criterion, list) else str(criterion)
            key = (story, second, criterion, eval_prompt, int(data["repeat"]))
            yield key, Response(str(data["text"]), data.get("finish_reason"), data.get("reasoning"))
        except orjson.JSONDecodeError as error:
            raise DataError(f"not valid JSON ({error})", file=path, row=number) from error
        except (KeyError, TypeError, ValueError) as error:
            raise DataError(
                "not a recorded answer",
                file=path,
                row=number,
                found=line[:60],
                allowed="an object with story, criterion, eval_prompt, repeat, text",
            ) from error
