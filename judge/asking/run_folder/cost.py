"""Cost of the answers in a result folder, computed in the same way for every command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from judge.answers.journal import JournalReader
from judge.answers.journal.spending import Spending, Tokens
from judge.asking.run_folder.layout import ResultFolder
from judge.asking.run_folder.manifest import read_manifest
from judge.base.credentials.providers import JudgeName
from judge.base.errors import SpecError
from judge.base.printing.text_layout import dollars, implausible_costs, moment

if TYPE_CHECKING:
    from judge.asking.plan.prices import Price


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
