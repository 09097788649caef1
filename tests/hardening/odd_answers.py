"""Answers that no model should give, made by a seeded generator: odd numbers, nesting and log-probabilities."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

_NUMBERS = (
    *("9" * 309, "9" * 5000, "-" + "9" * 400, "1e400", "1e308", "-1e308", "1e-400", "1E+999999999999", "0x4", "four"),
    *("NaN", "Infinity", "-Infinity", "-0", "4.", ".5", "4e0", "4.5.6", "1,000,000", "²", "٤", "４", "½", "IV"),
    *("★" * 400, "4/" + "9" * 400, "4+", "3-4", "4%", "9" * 400 + "%", "null", "0" * 4000 + "4", "4" + "0" * 320),
)  # fmt: skip
_CHARACTERS = (
    *("\x00", "\x1b[2J\x1b]0;x\x07", "\u202e", "\u2028", "\ufeff", "\ud83d", "\udc00", "\U0010ffff", "\r", "\x85"),
    *("e" + "\u0301" * 300, "🏴\U000e0067\U000e0062", "İ", "ﬃ", "\u200d" * 50, "<script>", "=1+1", "|", "'", '"', "\\"),
    *("\x0b", "`" * 9),
)  # fmt: skip
_FRAMES = (
    *("Rating: {}", "{}", "**{}**", "I give {} out of 5.", "Rating: {}/5", "[[{}]]", "Score = {} because {}", "B {}"),
    *("between {} and {}", "No, {}", "Yes {}", "Story A is better: {}", "Verdict: {}", "Not {} but {}"),
    *("<rating>{}</rating>", "Final: {}\n" * 40),
)  # fmt: skip
_KEYS = (
    "score",
    "rating",
    "verdict",
    "winner",
    "choice",
    "label",
    "max",
    "scale",
    "explanation",
    "Coherence",
    "reason",
)


def number(draw: random.Random) -> str:
    """Text of a number that few programs expect."""
    return draw.choice((*_NUMBERS, str(draw.randint(-9, 9)), str(draw.uniform(-9, 9)), "7" * draw.randint(1, 6000)))


def _value(draw: random.Random, depth: int = 0) -> str:
    """JSON text of any value."""
    kind = draw.randrange(10)
    if kind < 4:
        return number(draw)
    if kind == 4:
        return json.dumps(number(draw))
    if kind == 5:
        return json.dumps(draw.choice(_CHARACTERS) * draw.randint(1, 3))
    if kind == 6:
        much = draw.choice((3, 60, 300, 1500, 20_000))
        return draw.choice(("[" * much + "1" + "]" * much, "[" * much, '{"score":' * much + "4" + "}" * much))
    if depth < 3 and kind == 7:
        return f"[{', '.join(_value(draw, depth + 1) for _ in range(draw.randint(0, 3)))}]"
    if depth < 3 and kind == 8:
        return _object(draw, depth + 1)
    return draw.choice(("true", "null", '""', '"Yes"', '"A"', '"4"', "4", "{}", "[]"))


def _object(draw: random.Random, depth: int = 0) -> str:
    keys = [draw.choice(_KEYS) for _ in range(draw.randint(1, 4))]
    return "{" + ", ".join(f"{json.dumps(key)}: {_value(draw, depth)}" for key in keys) + "}"


def _prose(draw: random.Random) -> str:
    frame = draw.choice(_FRAMES)
    holes = frame.count("{}")
    odd = [number(draw) if draw.random() < 0.7 else draw.choice(_CHARACTERS) for _ in range(holes)]
    return frame.format(*odd)


def _noise(draw: random.Random) -> str:
    pieces = [
        *_CHARACTERS,
        *_NUMBERS[:12],
        " ",
        "\n",
        "Rating",
        ":",
        "{",
        "}",
        "[",
        '"score"',
        "A",
        "Yes",
        "4",
        "```json",
    ]
    return "".join(draw.choice(pieces) for _ in range(draw.randint(0, 60)))


def text(draw: random.Random) -> str:
    """Text of an answer: prose, JSON, JSON inside prose, or noise."""
    makers: tuple[Callable[[random.Random], str], ...] = (
        _prose,
        _object,
        _object,
        lambda one: f"{_prose(one)}\n```json\n{_object(one)}\n```\n{_prose(one)}",
        _noise,
        lambda one: f"{draw.choice(_CHARACTERS)}{_prose(one)}{draw.choice(_CHARACTERS)}",
        _value,
    )
    return draw.choice(makers)(draw)


def _logprob(draw: random.Random) -> Any:
    if draw.random() < 0.001:
        return draw.choice((None, "-1", True, []))
    if draw.random() < 0.8:
        return draw.choice((-0.1, -2.0, -9999.0, 0, -1e308, -(10**18), -1e-320))
    return draw.choice((0.5, 709, 710.0, 1e308, 10**18, 1.6, 1e-9))


def logprobs(draw: random.Random, answer: str) -> Any:
    """Log-probabilities for an answer, as a chat server lists them: mostly in their form, with odd values."""
    kind = draw.randrange(12)
    if kind == 0 and draw.random() < 0.3:
        return draw.choice(({}, [], 4, "x", {"content": 4}, {"content": [4]}, {"tokens": ["4"], "token_logprobs": 4}))
    pieces = [answer[at : at + 3] for at in range(0, min(len(answer), 600), 3)] if kind < 6 else list(answer[:200])
    if kind == 6:
        pieces += [""] * 3000
    entries: list[Any] = []
    for piece in pieces:
        top = [
            {"token": draw.choice(("1", "4", "5", " 4", "10", "A", "Yes", "")), "logprob": _logprob(draw)}
            for _ in range(3)
        ]
        entries.append(
            {"token": piece, "logprob": -0.1 if kind < 9 else _logprob(draw), "top_logprobs": top if kind > 2 else []}
        )
    if kind in (7, 8):
        for entry in entries:
            entry["top_logprobs"] = [{"token": str(point), "logprob": 0.0} for point in range(1, 6)]
    if kind == 9 and entries:
        deep: Any = 1
        for _ in range(400):
            deep = [deep]
        entries[0]["bytes"] = deep
    if kind == 10:
        return {"tokens": pieces, "token_logprobs": [_logprob(draw) for _ in pieces], "top_logprobs": None}
    return {"content": entries}
