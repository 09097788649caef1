"""Replaces reasoning blocks and run-on chat turns in an answer by spaces. Every other character keeps its position."""

from __future__ import annotations

import re
from dataclasses import dataclass

_THINK_OPEN = re.compile(r"<(think|thinking|thought)>|\[(think)\]|◁(think)▷", re.IGNORECASE)
_THINK_CLOSE = re.compile(r"</(?:think|thinking|thought)>|\[/think\]|◁/think▷", re.IGNORECASE)
_FINAL_CHANNEL = "<|channel|>final<|message|>"
_OTHER_CHANNEL = "<|channel|>"
_OWN_TURN = re.compile(
    r"\s*(?:<s>|\[/inst\]|(?:<\|[a-z_]{1,20}\|>\s?)+(?:assistant\b:?)?(?:<\|[a-z_]{1,20}\|>)?"
    r"|\#{2,3}[ ]?(?:assistant|response)[ ]?:|assistant[ ]?:)",
    re.IGNORECASE,
)
_RUN_ON = re.compile(
    r"\n[ \t]{0,9}(?:\#{2,3}[ ]?(?:user|system|assistant|human|instruction|input|response|prompt)\b"
    r"|(?:human|user|assistant|system)[ ]?:|prompt:[ ])"
    r"|<\|[a-z_]{1,20}\|>|</s>|<s>|\[/?inst\]|<<sys>>|<(?:end|start)_of_turn>",
    re.IGNORECASE,
)
_RUN_ON_SIGNS = ("###", "## ", "human:", "user:", "assistant:", "system:", "prompt:", "<|", "s>", "inst]", "_of_turn")


@dataclass(frozen=True, slots=True)
class Cleaned:
    """An answer's text of unchanged length, in which everything that is not the answer is replaced by spaces.

    `run_on` says that a further chat turn was removed.
    """

    text: str
    run_on: bool = False


def clean(text: str) -> Cleaned:
    """The answer's text in which reasoning blocks, role markers and everything after the judge's own turn are replaced
    by spaces.
    """
    if "think" in text or "thought" in text or _OTHER_CHANNEL in text or "THINK" in text or "Think" in text:
        text = _without_thinking(text)
    lowered = text.lower()
    for sign in _RUN_ON_SIGNS:
        if sign in lowered:
            break
    else:
        return Cleaned(text)
    own = _OWN_TURN.match(text)
    if own is not None:
        text = " " * own.end() + text[own.end() :]
    cut = _RUN_ON.search(text, own.end() if own else 0)
    if cut is None:
        return Cleaned(text)
    return Cleaned(text[: cut.start()] + " " * (len(text) - cut.start()), run_on=True)


def _without_thinking(text: str) -> str:
    """The text with reasoning blocks replaced by spaces. A block without an end mark reaches to the end of the text."""
    final = text.rfind(_FINAL_CHANNEL)
    if final >= 0:
        start = final + len(_FINAL_CHANNEL)
        return " " * start + text[start:]
    if text.lstrip().startswith(_OTHER_CHANNEL):
        return " " * len(text)
    pieces: list[str] = []
    done = 0
    for close in _THINK_CLOSE.finditer(text):
        # A close without an open: the chat template had already opened the block.
        opened = _THINK_OPEN.search(text, done, close.start())
        keep_to = opened.start() if opened else done
        pieces += [text[done:keep_to], " " * (close.end() - keep_to)]
        done = close.end()
    opened = _THINK_OPEN.search(text, done)
    if opened is None:
        return "".join(pieces) + text[done:]
    return "".join(pieces) + text[done : opened.start()] + " " * (len(text) - opened.start())
