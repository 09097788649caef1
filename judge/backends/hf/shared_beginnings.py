"""Prompts in a batch that begin with the same tokens, which the model processes once: prompts about a story begin with
it, and on a CPU most time goes into prompts."""

from __future__ import annotations

from collections.abc import Sequence

Tokens = Sequence[int]


def in_common(first: Tokens, other: Tokens) -> int:
    """Length of the common prefix in tokens, without each prompt's last, because one must remain to be processed."""
    low, high = 0, min(len(first), len(other)) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def begin_alike(first: Tokens, other: Tokens) -> int:
    """Length of the common prefix in tokens; 0 if it is shorter than half of the longer prompt."""
    shared = in_common(first, other)
    return shared if 2 * shared >= max(len(first), len(other)) else 0


def batch(prompts: Sequence[Tokens], size: int) -> list[int]:
    """Indices of at most `size` prompts to answer next: the first with those that begin alike, then the next remaining
    one with its own, and so on."""
    left, taken = list(range(len(prompts))), list[int]()
    while left and len(taken) < size:
        first = prompts[left[0]]
        alike = [left[0], *(i for i in left[1:] if begin_alike(first, prompts[i]))]
        taken += alike
        left = [i for i in left if i not in set(alike)]
    return taken[:size]


def beginnings(prompts: Sequence[Tokens]) -> tuple[list[Tokens], list[int]]:
    """The groups' common beginnings, and for each prompt its index. A prompt joins the first group whose first prompt
    begins alike (`begin_alike`), or starts one. A single prompt's beginning is all but its last token."""
    distinct: list[Tokens] = []
    firsts: list[Tokens] = []
    of_prompt = []
    for prompt in prompts:
        shared = [begin_alike(first, prompt) for first in firsts]
        number = next((i for i, count in enumerate(shared) if count), None)
        if number is None:
            number = len(distinct)
            firsts.append(prompt)
            distinct.append(prompt[:-1])
        else:
            distinct[number] = distinct[number][: shared[number]]
        of_prompt.append(number)
    return distinct, of_prompt
