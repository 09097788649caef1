"""What a study asks of people, as values: the texts, the criteria, and each rater's list with its checks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np

from judge.base.errors import SpecError
from judge.base.fingerprint import fingerprint
from judge.base.records import Criterion, Story
from judge.inputs.perturbations.perturbation import Material, Unfit, applied, maker, rng_of
from judge.lab.people.design import Design, design
from judge.lab.people.options import DesignOptions
from judge.version import __version__

# What an entry of a rater's list is for; only `rating` enters tables.
Use = Literal["rating", "repeat", "check", "practice"]

# How good stories are damaged for checks, the first that fits: OpenMEVA's control stories were shuffled or repeated.
DAMAGES = (("sentence-shuffle", 4), ("lexical-repetition", 4), ("word-shuffle", 4))
# Stories between a first reading and a second one.
APART = 8
_HUMAN = "human"


@dataclass(frozen=True, slots=True)
class Text:
    """One text that raters read. `origin` is the number of the story that was damaged, by the perturbation `damage`."""

    story: str
    story_prompt: str
    system: str
    text: str
    origin: int | None = None
    damage: str | None = None
    practice: bool = False

    @property
    def key(self) -> str:
        """Hash of text and story-prompt, by which a judge's run and people's ratings are matched."""
        return story_key(self.story_prompt, self.text)


def story_key(story_prompt: str, text: str) -> str:
    """Hash of a story's text and prompt, whatever its id or file."""
    return fingerprint([story_prompt, text])


@dataclass(frozen=True, slots=True)
class Entry:
    """One place in a rater's list: the number of its text (from 1) and its use. `of` is the place, in the same list, of
    the first reading (repeat) or of the whole story (check). Of a pair, `text` stands left, `beside` right."""

    text: int
    use: Use
    of: int | None = None
    beside: int | None = None

    @property
    def texts(self) -> tuple[int, ...]:
        """Numbers of its one or two texts."""
        return (self.text,) if self.beside is None else (self.text, self.beside)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A study before its file is made. `lists` has one list a rater, in reading order, practice first."""

    dataset: str
    texts: tuple[Text, ...]
    lists: tuple[tuple[Entry, ...], ...]
    criteria: tuple[Criterion, ...]
    design: Design
    stories: tuple[Story, ...]
    notes: tuple[str, ...]
    options: DesignOptions

    @property
    def described(self) -> dict[str, Any]:
        """Facts of the design as plain data, with the rule on doubtful raters, dated before the first rating."""
        return {
            "dataset": self.dataset,
            "options": asdict(self.options),
            "stories": len(self.stories),
            "systems": sorted({story.system for story in self.stories}),
            "core": [self.stories[i].id for i in self.design.core],
            "shared": list(self.design.shared),
            "made": datetime.now(UTC).date().isoformat(),
            "rule": RULE,
            "version": __version__,
        }


RULE = (
    "raters in doubt are named by the sum of six signs below the lowest 3 % of simulated attentive raters of this "
    "design; nobody is left out of a table automatically"
)


def draw(stories: Iterable[Story], dataset: str, criteria: Sequence[Criterion], options: DesignOptions) -> Drawn:
    """A study of stories that have a text. Raises SpecError where no design, or no study, can be made of them."""
    rng = np.random.default_rng(options.seed)
    if not criteria:
        raise SpecError("a study needs a criterion", hint="choose a criteria set, e.g. hanna")
    pool = [story for story in stories if story.text.strip()]
    chosen, rest = whole_prompts(pool, options.n, rng)
    prompts = np.unique([story.story_prompt or story.id for story in chosen], return_inverse=True)[1]
    names, systems = np.unique([story.system for story in chosen], return_inverse=True)
    made = design(prompts, systems, options.raters, options.per_story, rng, core=options.core)
    texts = [Text(s.id, s.story_prompt, s.system, s.text) for s in chosen]
    notes: list[str] = []
    loads = made.table.sum(axis=0)
    if loads.min() < names.size:
        notes.append(f"some raters read fewer stories ({loads.min()}) than there are systems ({names.size})")
    if made.adjacent:
        notes.append(f"{made.adjacent} places have two stories of one prompt in a row: there are too few prompts")
    damaged = _damaged(chosen, texts, options)
    lists = [_with_checks(order, chosen, damaged, options, rng) for order in made.orders]
    pairs = practice_pairs(rest or chosen, texts, options)
    practice = [
        Entry(number, "practice", 2 * i if damaged_one else None)
        for i, pair in enumerate(pairs)
        for damaged_one, number in enumerate(pair)
    ]
    if len(practice) < options.practice:
        notes.append(f"{len(practice)} stories to practise on, of {options.practice}: they come in pairs")
    without = sum(not any(entry.use == "repeat" for entry in entries) for entries in lists)
    if options.checks and without:
        notes.append(f"{without} raters have no repeats: they read fewer than {APART + 3} stories")
    whole = tuple(_shifted(practice, entries) for entries in lists)
    return Drawn(dataset, tuple(texts), whole, tuple(criteria), made, tuple(chosen), tuple(notes), options)


def whole_prompts(pool: Sequence[Story], n: int | None, rng: np.random.Generator) -> tuple[list[Story], list[Story]]:
    """At most `n` stories (None = all) of whole story-prompts, drawn at random, and those left over."""
    by_prompt: dict[str, list[Story]] = {}
    for story in pool:
        by_prompt.setdefault(story.story_prompt or story.id, []).append(story)
    if not by_prompt:
        raise SpecError("no story has a text", hint="judge data show DATASET")
    wanted, picked = n or len(pool), 0
    prompts = list(by_prompt)
    taken: set[str] = set()
    for i in rng.permutation(len(prompts)):
        if picked + len(by_prompt[prompts[i]]) <= wanted:
            taken.add(prompts[i])
            picked += len(by_prompt[prompts[i]])
    if not picked:
        smallest = min(len(some) for some in by_prompt.values())
        raise SpecError(f"{wanted} stories hold no story-prompt with all its stories", hint=f"-n {smallest} or more")
    chosen = [story for name in prompts if name in taken for story in by_prompt[name]]
    return chosen, [story for name in prompts if name not in taken for story in by_prompt[name]]


def damaged_text(story: Story, seed: int) -> tuple[str, str] | None:
    """A story's text after the first of `DAMAGES` that changes it, and the perturbation's name; None if none does."""
    for name, strength in DAMAGES:
        change = maker(name)(Material(story), strength, rng_of(seed, name, story.id))
        if not isinstance(change, Unfit) and (text := applied(story.text, change)) != story.text:
            return text, f"{name}.{strength}"
    return None


def _damaged(chosen: Sequence[Story], texts: list[Text], options: DesignOptions) -> dict[int, int]:
    """Index of each good story -> number of its damaged text, which joins `texts`. Good are people's stories where
    there are some, else all: which of a machine's stories are good is what the study is to say."""
    good = [i for i, story in enumerate(chosen) if story.system.casefold() == _HUMAN] or list(range(len(chosen)))
    numbers = {}
    for i in good if options.checks else ():
        if (made := damaged_text(chosen[i], options.seed)) is not None:
            story = chosen[i]
            texts.append(Text(story.id, story.story_prompt, story.system, made[0], i + 1, made[1]))
            numbers[i] = len(texts)
    return numbers


