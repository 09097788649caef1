"""A study in which people compare two stories of one story-prompt: the pairs, their sides, repeats with sides
exchanged, and a whole story beside its damaged version as a check."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from judge.base.errors import SpecError
from judge.base.records import Criterion, Preferred, Scale, Story
from judge.lab.people.options import DesignOptions
from judge.lab.people.pairs import PairDesign, pair_design
from judge.lab.people.study import APART, Drawn, Entry, Text, damaged_text, practice_pairs, whole_prompts

# Answers to a comparison, in the order of their codes: the story on one side, or neither.
LEFT, RIGHT = 0, 1
PLACES = ("Left", "Right", "Tie", "Both bad")


def compared(criterion: Criterion, *, ties: bool) -> Criterion:
    """The criterion as people are asked it of two stories: which is better. The ends of its guidelines go with its
    definition."""
    words = criterion.definition
    if criterion.guidelines:
        words += f"\nFrom: {criterion.guidelines[0]}\nTo: {criterion.guidelines[-1]}"
    places = PLACES if ties else PLACES[:2]
    return replace(
        criterion, definition=words, guidelines=(), scale=Scale.of_labels(places, ordered=False, positive="")
    )


def preferred(value: float, *, turned: bool) -> Preferred:
    """A comparison's answer as a preference of the pair in its own order; `turned`: its second story stood left. A pair
    of which both are bad prefers neither."""
    if value not in (LEFT, RIGHT):
        return "tie"
    return "first" if (value == LEFT) != turned else "second"


def draw_pairs(stories: Iterable[Story], dataset: str, criteria: Sequence[Criterion], options: DesignOptions) -> Drawn:
    """A study of pairs of stories that have a text. Raises SpecError where no design, or no study, can be made."""
    rng = np.random.default_rng(options.seed)
    if not criteria:
        raise SpecError("a study needs a criterion", hint="choose a criteria set, e.g. overall")
    chosen, rest = whole_prompts([story for story in stories if story.text.strip()], options.n, rng)
    prompts = np.unique([story.story_prompt or story.id for story in chosen], return_inverse=True)[1]
    names, systems = np.unique([story.system for story in chosen], return_inverse=True)
    made = pair_design(prompts, systems, options.raters, options.per_story, rng)
    texts = [Text(s.id, s.story_prompt, s.system, s.text) for s in chosen]
    practice = [
        Entry(left, "practice", None, right)
        for i, pair in enumerate(practice_pairs(rest or chosen, texts, options))
        for left, right in (pair if i % 2 else pair[::-1],)
    ]
    lists = [_list(rater, made, chosen, texts, options, practice, rng) for rater in range(options.raters)]
    asked = tuple(compared(criterion, ties=options.ties) for criterion in criteria)
    notes = tuple(_notes(made, chosen, names.size))
    return Drawn(dataset, tuple(texts), tuple(lists), asked, made.design, tuple(chosen), notes, options)


def _notes(made: PairDesign, chosen: Sequence[Story], systems: int) -> Iterable[str]:
    words = np.array([len(story.text.split()) for story in chosen])
    longer, all_ = 0, 0
    for order, swapped in zip(made.design.orders, made.swapped, strict=True):
        for pair, other in zip(order, swapped, strict=True):
            left, right = made.pairs[pair][::-1] if other else made.pairs[pair]
            longer, all_ = longer + int(words[left] > words[right]), all_ + int(words[left] != words[right])
    yield f"{len(made.pairs)} pairs, each story in two of them; {systems} systems stand left as often as right"
    if all_:
        yield f"the longer story stands left in {longer / all_:.0%} of comparisons"
    if made.uneven > 1:
        yield f"somebody meets one system {made.uneven} times more often than another: another seed may even it"
    if made.design.adjacent:
        yield f"{made.design.adjacent} places have two pairs of one prompt in a row: there are too few prompts"


def _list(
    rater: int,
    made: PairDesign,
    chosen: Sequence[Story],
    texts: list[Text],
    options: DesignOptions,
    practice: Sequence[Entry],
    rng: np.random.Generator,
) -> tuple[Entry, ...]:
    """One rater's list: practice, the pairs, repeats with sides exchanged `APART` places or more after the first
    reading, and damaged stories beside whole ones; neither stands first or last."""
    entries = []
    for pair, other in zip(made.design.orders[rater], made.swapped[rater], strict=True):
        left, right = (int(i) + 1 for i in (made.pairs[pair][::-1] if other else made.pairs[pair]))
        entries.append(Entry(left, "rating", None, right))
    number = max(2, round(len(entries) * options.checks)) if options.checks else 0
    firsts = list(entries)
    sources = [int(at) for at in rng.permutation(len(firsts)) if len(firsts) - at > APART + 1]
    for at in sources[:number]:
        first = firsts[at]
        place = int(rng.integers(entries.index(first) + APART + 1, len(entries)))
        left, right = first.texts
        entries.insert(place, Entry(right, "repeat", None, left))
    for i, at in enumerate(rng.permutation(len(chosen))[:number] if len(entries) > 2 else ()):
        if (damaged := _damaged(int(at), chosen, texts, options)) is not None:
            both = (int(at) + 1, damaged)
            left, right = both if i % 2 else both[::-1]
            entries.insert(int(rng.integers(1, len(entries))), Entry(left, "check", None, right))
    whole = [*practice, *entries]
    of = {(e.text, e.beside): at for at, e in enumerate(whole) if e.use == "rating"}
    return tuple(replace(e, of=of[e.beside or 0, e.text]) if e.use == "repeat" else e for e in whole)


def _damaged(at: int, chosen: Sequence[Story], texts: list[Text], options: DesignOptions) -> int | None:
    """Number of a story's damaged text, which joins `texts` at its first use; None where nothing damages it."""
    known = [i for i, text in enumerate(texts, start=1) if text.origin == at + 1]
    if known:
        return known[0]
    if (made := damaged_text(chosen[at], options.seed)) is None:
        return None
    story = chosen[at]
    texts.append(Text(story.id, story.story_prompt, story.system, made[0], at + 1, made[1]))
    return len(texts)
