"""Rules that flag the five kinds of error which the HANNA study's annotators marked.

They were developed on the even-numbered items (0, 2, 4...) of the study's 100 audited explanations, all by one judge
with Eval-Prompt 3, to mark what the annotators seemed to object to. `judge explain` can report precision and recall on
the odd-numbered items. A rate of flags is not an error rate."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from judge.base.errors import SpecError
from judge.base.estimate import Estimate
from judge.base.late_pattern import late
from judge.base.records import Criterion
from judge.base.wording import Advice, Note
from judge.explanations.corpus.from_studies import hanna_user_study
from judge.explanations.quality.guideline_point import QuotedPoints
from judge.explanations.quality.presence import no_explanation
from judge.explanations.quality.quoted_evidence import Library, Place, Reading, Readings, Sources, place_of_quote
from judge.explanations.quality.specificity import BY_CRITERION, Asked, Measured, Row, groups, story_codes
from judge.inputs.datasets.studies.hanna import QUESTIONS, read_items
from judge.stats.estimation.proportions import wilson
from judge.stats.estimation.sample_size import clustered_proportion
from judge.version import __version__


@dataclass(frozen=True, slots=True)
class Explained:
    """One explanation with its story, criterion and rating; None where a value is not known. `answer` is the whole
    answer, or `text` where it is not known. `quoted` lists (scale point, share) for each quoted guideline; the share is
    that of the guideline's sentence that is quoted most."""

    answer: str
    text: str | None
    rating: float | None
    criterion: Criterion | None
    sources: Sources
    story_known: bool
    reading: Reading
    quoted: tuple[tuple[float, float], ...]


_WORD = late(r"[^\W\d_]+")
_PARAGRAPH = late(r"\n\s*\n|\n(?=Explanation:)")
_RATING_HEAD = late(r"^\W*(?:rating\W*)?\d(?:[.,]\d)?(?:\s*/\s*\d+)?\W*")
# Words that make a paragraph more than a closing word, and below which a text is short.
_MORE, _SHORT = 12, 40

_MAY_DOUBLE = frozenset({"had", "that", "very", "really", "so", "no"})
# A sentence run into the next, a wrong article, a doubled verb, a past after did.
_BROKEN = (
    late(r"(?<=[a-z]{2})[.!?][A-Z][a-z]"),
    late(r" an? (?:the|an?)\b| a [aeio]\w(?<! on)(?<! eu)\w| an [bcdfgjklmnpqrtvwxyz]\w\w"),
    late(
        r" (?:was|is|were|are) (?:(?:almost |nearly |barely )(?:kept|made|gave|left|lost|took|held)|is|are|was|were)\b"
    ),
    late(r" d(?:oes|id|o)(?: not|n['’]t) \w{2,}ed\b"),
)

_TOLD: tuple[Place, ...] = ("story", "story-prompt")

_TALK_LIST = (
    "about above action actions actual actually add added adds additionally allow allows almost aspect aspects author "
    "based become becomes begin beginning believe benefit benefited bring certain change changes character characters "
    "clear clearly coherence coherent complete completely complex complexity concept concepts connection content could "
    "deep deeper depth describe described describes description descriptions despite detail detailed details develop "
    "developed development dialogue different difficult during easily easy element elements emotion emotional "
    "emotionally emotions empathize empathy ending engage engaged engagement engaging enough entire especially even "
    "events everything example expect expected explain explained explanation explore explored fact feel feeling "
    "feelings felt final find first focus focused follow found further general give given gives good great happen "
    "happened happens however human idea important include included includes incoherences indicate interest interested "
    "interesting into involve involved involves keep kept lack lacked lacking lacks leave level like likely line "
    "little long made main make makes making many match matches maybe might mildly minor moment more most mostly much "
    "multiple narrative need never none only other overall pace part parts people perhaps person plot point predict "
    "predictable predicted present problem prompt protagonist provide provides question quite rate rated rating reach "
    "read reader readers reading real realistic really reason reasonable recognize recognized relate related "
    "relationship relevance relevant same scale scene scenes seem seemed seems sense series setting several show shows "
    "similar simple since situation slightly small some someone something somewhat specific start started still "
    "stories story strong surprise surprised surprising taken tell than that their them then there these they thing "
    "things think this those though thought thoughts through time together told touch turn twist twists under "
    "understand unique until used using very well were what when where which while whole will with without word words "
    "work world would writer writing written your yourself"
)
# Words in which any story is talked about: sharing them with a story says nothing.
_TALK = frozenset(_TALK_LIST.split())


