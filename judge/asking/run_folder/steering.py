"""What is wanted of a run that goes on: a small file in its result folder, written by `judge status` and read by the
run. It outlives a killed run, and the next one keeps to it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from judge.base.errors import RunFolderError
from judge.base.files import write_whole
from judge.base.printing.text_layout import dollars

STEERING = "steering.json"

# Bytes of the largest file that is read: a stranger's folder may hold anything.
_LARGEST = 10_000

Send = Literal["go", "pause", "stop"]


class Steering(BaseModel):
    """What is wanted of one judge's run. `send`: go on, pause (what is in flight is awaited), or stop in good order.
    `connections` is the largest number of requests in flight, `max_cost` the most to spend in dollars, earlier sessions
    included; both None = as the run's definition says. `again` counts how often failed repeats were asked for anew.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    send: Send = "go"
    connections: int | None = Field(default=None, ge=1)
    max_cost: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    again: int = Field(default=0, ge=0)

    @property
    def words(self) -> str:
        """What differs from the run's definition; empty where nothing does."""
        parts = [
            {"go": "", "pause": "paused", "stop": "stopped"}[self.send],
            "" if self.connections is None else f"at most {self.connections} requests in flight",
            "" if self.max_cost is None else f"max_cost {dollars(self.max_cost)}",
        ]
        return ", ".join(filter(None, parts))


def read_steering(folder: Path) -> Steering:
    """The steering of a result folder; nothing is wanted where there is no file. Raises RunFolderError for a file that
    is none."""
    path = folder / STEERING
    try:
        with path.open("rb") as stream:
            written = stream.read(_LARGEST)
    except FileNotFoundError:
        return Steering()
    except OSError as error:
        raise RunFolderError(f"{path} cannot be read: {error.strerror}") from error
    try:
        return Steering.model_validate_json(written)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "the file"
        raise RunFolderError(
            f"{path}: {where}: {first['msg']}", hint="delete the file: nothing is lost with it"
        ) from None


def steer(folder: Path, **wanted: Any) -> Steering:
    """Write what is wanted beside what was; fields that are None stay as they are. `again` (true) counts one up."""
    before = read_steering(folder)
    changes = {name: value for name, value in wanted.items() if value is not None}
    if changes.pop("again", None):
        changes["again"] = before.again + 1
    steering = Steering(**{**before.model_dump(), **changes})
    try:
        write_whole(folder / STEERING, steering.model_dump_json(indent=1) + "\n", follow=False)
    except OSError as error:
        raise RunFolderError(f"{folder / STEERING} cannot be written: {error.strerror}") from error
    return steering
