"""Locates a run's files, and interprets the RUN arguments of the command line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge.answers.journal import JournalReader
from judge.answers.journal.spending import Spending, Tokens
from judge.asking.run_folder.manifest import read_manifest
from judge.base import yaml_file
from judge.base.errors import RunFolderError, SpecError, yaml_mistake
from judge.base.judge_name import JudgeName
from judge.base.printing.dollars import dollars, implausible_costs
from judge.base.printing.moments import moment

if TYPE_CHECKING:
    from judge.asking.plan.prices import Price


DEFINITION = "run.yaml"
# The definition of stories to be written; its results lie as a run's do.
GENERATION = "generate.yaml"

MANIFEST = "manifest.json"
JOURNAL = "journal.sqlite"
# In a judge's result folder: the parts of the plan that were asked by processes of their own, a folder each.
SHARDS = "shards"

IMPORTED, IMPORTED_PARQUET = "imported.csv", "imported.parquet"
IMPORTED_PREFERENCES = "imported_preferences.csv"

_RUN = "a run.yaml, its folder, or one result folder"
_NAMED = 4
# Definitions whose results lie beside them: a folder holds one.
_OWN_FOLDER = (DEFINITION, GENERATION)

"""Runs named in a message."""


@dataclass(frozen=True, slots=True)
class ResultFolder:
    path: Path

    @property
    def manifest(self) -> Path:
        """What was requested, and the settings in effect."""
        return self.path / MANIFEST

    @property
    def journal(self) -> Path:
        """All requests and answers."""
        return self.path / JOURNAL

    @property
    def imported(self) -> Path:
        """Imported ratings table (CSV or Parquet), instead of a journal."""
        parquet = self.path / IMPORTED_PARQUET
        return parquet if parquet.is_file() else self.path / IMPORTED

    @property
    def preferences(self) -> Path:
        """Imported preferences table, instead of a journal."""
        return self.path / IMPORTED_PREFERENCES

    @property
    def derived(self) -> Path:
        """Folder of caches, which can be computed again."""
        return self.path / "derived"

    @property
    def server_terms(self) -> Path:
        """Cache of request formats that servers accept, learnt from refused requests."""
        return self.derived / "server_terms.json"

    def parsed(self, parser: str) -> Path:
        return self.derived / f"parsed-{re.sub(r'[^A-Za-z0-9._-]+', '-', parser)}.sqlite"

    def exists(self) -> bool:
        """Whether the folder has results to read."""
        return self.journal.is_file() or self.imported.is_file() or self.preferences.is_file()


def judge_slug(judge: str, revision: str | None = None) -> str:
    """A judge's name as a folder name, for example `openai-gpt-4o` for `openai/gpt-4o`."""
    name = judge if revision is None else f"{judge}@{revision}"
    return re.sub(r"[^A-Za-z0-9._@-]+", "-", name).strip("-.") or "judge"


def folder_for(definition: Path, name: str, judge: str, revision: str | None = None) -> ResultFolder:
    """A judge's result folder, next to run.yaml or generate.yaml, or in a folder named after the run for other file
    names."""
    parent = definition.parent if definition.name in _OWN_FOLDER else definition.parent / name
    return ResultFolder(parent / judge_slug(judge, revision))


def results_beside(definition: Path) -> list[ResultFolder]:
    """Folders that may hold a definition's results, sorted by name; where `folder_for` puts them."""
    parent = definition.parent
    if definition.name not in _OWN_FOLDER:
        parent /= str(_defined(definition).get("name") or definition.stem)
    return [ResultFolder(path) for path in _folders(parent)] if parent.is_dir() else []


def definition_in(folder: Path) -> Path | None:
    """run.yaml or generate.yaml in a folder; None without. Raises RunFolderError for both, which would share a result
    folder."""
    definitions = [folder / name for name in _OWN_FOLDER if (folder / name).is_file()]
    if len(definitions) > 1:
        raise RunFolderError(f"{folder} holds both {DEFINITION} and {GENERATION}", hint="give each a folder of its own")
    return definitions[0] if definitions else None