def wrong_guideline(explanation: Explained) -> bool:
    """Whether the explanation quotes guidelines, but not the guideline of its rating."""
    if explanation.criterion is None or explanation.rating is None:
        return False
    half = explanation.criterion.scale.step / 2
    return bool(explanation.quoted) and all(abs(point - explanation.rating) >= half for point, _ in explanation.quoted)


def poor_syntax(explanation: Explained) -> bool:
    """Whether it has a doubled word, a wrong verb form or article, run-on sentences, an unclosed quotation, or breaks
    off."""
    text = explanation.text or ""
    if not text.strip():
        return False
    cut = text.count(" ") >= _MORE and text.rstrip()[-1] not in ".!?…\"”'’)]*"
    open_mark = text.count('"') % 2 == 1 or text.count("“") != text.count("”")
    low = text.lower().split()
    doubled = any(a == b and a.isalpha() and a not in _MAY_DOUBLE for a, b in itertools.pairwise(low))
    return cut or open_mark or doubled or any(rule.search(text) for rule in _BROKEN)


def superfluous_text(explanation: Explained) -> bool:
    """Whether it begins with a copied guideline, mentions guidelines, repeats itself, or another chat turn follows."""
    if "guideline" in explanation.answer.lower() or explanation.reading.runs_on:
        return True
    parts = [part for part in _PARAGRAPH.split(explanation.answer.strip()) if part.strip()]
    if explanation.criterion is not None and sum(len(part.split()) for part in parts[1:]) >= _MORE:
        head = _RATING_HEAD.sub("", parts[0], count=1)
        if head and no_explanation(head, explanation.criterion):
            return True
    return explanation.reading.repeats


def unsubstantiated_claims(explanation: Explained) -> bool:
    """Whether it is only a copied guideline, has a quotation that occurs in no known source, or is short and uses no
    word of story or story-prompt."""
    if no_explanation(explanation.text, explanation.criterion):
        return explanation.text is not None
    if not explanation.story_known or explanation.text is None:
        return False
    if any(place_of_quote(span, explanation.sources) == "nowhere" for span in explanation.reading.quoting.spans):
        return True
    if len(explanation.text.split()) >= _SHORT:
        return False
    task = explanation.sources.get("task")
    words = (
        {word for word in _WORD.findall(explanation.text.lower()) if len(word) > 3}
        - _TALK
        - (task.word_set if task else frozenset())
    )
    return not any(word in explanation.sources[where].word_set for word in words for where in _TOLD)


def incoherence(explanation: Explained) -> bool:
    """Whether the answer quotes the guidelines of two or more scale points."""
    return len(explanation.quoted) > 1


# Error as the study prints it -> its rule.
RULES: Mapping[str, Callable[[Explained], bool]] = {
    "Wrong Guideline": wrong_guideline,
    "Poor Syntax": poor_syntax,
    "Superfluous Text": superfluous_text,
    "Unsubstantiated Claims": unsubstantiated_claims,
    "Incoherence": incoherence,
}


def flags(explanation: Explained) -> dict[str, bool]:
    """Whether each rule, by name, flags the explanation."""
    return {name: rule(explanation) for name, rule in RULES.items()}


# Flag rates of the rules in `flags`, and their precision and recall on explanations not used to develop them.

# Positive items below which a rule's row says that they are too few.
ENOUGH = 10

TOO_FEW = "too few to validate"


@dataclass(frozen=True, slots=True)
class Flagged:
    """Share of texts that each rule flags, by the rule's name, and the number of texts."""

    shares: Mapping[str, Estimate]
    texts: int


@dataclass(frozen=True, slots=True)
class Validated:
    """Agreement of a rule that flags `error` with annotators; `base` is the precision of a rule that flags everything.
    `flagged`, `positive` and `both` count explanations that the rule, annotators and both mark. `remark` warns if
    `positive` is below 10."""

    error: str
    precision: Estimate
    recall: Estimate
    base: Estimate
    both: int
    flagged: int
    positive: int
    items: int
    remark: str | None


