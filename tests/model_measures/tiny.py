"""Tiny models with random weights, and a tokenizer of words and letters that all of them share."""

from __future__ import annotations

from pathlib import Path

LONGEST = 64
LETTERS = "abcdefghijklmnopqrstuvwxyz.,'"
WORDS = ("the", "cat", "dog", "sat", "on", "mat", "moon", "and", "looked", "at", "a", "old", "tree")


def _tokenizer(folder: Path) -> tuple[str, int]:
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    known = [*special, *WORDS, *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    places = {piece: at for at, piece in enumerate(dict.fromkeys(known))}
    pieces = Tokenizer(models.WordPiece(places, unk_token="[UNK]"))
    pieces.normalizer = normalizers.Lowercase()
    pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    pieces.post_processor = processors.BertProcessing(("[SEP]", places["[SEP]"]), ("[CLS]", places["[CLS]"]))
    names = {f"{name}_token": f"[{name.upper()}]" for name in ("pad", "unk", "cls", "sep", "mask")}
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=pieces, model_max_length=LONGEST, **names)
    tokenizer.save_pretrained(str(folder))
    return str(folder), len(places)


def encoder(folder: Path) -> str:
    """A BERT of two layers that also guesses masked words."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    name, size = _tokenizer(folder)
    torch.manual_seed(7)
    config = BertConfig(
        vocab_size=size,
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=LONGEST,
        initializer_range=0.3,
    )
    BertForMaskedLM(config).save_pretrained(name)
    return name


def encoder_decoder(folder: Path) -> str:
    """A BART of one layer a side."""
    import torch
    from transformers import BartConfig, BartForConditionalGeneration

    name, size = _tokenizer(folder)
    torch.manual_seed(7)
    config = BartConfig(
        vocab_size=size,
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=64,
        decoder_ffn_dim=64,
        max_position_embeddings=LONGEST,
        init_std=0.3,
        pad_token_id=0,
        bos_token_id=2,
        eos_token_id=3,
        decoder_start_token_id=3,
        forced_eos_token_id=3,
    )
    BartForConditionalGeneration(config).save_pretrained(name)
    return name


def causal(folder: Path) -> str:
    """A GPT-2 of two layers."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    name, size = _tokenizer(folder)
    torch.manual_seed(7)
    config = GPT2Config(vocab_size=size, n_positions=LONGEST, n_embd=32, n_layer=2, n_head=2, initializer_range=0.3)
    GPT2LMHeadModel(config).save_pretrained(name)
    return name