def definition_of(run: Path) -> Path:
    """The definition that RUN names: a file, or in the folder or its parent. Raises RunFolderError if there is none."""
    if run.is_dir():
        # The folder of a part of a plan lies in that of the whole: RUN/JUDGE/shards/1-of-4.
        above = [run.parents[2]] if run.parent.name == SHARDS and len(run.parents) > 2 else []
        for folder in (run, run.parent, *above):
            if (definition := definition_in(folder)) is not None:
                return definition
        if _runs_in(run):
            raise _without_results(run)
        raise RunFolderError(f"{run} holds no {DEFINITION}", hint="judge init NAME writes a commented one")
    if not run.exists():
        raise RunFolderError(f"{run} does not exist", hint="judge init NAME writes a commented run.yaml")
    _refuse_archive(run)
    return run


def resolve(runs: Iterable[Path | str]) -> list[ResultFolder]:
    """Result folders of RUNs, in order, without duplicates. A RUN is a definition, its folder (all judges), or one
    result folder. Raises RunFolderError for a RUN without results."""
    results: dict[Path, ResultFolder] = {}
    for run in map(Path, runs):
        folders = _results_in(run)
        if not folders:
            raise _without_results(run)
        for folder in folders:
            results.setdefault(folder.path.resolve(), folder)
    return list(results.values())


def _results_in(run: Path) -> list[ResultFolder]:
    if not run.exists():
        raise RunFolderError(f"{run} does not exist", hint=f"RUN is {_RUN}")
    if run.is_file():
        if run.name not in _OWN_FOLDER:
            # `pilot.yaml` keeps its results in a folder named after the run: as the file says, or like the file.
            name = _defined(run).get("name") or run.stem
            return _results_in(run.parent / str(name)) if name and (run.parent / str(name)).is_dir() else []
        run = run.parent
    if ResultFolder(run).exists():
        return [ResultFolder(run)]
    return [ResultFolder(path) for path in _folders(run) if ResultFolder(path).exists()]