def _with_checks(
    order: Sequence[int],
    chosen: Sequence[Story],
    damaged: dict[int, int],
    options: DesignOptions,
    rng: np.random.Generator,
) -> list[Entry]:
    """One rater's list: each story, repeats `APART` stories or more after the first reading, and damaged versions as
    far from the whole story; neither stands first or last."""
    entries = [Entry(i + 1, "rating") for i in order]
    number = max(2, round(len(order) * options.checks)) if options.checks else 0
    sources = [(p, i + 1, "repeat") for p, i in enumerate(order)]
    broken = [(p, damaged[i], "check") for p, i in enumerate(order) if i in damaged]
    used: set[int] = set()
    for kind in ("repeat", "check"):
        own = sources if kind == "repeat" else broken
        left = number
        for at in rng.permutation(len(own)):
            place, text, use = own[at]
            if left and order[place] not in used and _insert(entries, order[place] + 1, text, use, chosen, rng):
                used.add(order[place])
                left -= 1
    first = {entry.text: at for at, entry in enumerate(entries) if entry.use == "rating"}
    whole = {number: i + 1 for i, number in damaged.items()}
    return [
        entry if entry.use == "rating" else Entry(entry.text, entry.use, first[whole.get(entry.text, entry.text)])
        for entry in entries
    ]


def _insert(
    entries: list[Entry], story: int, text: int, use: str, chosen: Sequence[Story], rng: np.random.Generator
) -> bool:
    """Whether there is room for a second reading of `story` as `text`: it is put at a random place that fits."""
    at = next(i for i, entry in enumerate(entries) if entry.text == story and entry.use == "rating")
    after = range(at + APART + 1, len(entries))
    before = range(1, at - APART + 1) if use == "check" else ()
    places = [*before, *after]
    for i in rng.permutation(len(places)):
        beside = [entries[j] for j in (places[i] - 1, places[i]) if entries[j].text <= len(chosen)]
        if all(chosen[e.text - 1].story_prompt != chosen[story - 1].story_prompt for e in beside):
            entries.insert(places[i], Entry(text, use))  # type: ignore[arg-type]
            return True
    return False


def practice_pairs(pool: Sequence[Story], texts: list[Text], options: DesignOptions) -> list[tuple[int, int]]:
    """Numbers of whole stories and of their damaged versions, which join `texts`: practice whose feedback invents no
    expected number, for the damaged one should get a lower rating."""
    pairs: list[tuple[int, int]] = []
    for story in sorted(pool, key=lambda story: len(story.text)):
        if len(pairs) == options.practice // 2:
            break
        if (made := damaged_text(story, options.seed)) is not None:
            for text, damage in ((story.text, None), made):
                texts.append(Text(story.id, story.story_prompt, story.system, text, None, damage, practice=True))
            pairs.append((len(texts) - 1, len(texts)))
    return pairs


def _shifted(practice: Sequence[Entry], entries: Sequence[Entry]) -> tuple[Entry, ...]:
    by = len(practice)
    return (*practice, *(Entry(e.text, e.use, None if e.of is None else e.of + by) for e in entries))


def minutes(drawn: Drawn) -> list[float]:
    """Forecast of each rater's minutes: reading, 10 seconds a criterion, 15 a story (assumptions, replaced by raters'
    own pace once they have rated five)."""
    each = []
    for entries in drawn.lists:
        asked = len(entries) * (10 * len(drawn.criteria) + 15) / 60
        each.append(words(drawn, entries) / drawn.options.words_per_minute + asked)
    return each


def words(drawn: Drawn, entries: Sequence[Entry]) -> int:
    """Number of words that a list asks to read."""
    return sum(len(drawn.texts[number - 1].text.split()) for entry in entries for number in entry.texts)
