"""Finds prompts in a batch that begin with the same tokens, so that the model processes these tokens only once.

This saves time, because prompts about the same story begin with the story, and on a CPU most time is spent on
processing prompts.
"""

from __future__ import annotations

from collections.abc import Sequence

Tokens = Sequence[int]


def in_common(first: Tokens, other: Tokens) -> int:
    """Length of the common prefix of two prompts, in tokens. The last token of each prompt is excluded, because at
    least one must remain to be processed.
    """
    low, high = 0, min(len(first), len(other)) - 1
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def begin_alike(first: Tokens, other: Tokens) -> int:
    """Length of the common prefix of two prompts, in tokens; 0 if it is shorter than half of the longer prompt."""
    shared = in_common(first, other)
    return shared if 2 * shared >= max(len(first), len(other)) else 0


def batch(prompts: Sequence[Tokens], size: int) -> list[int]:
    """Indices of at most `size` prompts to answer next. After the first prompt come the prompts with the same
    beginning, then the next remaining prompt with those that share its beginning, and so on.
    """
    left, taken = list(range(len(prompts))), list[int]()
    while left and len(taken) < size:
        first = prompts[left[0]]
        alike = [left[0], *(i for i in left[1:] if begin_alike(first, prompts[i]))]
        taken += alike
        left = [i for i in left if i not in set(alike)]
    return taken[:size]


def beginnings(prompts: Sequence[Tokens]) -> tuple[list[Tokens], list[int]]:
    """The beginnings that prompts have in common, and for each prompt the index of its beginning in this list.

    Each prompt joins the first group whose first prompt begins in the same way (`begin_alike`), or starts a new group.
    The beginning of a group is the prefix that all its prompts share; for a group of one prompt, it is the whole prompt
    except its last token.
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
