"""BibTeX references for results: the program, the studies behind the datasets, and models with a known model card."""

from __future__ import annotations

import re
from collections.abc import Sequence

from judge.base.credentials.providers import JudgeName
from judge.base.references import DATASETS, bibtex
from judge.ratings.ratings_table import RunFacts
from judge.version import __version__

# Providers whose models are named as on the hub, where they are no folders.
_ON_THE_HUB = frozenset({"vllm", "hf"})

_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+")

_PROGRAM = f"""@software{{storyjudge,
  title = {{{{judge}}: whether a language model can stand in for human readers of stories}},
  version = {{{__version__}}},
  note = {{Python distribution storyjudge}}
}}
"""


def entries(facts: Sequence[RunFacts]) -> str:
    """Entries of the program, then of the studies, then of the models, each once."""
    keys = [key for fact in facts for name, keys in DATASETS.items() if fact.dataset.startswith(name) for key in keys]
    models = dict.fromkeys(fact.judge for fact in facts)
    cards = [card for judge in models if (card := _model(judge)) is not None]
    return "\n".join([_PROGRAM, *([bibtex(list(dict.fromkeys(keys)))] if keys else []), *cards])


def without_card(facts: Sequence[RunFacts]) -> list[str]:
    """Judges that are models without a known model card."""
    judges = dict.fromkeys(fact.judge for fact in facts)
    return [judge for judge in judges if not JudgeName.of(judge).is_modelless and _model(judge) is None]


def _model(judge: str) -> str | None:
    named = JudgeName.of(judge)
    if named.provider not in _ON_THE_HUB or not _HUB_NAME.fullmatch(named.model):
        return None
    key = re.sub(r"[^a-z0-9]+", "-", named.model.lower())
    return (
        f"@misc{{model-{key},\n  title = {{{named.model}: model card}},\n"
        f"  howpublished = {{\\url{{https://huggingface.co/{named.model}}}}}\n}}\n"
    )