def _defined(file: Path) -> dict[str, Any]:
    # Another kind of file, such as a bundle, is a RunFolderError.
    import yaml

    _refuse_archive(file)
    why = ""
    data = None
    try:
        data = yaml_file.load(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        pass
    except yaml.YAMLError as error:
        # Where it breaks helps whoever wrote it as YAML; of a page or a table it would tell nothing.
        why = f": {yaml_mistake(error)}" if file.suffix.lower() in (".yaml", ".yml") else ""
    except OSError as error:
        raise RunFolderError(f"{file} cannot be read: {error.strerror}") from error
    if not isinstance(data, dict):
        raise RunFolderError(f"{file} is no run definition (keys and values in YAML){why}", hint=f"RUN is {_RUN}")
    return data


def _refuse_archive(file: Path) -> None:
    if file.suffix.lower() == ".zip":
        raise RunFolderError(
            f"{file} is an archive, and RUN is {_RUN}",
            hint=f"judge status {file} --verify checks a bundle as it is; else unpack it and name a folder in runs/",
        )


def _without_results(run: Path) -> RunFolderError:
    if run.name == GENERATION or (run / GENERATION).is_file():
        return RunFolderError(f"{run} has no stories yet", hint=f"judge generate {run}")
    if run.is_file() or (run / DEFINITION).is_file():
        return RunFolderError(f"{run} has no results yet", hint=f"judge run {run}")
    runs = _runs_in(run)
    if not runs:
        return RunFolderError(f"{run} holds neither {DEFINITION} nor results", hint=f"RUN is {_RUN}")
    named = " ".join(map(str, runs[:_NAMED])) + (" ..." if len(runs) > _NAMED else "")
    count = f"{len(runs)} runs" if len(runs) > 1 else "a run"
    return RunFolderError(f"{run} holds {count} and is none itself", hint=f"name one or several: {named}")


def _runs_in(folder: Path) -> list[Path]:
    return [path for path in _folders(folder) if (path / DEFINITION).is_file() or _results_in(path)]


def _folders(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.is_dir())
    except OSError as error:
        raise RunFolderError(f"{folder} cannot be read: {error.strerror}") from error


# Computes the cost of the answers in a result folder, in the same way for every command.


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost in dollars; None where it is not known. `basis` says how it was computed, or why it is unknown. `price` is
    per token."""

    dollars: float | None
    basis: str
    price: Price | None = None

    def words(self) -> str:
        return f"{'not known' if self.dollars is None else dollars(self.dollars)}: {self.basis}"


def folder_cost(folder: ResultFolder) -> Cost:
    """Cost of all answers in a result folder. Raises RunFolderError if the journal cannot be read."""
    manifest = read_manifest(folder.manifest)
    if not folder.journal.is_file():
        return Cost(None, "the ratings were imported, and their cost is not recorded")
    with JournalReader(folder.journal) as journal:
        return cost_of(journal.spending(), manifest)


def cost_of(spent: Spending, manifest: Mapping[str, Any]) -> Cost:
    """Cost of `spent`. Reported costs that no request can have are counted in its basis and not in the sum."""
    cost = _charged(spent, manifest)
    if not spent.implausible:
        return cost
    return replace(cost, basis=f"{cost.basis}; {implausible_costs(spent.implausible)}")


def _charged(spent: Spending, manifest: Mapping[str, Any]) -> Cost:
    from judge.asking.plan.prices import how_to_price

    price = price_of(manifest, spent.last)
    parts: list[tuple[float, str]] = []
    if spent.reported_calls:
        parts.append((spent.reported, f"as the server reported it for {spent.reported_calls:,} requests"))
    for tokens, batch in ((spent.live, False), (spent.batch, True)):
        if tokens.prompt is None and tokens.completion is None:
            continue
        charged = price.batch if price is not None and batch else price
        if charged is None:
            return _without_price(manifest, batch=batch and price is not None)
        if charged.up_to is not None and tokens.longest > charged.up_to:
            return Cost(
                None,
                f"a prompt has {tokens.longest:,} tokens and the price holds up to {charged.up_to:,}: "
                f"{how_to_price(_judge(manifest))}",
            )
        parts.append((_charge(charged, tokens), f"tokens{' of the batch API' if batch else ''} at {charged.words()}"))
    if spent.reused and spent.reused == spent.answers:
        return Cost(0.0, f"all {spent.reused:,} answers were copied from another run")
    if not parts:
        return Cost(None, _why_unknown(spent, manifest))
    reused = f"; {spent.reused:,} answers that were copied from another run are not counted" if spent.reused else ""
    return Cost(sum(cost for cost, _ in parts), "; ".join(words for _, words in parts) + reused, price)


def price_of(manifest: Mapping[str, Any], when: float = 0.0) -> Price | None:
    """The judge's price on the day of `when` (seconds since 1970; 0 = today); None if not known."""
    # Templates and servers come along, which tables without a price need not wait for.
    from judge.asking.plan.prices import load_prices, parse_price

    force = manifest.get("in_force") or {}
    servers = (force.get("server") or {}).get("servers") or ()
    urls = force.get("base_url") or [
        server["base_url"] for server in servers if isinstance(server, dict) and "base_url" in server
    ]
    last = moment(when) if when else None
    day = None if last is None else last.date()
    price = load_prices(_judge(manifest), urls, force.get("engine") or {}, on=day)
    kept = (manifest.get("totals") or {}).get("price")
    if price is not None or not kept:
        return price
    try:
        return parse_price(kept, "manifest.json, price")
    except ValueError as error:
        raise SpecError(f"manifest.json holds no readable price: {error}") from error


def _charge(price: Price, tokens: Tokens) -> float:
    return price.cost(tokens.prompt or 0, tokens.completion or 0, tokens.cached, tokens.written)


def _judge(manifest: Mapping[str, Any]) -> str:
    return str(manifest.get("judge", "?"))


def _without_price(manifest: Mapping[str, Any], *, batch: bool) -> Cost:
    from judge.asking.plan.prices import how_to_price
    from judge.backends import IN_PROCESS

    judge = _judge(manifest)
    if JudgeName.of(judge).provider in IN_PROCESS:
        return Cost(None, f"{judge} ran on this machine: no tokens were paid for")
    kept = (manifest.get("totals") or {}).get("cost")
    if kept is not None:
        # Written by a version that kept the sum and not the price.
        return Cost(float(kept), "as it was computed when the run was made; its price is in no table now")
    price_name = "batch price" if batch else "price"
    return Cost(None, f"no {price_name} is known for {judge}: {how_to_price(judge)}")


def _why_unknown(spent: Spending, manifest: Mapping[str, Any]) -> str:
    judge = _judge(manifest)
    if JudgeName.of(judge).is_modelless:
        return f"{judge} asks no server and costs nothing"
    return "the server reported no tokens" if spent.answers else "nothing was answered"
