"""Writes the fixture of MT-Bench with the real tool.

`pip install fschat==0.2.36 pydantic openai`, then `python mt_bench_pairs.py`.

The judge's answers are a function of this file. The expected values are read by FastChat's own
`load_pairwise_model_judgments`. The human judgments are of the documented form (untried: nobody's program writes it):
https://huggingface.co/datasets/lmsys/mt_bench_human_judgments
"""

import json
import sys
import types
from importlib.metadata import version
from pathlib import Path

# Conversation templates of models, which need torch: only their container is used here.
sys.modules["fastchat.model.model_adapter"] = types.ModuleType("model_adapter")
from fastchat.conversation import Conversation, SeparatorStyle  # noqa: E402

sys.modules["fastchat.model.model_adapter"].ANTHROPIC_MODEL_LIST = ()
sys.modules["fastchat.model.model_adapter"].OPENAI_MODEL_LIST = ("gpt-4",)
sys.modules["fastchat.model.model_adapter"].get_conversation_template = lambda model: Conversation(
    name="plain", roles=("user", "assistant"), messages=[], sep_style=SeparatorStyle.ADD_COLON_SINGLE, sep="\n"
)

from fastchat.llm_judge import common  # noqa: E402

FILES = Path(__file__).resolve().parents[1] / "files"
SAID = {(0, 1): "[[A]]", (0, 2): "[[B]]", (1, 1): "[[A]]", (1, 2): "[[A]]", (2, 1): "[[C]]", (2, 2): "[[C]]"}
SAID |= {(3, 1): "I would rather not say.", (3, 2): "[[A]]", (4, 1): "$ERROR$", (4, 2): "$ERROR$"}
turns = []


def answer(model, conv, temperature, max_tokens, api_dict=None):
    """What the judge said of the games in turn."""
    turns.append(None)
    return "Read and thought about. " + SAID[(len(turns) - 1) // 2, (len(turns) - 1) % 2 + 1]


common.chat_completion_openai = answer
template = {
    "name": "pair-v2",
    "type": "pairwise",
    "system_prompt": "Judge.",
    "prompt_template": "{question}\n{answer_a}\n{answer_b}",
    "output_format": "[[A]]",
}
judge = common.Judge("gpt-4", template)
file = FILES / f"mt_bench-{version('fschat')}.jsonl"
file.unlink(missing_ok=True)
for number in range(5):
    question = {"question_id": 81 + number, "turns": [f"Write about lamp {number}."], "category": "writing"}
    answers = [{"choices": [{"turns": [f"{who} {number}."]}]} for who in ("Ours", "Theirs")]
    match = common.MatchPair(question, "ours", "theirs", *answers, judge, ref_answer=None, multi_turn=False)
    common.play_a_match_pair(match, str(file))
read = common.load_pairwise_model_judgments(str(file))
values = [[*key, *game["winners"]] for games in read.values() for key, game in games.items()]
about = {"tool": "fschat", "version": version("fschat"), "read_by": "common.load_pairwise_model_judgments"}
(FILES / "mt_bench.expected.json").write_text(json.dumps(about | {"values": values}, indent=1) + "\n")
people = [
    {
        "question_id": 81 + number,
        "model_a": "theirs" if number % 2 else "ours",
        "model_b": "ours" if number % 2 else "theirs",
        "winner": ("model_a", "model_b", "tie", "model_a", "tie")[number],
        "judge": f"expert_{number % 2}",
        "conversation_a": [
            {"role": "user", "content": f"Write about lamp {number}."},
            {"role": "assistant", "content": f"{'Theirs' if number % 2 else 'Ours'} {number}."},
        ],
        "conversation_b": [
            {"role": "user", "content": f"Write about lamp {number}."},
            {"role": "assistant", "content": f"{'Ours' if number % 2 else 'Theirs'} {number}."},
        ],
        "turn": 1,
    }
    for number in range(5)
]
(FILES / "mt_bench-human.jsonl").write_text("".join(json.dumps(one) + "\n" for one in people))
