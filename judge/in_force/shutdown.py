"""When a provider ends a judge's model, as the catalogue knows it. Never compares with today: a page stays as it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from judge.in_force.catalogue import catalogue
from judge.in_force.endpoints import addresses_of, who_is_asked


@dataclass(frozen=True, slots=True)
class Life:
    """What the catalogue says of a model's life. `on` is the day of its shutdown, as YYYY-MM-DD; None = none is listed.

    `instead` is the model that the provider names in its place; `by_name` says that the address is not its own.
    """

    model: str
    on: str | None
    status: str | None
    instead: str | None
    by_name: bool

    @property
    def ends(self) -> bool:
        """Whether the provider has ended the model, or has said that it will."""
        return self.on is not None or self.status in ("retired", "deprecated")

    @property
    def sentence(self) -> str:
        """The clause for warnings, without the judge's name: what is listed, and where."""
        when = f"shut down on {self.on}" if self.on else f"{self.status}, without a date"
        instead = f"; the provider names {self.instead} in its place" if self.instead else ""
        alone = " (which this is by its name alone)" if self.by_name else ""
        return f"{catalogue().named} lists {self.model}{alone} as {when}{instead}"

    def record(self) -> dict[str, str | None]:
        """As the manifest keeps it."""
        return {"model": self.model, "on": self.on, "status": self.status, "source": catalogue().named}


def life_of(judge: str, base_url: Sequence[str] = (), server: Mapping[str, Any] | None = None) -> Life | None:
    """The life of the judge's model; None where the catalogue does not know it, or it runs on one's own machine."""
    provider, _, model = judge.partition("/")
    if provider != "openai":
        return None
    who = who_is_asked(model, addresses_of(base_url, server), server)
    entry = who.entry
    if entry is None:
        return None
    return Life(entry.name, entry.shutdown, entry.status, entry.replacement, who.by_name)
