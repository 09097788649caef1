"""What the name of a column suggests: a field, a criterion, and whose ratings it holds."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from judge.base.late_pattern import late

# Field -> names that files give it, likeliest first, in small letters without blanks and marks.
NAMES: Mapping[str, tuple[str, ...]] = {
    "id": (
        *("id", "storyid", "sid", "itemid", "exampleid", "uid", "key", "story", "stories", "item", "example"),
        *("sample", "document", "doc", "docid", "pairid", "index", "idx", "output"),
    ),
    "text": (
        *("text", "story", "storytext", "generatedstory", "generatedtext", "generation", "generated", "output"),
        *("response", "completion", "continuation", "prediction", "candidate", "hypothesis", "content", "body"),
        *("reply", "summary", "answer", "essay", "passage"),
    ),
    "system": ("system", "model", "modelname", "systemname", "modelid", "systemid", "generator", "source", "author"),
    "story_prompt": (
        *("storyprompt", "prompt", "writingprompt", "instruction", "input", "premise", "context", "title", "promptid"),
        "question",
    ),
    "reference": ("reference", "human", "humanstory", "gold", "goldstory", "goldresponse", "ref", "target"),
    "rater": (
        *("rater", "raterid", "worker", "workerid", "annotator", "annotatorid", "participant", "participantid"),
        *("userid", "user", "who", "judge", "evaluator", "ratedby", "source", "expert", "reader", "coder", "reviewer"),
        *("annotateur", "annotatrice", "bewerter", "gutachter", "anotador", "anotadora", "evaluador", "evaluadora"),
    ),
    "criterion": (
        *("criterion", "criteria", "aspect", "dimension", "attribute", "metric", "quality", "test", "question"),
        *("item", "criterionname"),
    ),
    "rating": (
        *("rating", "score", "value", "label", "stars", "likert", "answer", "response"),
        *("note", "bewertung", "wertung", "punkte", "puntuacion", "nota"),
    ),
    "panel": ("panel",),
    "explanation": (
        *("explanation", "reason", "reasoning", "rationale", "justification", "comment", "comments", "feedback"),
        *("why", "remarks", "notes", "note"),
    ),
}

# Parts of names of columns that count, number or place something.
_COUNTS = frozenset(
    (
        *(
            "length",
            "len",
            "words",
            "word",
            "tokens",
            "token",
            "chars",
            "time",
            "times",
            "seconds",
            "minutes",
            "duration",
        ),
        *(
            "year",
            "date",
            "index",
            "idx",
            "seed",
            "votes",
            "count",
            "rank",
            "number",
            "num",
            "order",
            "position",
            "batch",
            "page",
            "pages",
        ),
        *("fold", "split", "temperature", "age", "n", "no", "row", "line", "id"),
    )
)
_IDS = late(r"(?:story|worker|prompt|user|rater|annotator|item|doc|model|task|hit|assignment|session|system)id$")
_NO_RATING = late(r"std|stdev|var$|variance|conf|prob|agreement|kappa|^sd$|_sd$|native|gender|cost|price|fee|latency")

# Guess of a column's rater and criterion from its name, for the user to confirm.

Side = Literal["judge", "human"]

# The criterion of ratings that name none.
OVERALL = "Overall"

_JUDGE = late(
    r"gpt|claude|gemini|llama|mistral|mixtral|qwen|deepseek|beluga|vicuna|gemma|^phi\d*$|palm2?$|command-?r|grok|^o[134]$"
    r"|llm|^judges?\d*$|^auto|^ai$|^pred|^metric|prometheus|geval|bertscore|bleu|rouge|bart|comet|meteor|bleurt|unieval"
    r"|sonnet|opus|haiku|pandalm|machine|^model$"
)
_HUMAN = late(
    r"human|people|person|rater|annot|worker|expert|crowd|reader|gold|turk|participant|reviewer|student|^mos$"
    r"|^(?:h|r|a|w|ann|amt)\d+$|^ann$|evaluator|coder"
)
_VERSION = late(r"^v?\d+[a-z]{0,2}$|^(?:turbo|mini|instruct|chat|pro|flash|sonnet|opus|haiku|large|small|preview)$")
_PLAIN = frozenset(
    {"score", "scores", "rating", "ratings", "value", "label", "eval", "evaluation", "ans", "answer", "s"}
)
# What people are asked to rate, by names that are no person's.
_CRITERIA = frozenset(
    (
        *("coherence", "fluency", "relevance", "ch", "em", "re", "su", "eg", "cx", "consistency", "engagement"),
        *("engagingness", "grammar", "style", "plot", "plausibility", "plaus", "end", "ending", "creativity"),
        *("originality", "likability", "likeability", "empathy", "surprise", "complexity", "interestingness"),
        *("interesting", "interest", "quality", "naturalness", "groundedness", "overall", "accuracy", "correctness"),
        *("helpfulness", "harmlessness", "informativeness", "humor", "humour", "emotion", "character", "characters"),
        *("setting", "clarity", "readability", "novelty", "novel", "useful", "usefulness", "logic", "logicality"),
        *("relatedness", "cohesion", "depth", "tone", "theme", "structure", "pacing", "voice", "dialogue"),
        *("understandability", "specificity", "factuality"),
    )
)
_QUESTIONS = frozenset({"question", "item", "test", "task", "aspect", "criterion", "dim", "dimension", "statement"})
_MEANS = frozenset({"mean", "avg", "average", "median"})
_PARTS = late(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+\d*[a-z]?|[A-Z]+\d*|\d+[A-Za-z]*|[^\W\d_]+\d*")
_ENDS = " _-./:|()"
_FORM_FIELD = late(r"^(?:input|answer)\.", re.IGNORECASE)
_NUMBERED = late(r"^(.*?)[ _.-]*(?:\d+|[a-e])$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class NamedColumn:
    """What the name of a column of ratings suggests; `side` is None for neither, `mean`: it holds means."""

    column: str
    side: Side | None
    criterion: str | None
    who: str
    mean: bool


def named(column: str) -> NamedColumn:
    """Side, criterion and rater that a column's name suggests, such as judge, Coherence and gpt4 of `gpt4_coh`."""
    parts = list(_PARTS.finditer(_FORM_FIELD.sub("", column)))
    low = [part[0].lower() for part in parts]
    judges = [bool(_JUDGE.search(part)) for part in low]
    people = [bool(_HUMAN.search(part)) for part in low]
    side: Side | None = "human" if any(people) else "judge" if any(judges) else None
    plain = [part.rstrip("0123456789") in _PLAIN | _MEANS for part in low]
    version = [bool(_VERSION.search(part)) or (side is not None and len(part) == 1) for part in low]
    rest = [part[0] for part, *marks in zip(parts, judges, people, plain, version, strict=True) if not any(marks)]
    criterion = criterion_name(_unnumbered(" ".join(rest))) if rest else None
    who = _FORM_FIELD.sub("", column)
    for part, *marks in reversed(list(zip(parts, judges, people, version, strict=True))):
        if not any(marks):
            who = who[: part.start()].rstrip(_ENDS) + who[part.end() :]
    return NamedColumn(column, side, criterion, who.strip(_ENDS) or column, bool(_MEANS & {*low}))


