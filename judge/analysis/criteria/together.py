"""Cost and quality of asking for several criteria in one answer, compared with one criterion per answer.

Calls, tokens and dollars are those of the whole run; halo and tau come from the profiles. The tables describe
differences and do not attribute them to the way of asking.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from judge.analysis.criteria.profiles import Profile
from judge.analysis.frames import signed
from judge.answers.journal import JournalReader
from judge.asking.run_folder import ResultFolder, cost_of, read_manifest

if TYPE_CHECKING:
    from judge.ratings.ratings_table import RatingsTable, RunFacts

COLUMNS = (
    *("dataset", "run", "judge", "eval_prompt", "asked", "criteria", "calls", "prompt_tokens", "completion_tokens"),
    *("cost", "lost", "halo", "halo_low", "halo_high", "validity", "reason"),
)


@dataclass(frozen=True, slots=True, eq=False)
class Asking:
    """How one judge x Eval-Prompt was asked (criteria together or one by one), with its results and cost.

    Attributes
    ----------
    profile : Profile
        Halo and tau with people.
    together : bool
        Whether one answer rates all criteria.
    calls : int
        Number of calls that returned the answers.
    prompt_tokens, completion_tokens : int or None
        Tokens of these calls; None where the server did not report them.
    dollars : float or None
        Cost of these calls; None where no price is known.
    lost : float or None
        Share of the requested ratings that no answer gave.
    """

    profile: Profile
    together: bool
    calls: int
    prompt_tokens: int | None
    completion_tokens: int | None
    dollars: float | None
    lost: float | None


def askings(table: RatingsTable, profiles: Sequence[Profile]) -> tuple[Asking, ...]:
    """One `Asking` per judge x Eval-Prompt if some were asked for several criteria in one answer; otherwise empty.

    An `Asking` says whether criteria were asked together or one by one, with results and cost.
    """
    if not any(fact.joint for fact in table.facts):
        return ()
    facts = {(fact.run, fact.judge): fact for fact in table.facts}
    taken = {run_judge: _taken(fact) for run_judge, fact in facts.items()}
    requests = []
    for profile in profiles:
        source = profile.source
        run_judge, prompt = (str(source.run), source.judge), str(source.eval_prompt)
        usage = taken.get(run_judge, {}).get(prompt)
        if usage is not None:
            requests.append(Asking(profile, prompt in facts[run_judge].joint, *usage, _lost(profile)))
    return tuple(requests)


def _taken(fact: RunFacts) -> Mapping[str, tuple[int, int | None, int | None, float | None]]:
    """Map from an Eval-Prompt to its calls, input tokens, output tokens and dollars, from a result folder.

    Empty for imports.
    """
    folder = ResultFolder(fact.path)
    if not folder.journal.is_file():
        return {}
    manifest = read_manifest(folder.manifest)
    with JournalReader(folder.journal) as journal, journal.snapshot():
        return {
            name: (
                *(counts.calls, counts.prompt_tokens, counts.completion_tokens),
                cost_of(journal.spending(name), manifest).dollars,
            )
            for name, counts in journal.taken().items()
        }


def _lost(profile: Profile) -> float | None:
    source = profile.source
    asked = sum(int(source.matrix.asked[row].sum()) for row in source.rows)
    return 1 - int(source.counts.sum()) / asked if asked else None


def frame(requests: Sequence[Asking], signature: str, notes: Sequence[str]) -> pd.DataFrame:
    """A frame on the cost and quality of asking for criteria together or one by one, with the columns `COLUMNS`.

    It has one row per judge x Eval-Prompt; `asked` is ``together`` or ``one by one``.
    """
    rows = []
    for asking in requests:
        source, halo, summary = asking.profile.source, asking.profile.halo, asking.profile.multitrait
        rows.append(
            (
                *(source.matrix.dataset, *source.labels().values(), words(asking), len(source.criteria), asking.calls),
                *(
                    asking.prompt_tokens,
                    asking.completion_tokens,
                    asking.dollars,
                    asking.lost,
                    halo.value,
                    halo.low,
                    halo.high,
                ),
                *(summary.validity.value if summary else None, halo.reason),
            )
        )
    return signed(pd.DataFrame(rows, columns=list(COLUMNS)), signature, notes)


def words(asking: Asking) -> str:
    """How criteria were asked: ``together`` (in one answer) or ``one by one``."""
    return "together" if asking.together else "one by one"
