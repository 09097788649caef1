"""Writes the fixture of AlpacaEval with the real tool.

`pip install alpaca_eval==0.6.6`, then `python alpaca_annotations.py`.

The annotator's model is a function of this file. The expected values are those of AlpacaEval's own leaderboard.
"""

import json
import os
from importlib.metadata import version
from pathlib import Path

FILES = Path(__file__).resolve().parents[1] / "files"
os.environ["OPENAI_API_KEY"] = "none"

from alpaca_eval.annotators import base, pairwise_evaluator  # noqa: E402
from alpaca_eval.metrics import get_winrate  # noqa: E402

SAID = ("model_1", "model_2", "neither")


def complete(prompts, **_):
    """Prefers by what stands in the prompt."""
    found = []
    for prompt in prompts:
        number = next(n for n in range(9) if f"lamp {n}." in prompt)
        good, bad = ("model_1", "model_2") if number % 2 else ("model_2", "model_1")
        text = f"[{{'model': '{good}', 'rank': 1}}, {{'model': '{bad}', 'rank': 2}}]"
        found.append("I would rather not say." if number == 4 else text)
    return {"completions": found, "price_per_example": [0.0] * len(found), "time_per_example": [0.0] * len(found)}


base.get_fn_completions = lambda name: complete
annotator = pairwise_evaluator.PairwiseAnnotator(annotators_config="alpaca_eval_gpt4", caching_path=None, seed=1)
ours = [{"instruction": f"Write about lamp {n}.", "output": f"Ours {n}.", "generator": "ours"} for n in range(8)]
theirs = [{"instruction": f"Write about lamp {n}.", "output": f"Theirs {n}.", "generator": "theirs"} for n in range(8)]
theirs[7]["output"] = ours[7]["output"]
annotated = annotator.annotate_head2head(outputs_1=theirs, outputs_2=ours)
number = version("alpaca_eval")
(FILES / f"alpaca_eval-{number}.json").write_text(json.dumps(annotated, indent=1) + "\n")
about = {"tool": "alpaca_eval", "version": number, "read_by": "alpaca_eval.metrics.get_winrate"}
values = {key: float(value) for key, value in get_winrate(annotated).items()}
(FILES / "alpaca_eval.expected.json").write_text(json.dumps(about | {"values": values}, indent=1) + "\n")
