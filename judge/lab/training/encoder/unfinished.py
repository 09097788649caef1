"""Saved state of a training in progress, so that it can be resumed: plan, checkpoints and each fold's results, in the
folder of the model.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson

from judge.base.errors import SpecError
from judge.base.fingerprint import fingerprint
from judge.base.whole_file import write_whole

FOLDER = "unfinished"
_PLAN = "plan.json"


class Unfinished:
    """The folder `unfinished` in a model's folder, which holds the saved state of a training. It is deleted when the
    model is complete.
    """

    def __init__(self, model: Path, plan: Mapping[str, Any]) -> None:
        """Create the folder `unfinished` in the folder `model`, with the plan of a training, or resume the training
        that this folder holds. Raises SpecError where it holds a training with other data or options.
        """
        self.path = model / FOLDER
        kept = self.path / _PLAN
        mine = {"plan": fingerprint(dict(plan)), "about": dict(plan)}
        before = self._read(kept)
        self.goes_on = before is not None
        if before is not None and before.get("plan") != mine["plan"]:
            differs = sorted(key for key, value in plan.items() if before.get("about", {}).get(key) != value)
            raise SpecError(
                f"{self.path} holds an unfinished training with other {', '.join(differs) or 'options'}",
                hint="give the same data and options to go on, or delete that folder",
            )
        if before is None:
            self.path.mkdir(parents=True, exist_ok=True)
            write_whole(kept, orjson.dumps(mine, option=orjson.OPT_INDENT_2))

    def fit(self, name: str) -> Path:
        """Path of the folder for the checkpoints of one fit of an unfinished training."""
        return self.path / name

    def answers(self, name: str) -> dict[str, Any] | None:
        """Stored results of a finished fit of the model (number of epochs and logits) by name; None where the fit is
        not finished.
        """
        return self._read(self.path / f"{name}.json")

    def done(self, name: str, answers: Mapping[str, Any]) -> None:
        """Store the results of a finished fit of the model and delete its checkpoints."""
        write_whole(self.path / f"{name}.json", orjson.dumps(dict(answers), option=orjson.OPT_SERIALIZE_NUMPY))
        shutil.rmtree(self.fit(name), ignore_errors=True)

    def close(self) -> None:
        """Delete the saved state of a training; to be called when the model is complete."""
        shutil.rmtree(self.path, ignore_errors=True)

    @staticmethod
    def _read(path: Path) -> dict[str, Any] | None:
        try:
            content = orjson.loads(path.read_bytes())
        except (OSError, orjson.JSONDecodeError):
            return None
        return content if isinstance(content, dict) else None