def explained(
    frame: pd.DataFrame, criteria: Sequence[Criterion], library: Library, readings: Readings
) -> Iterator[Explained]:
    """The rules' input for each row: the explanation with its story, criterion and rating."""
    points_of = {criterion.name: QuotedPoints(criterion) for criterion in criteria}
    columns = (frame[name].tolist() for name in ("dataset", "story", "criterion", "text", "answer", "rating"))
    for dataset, story, criterion, raw, whole, given in zip(*columns, strict=True):
        text = raw if isinstance(raw, str) else None
        answer = whole if isinstance(whole, str) else text or ""
        rating = None if np.isnan(given) else float(given)
        sources = library.of(dataset, story, criterion)
        points = points_of.get(criterion)
        yield Explained(
            answer=answer,
            text=text,
            rating=rating,
            criterion=None if points is None else points.criterion,
            sources=sources,
            story_known=library.knows(dataset, story),
            reading=readings(text or ""),
            quoted=() if points is None else points.of(answer),
        )


def measure(
    frame: pd.DataFrame, criteria: Sequence[Criterion], library: Library, readings: Readings, signature: str
) -> Measured[Flagged]:
    """Share of texts that each rule flags, in one row for each judge, Eval-Prompt and criterion."""
    answers = [flags(explanation) for explanation in explained(frame, criteria, library, readings)]
    flagged = pd.DataFrame(answers, columns=list(RULES), dtype=float)
    rows = []
    for asked, places in groups(frame, BY_CRITERION):
        part = frame.iloc[places]
        story = story_codes(part)
        shares = {name: clustered_proportion(flagged[name].to_numpy()[places], story) for name in RULES}
        rows.append(Row(asked, Flagged(shares, len(part))))
    notes: list[str] = [
        Note(
            "flagged by rules that were set on one study's items: they show which texts to read and are no error rates",
            Advice(
                "judge explain {validate_flags} prints their precision and recall there, judge audit asks people",
                validate_flags="user_study.csv",
            ),
            joint="; ",
        )
    ]
    if unguided := int((~frame["criterion"].isin({c.name for c in criteria if c.guidelines})).sum()):
        notes.append(f"{unguided} texts are about criteria without known guidelines, which three of the rules need")
    return Measured(tuple(rows), signature, tuple(notes))


def validation(path: Path) -> Measured[Validated]:
    """Precision and recall of every rule, on the odd-numbered explanations (1, 3, 5...) of `user_study.csv` of HANNA.

    An explanation is positive if any of three annotators marked it. Raises SpecError if guidelines
    (`eval_prompts.json`) or stories (`hanna_llm_stories.csv`), which the rules read, are missing, and DataError for
    another file."""
    texts = hanna_user_study(path)
    if not texts.criteria or texts.stories.empty:
        missing = "guidelines" if not texts.criteria else "stories"
        hint = "judge data add hanna_eval_prompts PATH" if not texts.criteria else "judge data fetch hanna_llm"
        raise SpecError(f"the rules read the study's {missing}, which are not on this machine", hint=hint)
    items = read_items(path)
    library = Library(texts.stories, texts.criteria)
    flagged = pd.DataFrame(
        [flags(explanation) for explanation in explained(texts.frame, texts.criteria, library, Reading.of)]
    )
    odd = np.arange(len(items)) % 2 == 1
    marked = {name: np.array([any(item.errors[name]) for item in items], dtype=bool) for name in QUESTIONS}
    rows = [
        Row(Asked(), _validated(name, flagged[name].to_numpy(dtype=bool)[odd], positive[odd]))
        for name, positive in marked.items()
    ]
    notes = [
        "rules were set on the even items (0, 2, 4...), and are reported on the odd ones; 95 % Wilson intervals",
        (
            "positive: one annotator or more of three said so; the first question's answers are turned round (1 = "
            "followed)"
        ),
        "base rate: what a rule that flags everything reaches as precision",
        f"one study, one Eval-Prompt, {int(odd.sum())} items of human stories: on other data the rules may differ",
        *(note for note in texts.notes if "criteri" in note),
    ]
    signature = f"{path.stem}:{int(odd.sum())} odd items|against:any of 3|ci:wilson|v{__version__}"
    return Measured(tuple(rows), signature, tuple(notes))


def _validated(name: str, flagged: np.ndarray[Any, Any], positive: np.ndarray[Any, Any]) -> Validated:
    both, flagged_count, true = int((flagged & positive).sum()), int(flagged.sum()), int(positive.sum())
    return Validated(
        error=name,
        precision=wilson(both, flagged_count) if flagged_count else Estimate.undefined("the rule flagged nothing"),
        recall=wilson(both, true) if true else Estimate.undefined("no annotator saw this error"),
        base=wilson(true, positive.size),
        both=both,
        flagged=flagged_count,
        positive=true,
        items=int(positive.size),
        remark=TOO_FEW if true < ENOUGH else None,
    )
