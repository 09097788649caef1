"""A Llama of a million random weights and its tokenizer, made on the spot: `python -m tests.vllm.tiny_model FOLDER`.

Seeded, from text of this repository; nothing is downloaded. It says nothing sensible: it is there so that real engines
have something to run. Heads of 64 suit vLLM's attention kernels.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VOCABULARY = 4096
SPECIAL = ("<|begin|>", "<|end|>", "<|system|>", "<|user|>", "<|assistant|>", "<|pad|>")
TEMPLATE = (
    "{{ '<|begin|>' }}{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] + '<|end|>' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)


def texts() -> list[str]:
    """Stories and guidelines of the repository, and the points of a scale."""
    stories = ROOT / "judge" / "inputs" / "datasets" / "demo_stories.jsonl"
    found = [json.loads(line)["text"] for line in stories.read_text(encoding="utf-8").splitlines()]
    prompts = sorted((ROOT / "prompts").rglob("*.*"))
    found += [path.read_text(encoding="utf-8") for path in prompts if path.suffix in (".jinja", ".yaml")]
    return [*found, (ROOT / "README.md").read_text(encoding="utf-8")]


def make(
    folder: Path,
    *,
    context: int = 4096,
    hidden: int = 128,
    layers: int = 2,
    template: bool = True,
    spread: float = 0.15,
) -> Path:
    """Write model and tokenizer into `folder` (made if need be) in float32; returns it."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    folder.mkdir(parents=True, exist_ok=True)
    pieces = Tokenizer(models.BPE())
    pieces.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=list(SPECIAL),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    pieces.train_from_iterator(texts(), trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pieces,
        bos_token="<|begin|>",
        eos_token="<|end|>",
        pad_token="<|pad|>",
        additional_special_tokens=["<|system|>", "<|user|>", "<|assistant|>"],
        model_max_length=context,
        clean_up_tokenization_spaces=False,
    )
    if template:
        tokenizer.chat_template = TEMPLATE
    tokenizer.save_pretrained(str(folder))
    torch.manual_seed(20240613)
    config = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=hidden,
        intermediate_size=2 * hidden,
        num_hidden_layers=layers,
        num_attention_heads=max(hidden // 64, 1),
        num_key_value_heads=max(hidden // 64, 1),
        head_dim=64,
        max_position_embeddings=context,
        bos_token_id=tokenizer.bos_token_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        tie_word_embeddings=True,
        # Larger than usual, so that tokens differ in probability and a distribution can be told from another.
        initializer_range=spread,
        dtype="float32",
    )
    LlamaForCausalLM(config).save_pretrained(str(folder))
    return folder


if __name__ == "__main__":
    print(make(Path(sys.argv[1])))
