"""Tables of generated stories: forecast before they are asked for, requests by status, stories by fault."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from judge.asking.execution.preparation import story_prompts_of
from judge.asking.plan import WritingPlan, load_prices, plan_of
from judge.asking.run_definition.writing import AnySpec
from judge.base.errors import SpecError
from judge.base.printing.tables import Column, Table, cells_of, plain
from judge.base.records import Story
from judge.lab.generation.faults import FAULT_TEXTS, FAULTS, Fault, faults_of
from judge.lab.generation.stories import LENGTH, SHARE, STATUSES, Status, Written, near_duplicates
from judge.lab.generation.stories import WHAT as WHAT_STATUS

# Forecast of the requests, tokens and cost of generating stories.

_CHARACTERS_PER_TOKEN = 4.0
# Usual ratios for English.
_TOKENS_PER_WORD = 1.4

# Guess for a story of which neither max_tokens nor a number of words says how long it may be.
_STORY_TOKENS = 700


def forecast_table(spec: AnySpec, folder: Path, limit: int | None = None) -> Table:
    """Table of one row: expected stories, tokens and dollars when one writer carries out `spec`. `folder` is that of
    the definition; `limit` counts story-prompts. Raises SpecError for a judge's run."""
    plan = plan_of(spec, folder=folder)
    if not isinstance(plan, WritingPlan):
        raise SpecError("this definition is a run's", hint="judge run RUN forecasts it")
    wanted = list(story_prompts_of(plan, folder).read())[:limit]
    lengths = [
        sum(len(message.content) for message in plan.commission(prompt_wanted, prompt).messages)
        for prompt_wanted in wanted
        for prompt in plan.writer_prompts
    ]
    stories = len(lengths) * plan.spec.stories_each
    asked = _STORY_TOKENS if plan.spec.words is None else round(plan.spec.words[1] * _TOKENS_PER_WORD)
    # The maximum: from the requested length, or max_tokens if smaller.
    each = min(asked, plan.spec.generation.max_tokens or asked)
    prompt = round(fmean(lengths) / _CHARACTERS_PER_TOKEN * stories) if lengths else 0
    price = load_prices(spec.judge, spec.base_url, spec.engine)
    cost = None if price is None else price.cost(prompt, each * stories)
    row = {
        "writer": spec.judge,
        "story_prompts": len(wanted),
        "stories": stories,
        "prompt_tokens": prompt,
        "tokens": each * stories,
        "cost": cost,
    }
    columns = [
        Column("writer", "writer"),
        Column("story_prompts", "story-prompts"),
        *plain("stories", "prompt_tokens"),
        Column("tokens", "tokens of stories"),
        Column("cost", "cost", money=True),
    ]
    notes = ["tokens are estimated: 4 characters each in prompts, and each story as long as it may be, or 700 tokens"]
    return Table("Forecast", columns, [row], f"forecast of {spec.name}, {spec.judge}", notes)


# Numbers of stories with each fault, by system, for generated stories and for any dataset.


@dataclass(frozen=True, slots=True)
class SystemCounts:
    """Counts for one system's stories; `words` is the mean per story, None without texts. `announced` counts stories
    that begin with an introductory remark or with "Title: ...". `pairs` are near-duplicates."""

    system: str
    stories: int
    words: float | None
    faults: Counter[Fault]
    announced: int
    pairs: int


def counted(stories: Iterable[Story]) -> list[SystemCounts]:
    """Counts for the stories of any dataset, in the order in which systems first appear."""
    return _by_system((story.system, story.text, faults_of(story.text, story.story_prompt)) for story in stories)


def counted_written(stories: Sequence[Written]) -> list[SystemCounts]:
    """Counts for all generated stories that have a text, also faulty ones."""
    return _by_system((story.system, story.text, story.faults) for story in stories if story.text.strip())


def _by_system(stories: Iterable[tuple[str, str, tuple[Fault, ...]]]) -> list[SystemCounts]:
    by_system: dict[str, list[tuple[str, tuple[Fault, ...]]]] = defaultdict(list)
    for system, text, faults in stories:
        by_system[system].append((text, faults))
    return [_of_system(system, texts) for system, texts in by_system.items()]


def _of_system(system: str, texts: Sequence[tuple[str, tuple[Fault, ...]]]) -> SystemCounts:
    texts_written = [text for text, _ in texts if text.strip()]
    return SystemCounts(
        system,
        len(texts),
        fmean(len(text.split()) for text in texts_written) if texts_written else None,
        Counter(fault for _, faults in texts for fault in faults),
        sum("preamble" in faults or "title" in faults for _, faults in texts),
        len(near_duplicates([text for text, _ in texts])),
    )


_COLUMNS = (
    *plain("system", "stories"),
    Column("words", "mean words", 0),
    *plain("leading_blank", "no_end", "run_on", "preamble", "title"),
    Column("announced", "either"),
    Column("reply", "other reply"),
    Column("prompt_echo", "prompt echoed"),
    Column("once_upon_a_time", "once upon a time"),
    Column("pairs", "near-duplicate pairs"),
)
_LENGTH = plain("too_short", "too_long")


def faults_table(counts: Sequence[SystemCounts], signature: str, *, asked_length: bool = False) -> Table:
    """Faults by system; with `asked_length`, also stories shorter or longer than requested."""
    columns = [*_COLUMNS[:3], *(_LENGTH if asked_length else ()), *_COLUMNS[3:]]
    shown = {column.key for column in columns}
    rows = []
    for counted_system in counts:
        own = cells_of(counted_system, "system", "stories", "words", "announced", "pairs")
        cells = own | {fault: counted_system.faults[fault] for fault in FAULTS}
        rows.append({key: value for key, value in cells.items() if key in shown})
    notes = [f"{column.title}: {FAULT_TEXTS[fault]}" for column in columns for fault in FAULTS if fault == column.key]
    notes.append(
        f"near-duplicate pairs: two stories of a system that share more than {100 * SHARE:g} % of the shorter one's "
        f"{LENGTH}-grams"
    )
    return Table("Faults of stories by system", columns, rows, signature, notes)


def status_table(stories: Sequence[Written]) -> Table:
    """Numbers of requests for stories with each status (such as `ok`, `cut` or `refused`), by system."""
    by_system: dict[str, Counter[Status]] = defaultdict(Counter)
    for story in stories:
        by_system[story.system][story.status] += 1
    columns = [
        Column("system", "system"),
        Column("asked", "planned"),
        *(Column(status, status.replace("_", " ")) for status in STATUSES),
    ]
    rows = [
        {"system": system, "asked": counts.total(), **{status: counts[status] for status in STATUSES}}
        for system, counts in by_system.items()
    ]
    notes = [f"{status.replace('_', ' ')}: {WHAT_STATUS[status]}" for status in STATUSES if status != "ok"]
    return Table("Stories that were asked for", columns, rows, "", notes)


def signature_of(stories: Sequence[Written], rules: Sequence[str]) -> str:
    """Signature line: writers, number of requests, and rules that removed text."""
    writers = ", ".join(dict.fromkeys(story.writer for story in stories))
    taken = f"stripped of {', '.join(rules)}" if rules else "text as it was written"
    return f"stories that were asked for · {writers} · {len(stories)} requests · {taken} · every story counted"
