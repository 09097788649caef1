"""Detection of prompts in a batch that begin with the same tokens, so that the model reads these tokens once.

Prompts about one story begin with the story, and reading is what takes the time on a CPU.
"""

from __future__ import annotations

from collections.abc import Sequence

Tokens = Sequence[int]


def in_common(first: Tokens, other: Tokens) -> int:
    """Number of first tokens that two prompts share, short of the last token of either, which is left to be read."""
    low, high = 0, min(len(first), len(other)) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def begin_alike(first: Tokens, other: Tokens) -> int:
    """Tokens that two prompts share, 0 where that is less than half of the longer one."""
    shared = in_common(first, other)
    return shared if 2 * shared >= max(len(first), len(other)) else 0


def batch(prompts: Sequence[Tokens], size: int) -> list[int]:
    """Indices of at most `size` prompts to answer next: the first, those that begin as it does, and so on."""
    left, taken = list(range(len(prompts))), list[int]()
    while left and len(taken) < size:
        first = prompts[left[0]]
        alike = [left[0], *(i for i in left[1:] if begin_alike(first, prompts[i]))]
        taken += alike
        left = [i for i in left if i not in set(alike)]
    return taken[:size]


def beginnings(prompts: Sequence[Tokens]) -> tuple[list[Tokens], list[int]]:
    """Distinct beginnings of the prompts, and for each prompt the index of its beginning.

    A prompt that begins as no other does has all its tokens but the last as its beginning.
    """
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
