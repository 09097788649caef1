"""Date on which a provider shuts a judge's model down, from the catalogue of models. It is not compared with the
current date.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from judge.asking.in_force.catalogue import catalogue
from judge.asking.in_force.endpoints import addresses_of, who_is_asked
from judge.asking.run_definition.spec import load_run_specs
from judge.base.credentials.providers import PROTOCOLS
from judge.base.errors import JudgeError
from judge.base.judge_name import JudgeName


@dataclass(frozen=True, slots=True)
class Life:
    """The model catalogue's entry on a model's availability. `on` is the day of the shutdown as YYYY-MM-DD; None: no
    day is listed. `status` is a word of the catalogue, such as "deprecated".

    `instead` is the replacement that the provider names. `by_name` says that the model was recognised by its name only,
    because the address is not its provider's own.
    """

    model: str
    on: str | None
    status: str | None
    instead: str | None
    by_name: bool

    @property
    def ends(self) -> bool:
        """Whether the provider has shut the model down, or has announced the shutdown."""
        return self.on is not None or self.status in ("retired", "deprecated")

    @property
    def sentence(self) -> str:
        """Clause for warnings about the model: which shutdown is listed, and in which catalogue. It does not name the
        judge.
        """
        when = f"with its shutdown on {self.on}" if self.on else f"as {self.status}, without a date"
        instead = f"; the provider names {self.instead} in its place" if self.instead else ""
        alone = " (recognised by its name alone)" if self.by_name else ""
        return f"{catalogue().named} lists {self.model}{alone} {when}{instead}"

    def record(self) -> dict[str, str | None]:
        """Dict for the manifest with the keys `model`, `on` (day of the shutdown), `status` and `source` (name of the
        catalogue).
        """
        return {"model": self.model, "on": self.on, "status": self.status, "source": catalogue().named}


def life_in(manifest: Mapping[str, Any]) -> Life | None:
    """Availability of a stored run's model; None where no shutdown of the model is listed. It is read from the current
    catalogue, which may be newer than the run.
    """
    force = manifest.get("in_force") or {}
    life = life_of(str(manifest.get("judge", "")), force.get("base_url") or (), force.get("server"))
    return life if life is not None and life.ends else None


def ending(runs: Path) -> dict[str, tuple[Life, list[Path]]]:
    """Judges whose model has a listed shutdown: a map from judge to the model's availability and the folders of the
    runs that use it.

    Only runs directly under the folder `runs` are searched.
    """
    lives: dict[str, tuple[Life, list[Path]]] = {}
    for definition in sorted(runs.glob("*/run.yaml")):
        try:
            specs = load_run_specs(definition).judges
        except JudgeError:
            continue  # judge run says what is wrong with it
        for spec in specs:
            life = life_of(spec.judge, spec.base_url)
            if life is not None and life.ends:
                lives.setdefault(spec.judge, (life, []))[1].append(definition.parent)
    return lives


def life_of(judge: str, base_url: Sequence[str] = (), server: Mapping[str, Any] | None = None) -> Life | None:
    """Availability of the judge's model; None where the catalogue lacks the model or the model runs on the user's own
    machine.
    """
    backend, model = JudgeName.of(judge)
    if backend not in PROTOCOLS:
        return None
    who = who_is_asked(model, addresses_of(base_url, server, backend=backend), server, backend=backend)
    entry = who.entry
    if entry is None:
        return None
    return Life(entry.name, entry.shutdown, entry.status, entry.replacement, who.by_name)