def may_be_persons(columns: Sequence[NamedColumn]) -> bool:
    """Whether people's columns, one for each of what would be criteria, may be named for persons: `annotator_ann`."""
    criteria = [column.criterion for column in columns]
    different = len(columns) > 1 and None not in criteria and len({*criteria}) == len(columns)
    return different and not any(_is_criterion(str(name)) for name in criteria)


def _is_criterion(name: str) -> bool:
    """Whether a name is that of a criterion: known, with a number as questions have, or of several words."""
    words = [part[0].lower() for part in _PARTS.finditer(name)]
    return bool(_CRITERIA & {*words, bare(name)}) or len(words) > 1 or any(map(str.isdigit, name))


def _unnumbered(name: str) -> str:
    """The name of a criterion without the number of a column at its end; questions are told apart by theirs."""
    plain = name.rstrip("0123456789")
    return plain if len(plain) > 2 and plain.lower() not in _QUESTIONS else name


def is_count(column: str) -> bool:
    """Whether a column's name suggests counts, ids or a measure of spread instead of ratings."""
    low = [part[0].lower() for part in _PARTS.finditer(column)]
    return not low or bool(_COUNTS & {*low} or _IDS.search(bare(column)) or _NO_RATING.search(column.lower()))


def without_means(columns: Sequence[NamedColumn]) -> list[NamedColumn]:
    """The columns, without each column of means whose criterion also has a column of single ratings."""
    single = {column.criterion for column in columns if not column.mean}
    return [column for column in columns if not column.mean or column.criterion not in single]


def bare(column: str) -> str:
    """Small letters and digits of a column's name, without the prefixes of crowd-sourcing files."""
    last = _FORM_FIELD.sub("", column)
    return re.sub(r"[^a-z0-9]", "", last.rpartition(".")[2].lower())


def stem(column: str) -> str | None:
    """A column's name without the number or letter at its end; None where it has none."""
    numbered = _NUMBERED.match(column)
    return numbered[1].strip(_ENDS) if numbered and numbered[1].strip(_ENDS) else None


def named_column(name: str, columns: Sequence[str]) -> str | None:
    """The first column with a usual name for the field, the more usual names first."""
    for usual_name in NAMES[name]:
        for column in columns:
            if bare(column) == usual_name:
                return column
    return None


def criterion_name(column: str) -> str:
    """Criterion (HANNA's, or overall quality) of a ratings column, by name, abbreviation or at least 3 first letters;
    else `column`."""
    from judge.inputs.criteria import load_criteria

    name = bare(column)
    for shipped in ("hanna", "overall"):
        for criterion in load_criteria(shipped).criteria:
            if name in (criterion.name.lower(), criterion.abbreviation.lower()) or (
                len(name) > 2 and criterion.name.lower().startswith(name)
            ):
                return criterion.name
    return column
