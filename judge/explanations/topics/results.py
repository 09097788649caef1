"""All results on reasons in one object, its tables, and the answer that is printed first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from judge.analysis.frames import flat_frame
from judge.base.estimate import ALPHA
from judge.base.printing.tables import Column, Table, plain, printable
from judge.base.wording import Advice
from judge.explanations.quality.specificity import BY_CRITERION, Row
from judge.explanations.results import short
from judge.explanations.topics.clustering import BETWEEN, NO_WORD
from judge.explanations.topics.naming import PHRASES
from judge.explanations.topics.parting import HALVES, LEAST_PROMPTS, LEAST_TEXTS, LEVEL, Parting, Partings, partings
from judge.explanations.topics.reasons import (
    BY,
    Contrast,
    Reasons,
    RepeatsAgree,
    TopicFound,
    contrasts,
    repeats,
    topic_rows,
)
from judge.version import __version__

if TYPE_CHECKING:
    from judge.explanations.corpus.corpus import ExplanationTexts

# Reasons and themes named in a line of the answer.
_NAMED, _THEMES = 3, 6
# Texts below which topics say little.
_FEWEST = 100
# A reason goes with low or high ratings where its mean rating lies in the lowest or highest fifth of the scale.
_LOW, _HIGH = 0.2, 0.8


@dataclass(frozen=True, slots=True, eq=False)
class ReasonResults:
    """Results of `judge explain` on the reasons in `texts`."""

    texts: ExplanationTexts
    reasons: Reasons
    topics: tuple[TopicFound, ...]
    contrasts: tuple[Contrast, ...]
    repeats: tuple[Row[RepeatsAgree], ...]
    partings: Partings

    @property
    def signature(self) -> str:
        """Signature line under the tables: data, method and seed."""
        rows, found = self.reasons.rows, self.reasons.topics
        judges = ",".join(str(name) for name in rows["judge"].unique() if name)
        parsers = ",".join(dict.fromkeys(fact.parser for fact in self.texts.facts))
        masked = "none" if found.mask.why else "third-of-prompts"
        parts = (
            ",".join(f"{name}:{part['story'].nunique()}" for name, part in rows.groupby("dataset", sort=False)),
            f"judge:{judges}" if judges else "",
            f"parser:{parsers}" if parsers else "",
            f"texts:{len(rows)}of{len(self.texts.frame)}",
            f"mask:{masked}",
            f"topics:tfidf-kmeans/{found.count}/sample{found.fitted}/seed{self.reasons.seed}",
            f"themes:{int(found.theme.max()) + 1 if found.count else 0}",
            "" if self.reasons.named_by == PHRASES else f"names:{self.reasons.named_by}",
            f"v{__version__}",
        )
        return "|".join(part for part in parts if part)

    @property
    def frame(self) -> pd.DataFrame:
        """One row for each topic, with intervals in `..._low` and `..._high`."""
        return flat_frame((_cells(row) for row in self.topics), self.signature, tuple(_notes(self)))


def _cells(row: Any) -> dict[str, Any]:
    # Estimates stay as they are, unlike by `asdict`.
    return {field.name: getattr(row, field.name) for field in fields(row)}


def reason_results(texts: ExplanationTexts, found: Reasons) -> ReasonResults:
    """All results on the reasons `found` in `texts`."""
    compared = tuple(row for variable in BY for row in contrasts(found, variable))
    return ReasonResults(texts, found, topic_rows(found), compared, repeats(found), partings(found))


def tables(result: ReasonResults) -> list[Table]:
    """The answer, then the tables behind it."""
    made = [_answer(result), _themes(result), _topics(result), _partings(result)]
    made += [_contrasts(result, variable) for variable in BY]
    return [table for table in (*made, _repeats(result)) if table.rows]


# The answer.


def _answer(result: ReasonResults) -> Table:
    lines = [
        *_few(result),
        *_says(result),
        *_ratings(result),
        *_parts(result),
        *_differs(result),
        *_agrees(result),
        *_audit(result),
    ]
    rows = [
        {"question": question, "answer": answer if isinstance(answer, Advice) else printable(answer)}
        for question, answer in lines
    ]
    columns = [Column("question", ""), Column("answer", "", wrap=76)]
    return Table("What the explanations say", columns, rows, result.signature, tuple(_notes(result)))


def _few(result: ReasonResults) -> Iterator[tuple[str, str]]:
    read, asked = len(result.reasons.rows), len(result.texts.frame)
    different = result.reasons.rows["text"].nunique()
    if read < _FEWEST:
        yield "few texts", f"only {read:,} of {asked:,} answers hold an explanation: topics of so few may be chance"
    elif different < _FEWEST:
        yield "few texts", f"only {different:,} different texts among {read:,}: this judge repeats itself"


def _says(result: ReasonResults) -> Iterator[tuple[str, str]]:
    found = result.reasons
    themes = found.topics.theme[found.topics.topic[found.topics.topic >= 0]] if found.topics.count else np.array([])
    sizes = np.bincount(themes.astype(np.int64), minlength=len(found.themes))
    order = np.argsort(-sizes, kind="stable")[:_THEMES]
    named = [f"“{_short_name(found.themes[i])}” {_share(sizes[i] / len(found.rows))}" for i in order if sizes[i]]
    yield "says most", "; ".join(named) or "nothing that several texts say"


def _share(share: float) -> str:
    return f"{100 * share:.0f} %"


def _short_name(name: str) -> str:
    """The first two phrases of a name."""
    return ", ".join(name.split(", ")[:2])


def _ratings(result: ReasonResults) -> Iterator[tuple[str, str]]:
    mean = {row.topic: _mean(result.reasons, row.topic) for row in result.topics if row.topic != NO_WORD}
    rated = [row for row in result.topics if not np.isnan(mean.get(row.topic, np.nan))]
    for word, chosen in (
        ("low", sorted((r for r in rated if mean[r.topic] <= _LOW), key=lambda r: (-r.texts, r.topic))),
        ("high", sorted((r for r in rated if mean[r.topic] >= _HIGH), key=lambda r: (-r.texts, r.topic))),
    ):
        if chosen:
            named = "; ".join(f"“{_short_name(row.name)}”{_about(row)}" for row in chosen[:_NAMED])
            yield f"with {word} ratings", named


def _about(row: TopicFound) -> str:
    return f" ({row.criterion + ', ' if row.criterion else ''}mean {row.rating.value or 0.0:.2f})"


def _mean(found: Reasons, topic: int) -> float:
    ratings = found.rating[found.topics.topic == topic]
    return float(np.nanmean(ratings)) if (~np.isnan(ratings)).any() else float("nan")


def _parts(result: ReasonResults) -> Iterator[tuple[str, str]]:
    parted = result.partings
    if not parted.rows:
        yield "parts from people", f"not known: {parted.why}"
        return
    if not parted.significant:
        yield "parts from people", f"CANNOT TELL: none of {len(parted.rows)} topics tested stands out"
        return
    told = "; ".join(_parting_words(row) for row in parted.significant[:_NAMED])
    counted = f"({len(parted.significant)} of {len(parted.rows)} topics tested, adjusted)"
    yield "parts from people", f"among answers with the same rating, on a scale of 0 to 1: {told} {counted}"


def _parting_words(row: Parting) -> str:
    value, held = row.excess.value or 0.0, row.held_out
    way = "above" if value > 0 else "below"
    beside = "never chosen in a half" if held is None else f"held out {abs(held):.2f}"
    if held is not None and np.sign(held) != np.sign(value):
        beside = f"held out {abs(held):.2f} the other way"
    of = f" ({row.criterion})" if row.criterion else ""
    return f"those that say “{_short_name(row.name)}”{of} lie {abs(value):.2f} {way} people, {beside}"


def _differs(result: ReasonResults) -> Iterator[tuple[str, str]]:
    for variable, word in zip(BY, ("Eval-Prompts differ", "judges differ", "systems differ"), strict=True):
        rows = [row for row in result.contrasts if row.variable == variable]
        told = [row for row in rows if row.p is not None and row.p < ALPHA]
        if not rows or (variable == "system" and not told):
            continue
        if not told:
            yield word, f"CANNOT TELL: no difference among {len(rows)} tests, adjusted"
            continue
        told.sort(key=lambda row: (-abs(round(row.difference.value or 0.0, 9)), row.topic))
        named = [
            f"“{_short_name(row.name)}” {_share(row.share)} by {row.level}, {_share(row.others)} by others"
            for row in told[: 1 if variable == "system" else 2]
        ]
        yield word, f"{'; '.join(named)} ({len(told)} of {len(rows)} tests, adjusted)"


def _agrees(result: ReasonResults) -> Iterator[tuple[str, str]]:
    rows = [row.result for row in result.repeats if row.result.reasons.value is not None]
    if not rows:
        return
    reasons, ratings = ([getattr(row, name).value for row in rows] for name in ("reasons", "ratings"))
    ratings = [value for value in ratings if value is not None]
    words = f"kappa of reasons {_span(reasons)}" + (f", of ratings {_span(ratings)}" if ratings else "")
    same = [row.given_same for row in rows if row.given_same is not None]
    others = [row.other_stories for row in rows if row.other_stories is not None]
    if same and others:
        words += f"; with one rating, the same reason {_percent(same)}, for other stories {_percent(others)}"
    if two := [row.given_other for row in rows if row.given_other is not None]:
        words += f"; with two ratings, still the same reason {_percent(two)}"
    yield "repeats agree", words


def _span(values: Sequence[float]) -> str:
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def _percent(values: Sequence[float]) -> str:
    low, high = f"{100 * min(values):.0f}", f"{100 * max(values):.0f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


def _audit(result: ReasonResults) -> Iterator[tuple[str, str]]:
    if result.texts.facts:
        by = "topic" if not result.partings.significant else "topic,gap"
        yield "what to audit", Advice("judge audit sample RUN {by} draws from all of them, weighted", by=by)


def _notes(result: ReasonResults) -> Iterator[str]:
    found = result.reasons.topics
    lost = result.reasons.left_out
    if lost:
        yield f"{lost:,} of {len(result.texts.frame):,} rows left out: without an explanation"
    yield found.mask.note
    yield (
        f"{found.count} topics by k-means on TF-IDF of words and pairs, fitted on {found.fitted:,} texts; "
        f"{100 * float(found.between.mean()):.0f} % of all texts lie between two topics (gap of cosines under "
        f"{BETWEEN:g})"
    )
    if strange := int((found.topic == NO_WORD).sum()):
        yield f"{strange:,} texts hold no word that others use and have no topic"
    yield from result.reasons.name_notes
    yield "a topic is a reason that was given, not what led to the rating"
    yield from result.texts.notes


# The tables behind it.


def _themes(result: ReasonResults) -> Table:
    found = result.reasons
    theme = np.where(found.topics.topic < 0, -1, found.topics.theme[np.maximum(found.topics.topic, 0)])
    rows = []
    for number, name in enumerate(found.themes):
        inside = theme == number
        rated = inside & ~np.isnan(found.rating)
        both = rated & ~np.isnan(found.people)
        rows.append(
            {
                "theme": name,
                "texts": int(inside.sum()),
                "share": float(inside.mean()),
                "topics": int((found.topics.theme == number).sum()),
                "rating": float(found.rating[rated].mean()) if rated.any() else None,
                "people": float(found.people[both].mean()) if both.any() else None,
            }
        )
    columns = [
        Column("theme", "theme", wrap=60), Column("texts", "texts"), Column("share", "%", digits=1, factor=100),
        Column("topics", "topics"), Column("rating", "rating, 0-1"), Column("people", "people's"),
    ]  # fmt: skip
    note = "rating, people's: means as shares of each criterion's scale; people's are of the same stories"
    return Table("Themes", columns, rows if len(rows) < found.topics.count else [], result.signature, (note,))


def _topics(result: ReasonResults) -> Table:
    columns = [
        *plain("criterion"),
        Column("name", "topic", wrap=44),
        Column("share", "%", digits=1, factor=100),
        Column("texts", "texts"),
        Column("rating", "mean rating"),
        Column("people", "people's"),
        Column("between", "between topics %", digits=0, factor=100),
        Column("commonest", "commonest story-prompt %", digits=0, factor=100),
        Column("example", "clearest text", text=True, wrap=50),
    ]
    rows = [_cells(row) | {"example": short(row.example)} for row in result.topics]
    notes = (
        "%: of the texts on the criterion; intervals take story-prompts as clusters",
        "commonest story-prompt: its share of the topic's texts; where it is large, the topic is a story and no reason",
        "a topic in the words of the guideline repeats the rating and adds nothing to it",
    )
    return Table("Topics of reasons, with their ratings", columns, rows, result.signature, notes)


def _partings(result: ReasonResults) -> Table:
    columns = [
        *plain("criterion"),
        Column("name", "topic", wrap=44),
        Column("texts", "texts"),
        Column("story_prompts", "story-prompts, effective", digits=0),
        Column("rating", "rating, 0-1"),
        Column("people", "people's"),
        Column("excess", "excess", digits=3),
        Column("held_out", "held out", digits=3),
        Column("chosen", f"halves of {HALVES}"),
        Column("p", "p, adjusted", digits=3, p="two-sided"),
    ]
    parted = result.partings
    notes = (
        (
            "excess: judge above (+) or below people, in shares of the scale, among texts with the same rating, "
            "Eval-Prompt, criterion and system; intervals and p by flips of story-prompts, adjusted over all topics; "
            f"a topic stands out below p {LEVEL:g}"
        ),
        f"held out: mean excess in halves of the story-prompts whose other half chose the topic; of {HALVES} halves",
        (
            f"{len(parted.rows)} of {parted.topics} topics have {LEAST_TEXTS} texts about {LEAST_PROMPTS} effective "
            "story-prompts or more"
        ),
        (
            "the judge's rating minus people's by topic is not shown: it would differ for every topic by regression to "
            "the mean alone"
        ),
    )
    return Table(
        "Where judge and people part, given the rating", columns, [_cells(r) for r in parted.rows],
        result.signature, notes,
    )  # fmt: skip


def _contrasts(result: ReasonResults, variable: str) -> Table:
    name = {"eval_prompt": "Eval-Prompt"}.get(variable, variable)
    rows = [row for row in result.contrasts if row.variable == variable]
    rows.sort(key=lambda row: (1.0 if row.p is None else row.p, -abs(round(row.difference.value or 0.0, 9)), row.topic))
    columns = [
        Column("level", name),
        *plain("criterion"),
        Column("name", "topic", wrap=44),
        Column("share", "%", digits=1, factor=100),
        Column("others", "others %", digits=1, factor=100),
        Column("difference", "difference, paired", digits=1, factor=100),
        Column("equal_ratings", "at equal ratings", digits=1, factor=100),
        Column("p", "p, adjusted", digits=3, p="two-sided"),
    ]
    notes = (
        f"every {name} against the others together, paired by story-prompt; p adjusted (Holm) over topics and rows",
        "at equal ratings: difference of shares among texts with the same rating, without a test",
    )
    return Table(f"Reasons by {name}", columns, [_cells(row) for row in rows], result.signature, notes)


def _repeats(result: ReasonResults) -> Table:
    columns = [
        *plain(*(key for key in BY_CRITERION if key != "run")),
        Column("reasons", "kappa of reasons"),
        Column("themes", "of themes"),
        Column("ratings", "of ratings"),
        Column("given_same", "same reason, one rating %", digits=0, factor=100),
        Column("other_stories", "other stories %", digits=0, factor=100),
        Column("given_other", "one reason, two ratings %", digits=1, factor=100),
        Column("pairs", "pairs"),
    ]
    notes = (
        "pairs of repeats of one query; intervals leave out a story-prompt at a time",
        (
            "same reason, one rating: of pairs with equal ratings, those with the same topic; other stories: of pairs "
            "about different stories with that rating"
        ),
        "one reason, two ratings: of pairs with different ratings, those with the same topic",
        "part of the disagreement on reasons is of texts that lie between two topics",
    )
    return Table(
        "Do repeats give the same reason?", columns, [row.cells for row in result.repeats], result.signature, notes
    )
