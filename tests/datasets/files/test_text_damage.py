"""Marks of damage, and texts that only look a little like it."""

from __future__ import annotations

import pytest

from judge.inputs.datasets.check import damage_in


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("a\x00b", "control characters"),
        ("a\x9fb", "control characters"),
        ("lost \ufffd byte", "U+FFFD (lost bytes)"),
        ("“curly”".encode().decode("cp1252", errors="ignore"), "mojibake"),
        ("café".encode().decode("latin-1"), "mojibake"),
        ("a\u00a0b".encode().decode("latin-1"), "mojibake"),
        ("Tom &amp; Jerry &#39;s", "HTML entities"),
        ("one<br><br>two", "markup"),
        ("one <\\newline> two", "markup"),
        ("Sure!\n\nAssistant: Once upon a time", "chat debris"),
        ("The end.<|im_end|>", "chat debris"),
        ("### Instruction", "chat debris"),
    ],
)
def test_damage_is_found(text: str, kind: str) -> None:
    assert kind in damage_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "Plain text,\n\twith tabs & ampersands; a < b > c.",
        "Ça va? Über Ångström, naïve café, “quotes” — dashes…",
        "Her assistant: a cat. Humanity: 1, robots: 0.",
        "[MALE] went to [FEMALE] 's house .",
        "São Paulo, Ãã, Â",
    ],
)
def test_healthy_texts_are_left_alone(text: str) -> None:
    assert damage_in(text) == []
