"""More tables as strangers write them: notes in names of columns, names of models that are people's, measures, means
beside what they are the mean of, ids of groups, and words that are no answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tests.tables.strangers import STORIES, Draw, Stranger

_WORDS = ("lamp", "river", "stone", "bread", "night", "fox", "door", "rain", "king", "girl", "sea", "light")
Column = Sequence[Any]


def _table(name: str, columns: dict[str, Column], **how: Any) -> Stranger:
    return Stranger(name, [*columns], [list(row) for row in zip(*columns.values(), strict=True)], **how)


def _floats(column: Column) -> list[float]:
    return [float(value) for value in column]


def noted() -> Iterator[Stranger]:
    """Criteria x (judges, people), each name with a note in brackets."""
    draw, criteria = Draw(80), ("Relevanz", "Kohärenz")
    ids = {"Nr.": range(1, STORIES + 1), "Verfahren": [f"m{n % 3}" for n in range(STORIES)]}
    people = {f"{c} Prüfer {n}": draw.column() for c in criteria for n in (1, 2)}
    judged = {f"{c} ChatGPT (3 Durchl., Mittel)": draw.column() for c in criteria}
    yield _table(
        "notes_in_brackets",
        ids | people | judged,
        judges={(c, "ChatGPT"): _floats(judged[f"{c} ChatGPT (3 Durchl., Mittel)"]) for c in criteria},
        people={(c, f"Prüfer {n}"): _floats(people[f"{c} Prüfer {n}"]) for c in criteria for n in (1, 2)},
        fields={"story": "Nr.", "by": "Verfahren"},
    )
    criteria = ("流畅度", "连贯性")
    people = {f"人工_{c}(3人均值)": draw.column() for c in criteria}
    judged = {f"{who}_{c}": draw.column() for who in ("GPT-4", "文心一言") for c in criteria}
    yield _table(
        "notes_in_chinese",
        {"编号": range(1, STORIES + 1)} | people | judged,
        judges={(c, who): _floats(judged[f"{who}_{c}"]) for who in ("GPT-4", "文心一言") for c in criteria},
        people={(c, "人工"): _floats(people[f"人工_{c}(3人均值)"]) for c in criteria},
    )


def bracketed() -> Iterator[Stranger]:
    """Each person's name in brackets behind the criterion, of which one is on a list of given names."""
    draw, criteria = Draw(83), ("quality", "style")
    ids = {"item": [f"it{n}" for n in range(STORIES)], "model": [f"m{n % 3}" for n in range(STORIES)]}
    people = {f"{c} ({who})": draw.column() for c in criteria for who in ("Ana", "Bo", "Cem")}
    judged = {f"gpt4_{c}": draw.column() for c in criteria}
    yield _table(
        "persons_in_brackets",
        ids | people | judged,
        judges={(c, "gpt4"): _floats(judged[f"gpt4_{c}"]) for c in criteria},
        people={(c, who): _floats(people[f"{c} ({who})"]) for c in criteria for who in ("Ana", "Bo", "Cem")},
        fields={"story": "item", "by": "model"},
    )


def called() -> Iterator[Stranger]:
    """A colleague or a model, in a table of given names; none in a table of annotators."""
    draw = Draw(81)
    people = {"Amélie": draw.column(), "Hugo": draw.column(), "Claude": draw.column()}
    columns = {"id": [f"s{n}" for n in range(STORIES)]} | people | {"GPT": draw.column()}
    refused = ("is Claude a language model, and no person like Amélie?", "--human Claude", "--judge Claude")
    yield _table("a_model_or_a_colleague", columns, refused=refused)
    columns = {"id": columns["id"], "rater1": people["Hugo"], "rater2": people["Amélie"], "claude": people["Claude"]}
    yield _table(
        "a_model_beside_raters",
        columns,
        judges={("Overall", "claude"): _floats(people["Claude"])},
        people={("Overall", name): _floats(columns[name]) for name in ("rater1", "rater2")},
    )


def measured() -> Iterator[Stranger]:
    """Nothing says whose the numbers are: measures alone, a mean of all, counts of errors."""
    draw = Draw(82)
    ids = {"id": [f"s{n}" for n in range(STORIES)]}
    bleu = {"bleu": [round(draw.random.random(), 4) for _ in range(STORIES)]}
    both = {"quality": draw.column(), "score": draw.column(0, 100)}
    refused = ("the ratings of a judge and people", "bleu, quality, score", "--human COLUMN")
    yield _table("measures_alone", ids | bleu | both, refused=refused)
    four = {f"R{n}": draw.column() for n in range(1, 5)}
    four["R3"][4] = None  # type: ignore[call-overload]
    mean = [None if None in row else sum(row) / 4 for row in zip(*four.values(), strict=True)]
    refused = ("the ratings of a judge", "other columns of numbers: none", "--judge COLUMN --human R1")
    yield _table("a_mean_of_all", ids | four | {"R": mean}, refused=refused)
    errors = {"MQM": draw.column(0, 9), "#major": draw.column(0, 3), "DA": [n * 3 % 101 for n in range(STORIES)]}
    refused = ("the ratings of people", "--human DA")
    yield _table("counts_of_errors", ids | errors | {"GEMBA": draw.column(0, 100)}, refused=refused)


def grouped() -> Iterator[Stranger]:
    """A story has several texts by one person each; and e-mail addresses of raters beside a judge's repeated score."""
    draw = Draw(83)
    rows = [
        [story, who, f"{draw.text(_WORDS)} {story}", draw.points(story), ("yes", "no")[draw.points(story) > 2]]
        for story in range(10)
        for _ in range(2)
        for who in ("A1",)
    ]
    rows = [[story, who, *rest] for story, _, *rest in rows for who in ("A1", "A2", "A3")]
    rows = [[story, who, text, int(draw.points(story) > 2), said] for story, who, text, _, said in rows]
    told: dict[tuple[str, str], list[float]] = {}
    for _, who, _, value, _ in rows:
        told.setdefault(("syntax error", who), []).append(float(value))
    yield Stranger(
        "a_story_of_several_texts",
        ["story", "ann", "explanation shown", "syntax error (1=yes)", "o1-mini: syntax error"],
        rows,
        {("syntax error", "o1-mini"): [float(row[4] == "yes") for row in rows[::3]]},
        told,
        {"story": "story+explanation shown", "prompt": "story", "text": "explanation shown"},
    )
    mails = ("kim@lab.org", "lou@lab.org", "sam@lab.org")
    rows = [[f"a{n}", who, draw.points(n), judged] for n, judged in enumerate(draw.column()) for who in mails]
    yield Stranger(
        "addresses_of_raters",
        ["article_id", "annotator_email", "faithfulness", "claude-3-opus faithfulness"],
        rows,
        {("faithfulness", "claude-3-opus"): [float(row[3]) for row in rows[::3]]},
        {("faithfulness", who): [float(row[2]) for row in rows if row[1] == who] for who in mails},
        {"rater": "annotator_email", "story": "article_id"},
    )


def words() -> Iterator[Stranger]:
    """Some columns' words have a known order, and another person's and the judge's have more."""
    draw, known = Draw(84), ("No", "Parcialmente", "Sí")
    columns: dict[str, Column] = {"clave": [f"s{n}" for n in range(STORIES)]}
    columns |= {f"anotador_{who}": [known[draw.points(n, 0, 2)] for n in range(STORIES)] for who in ("net", "ofe")}
    columns["anotador_sap"] = [(*known, "No procede")[draw.points(n, 0, 3)] for n in range(STORIES)]
    columns["modelo_gpt-4o"] = [(*known, "No procede")[draw.points(n, 0, 3)] for n in range(STORIES)]
    refused = ("anotador_net, anotador_ofe, anotador_sap, modelo_gpt-4o", "whose order is not known", "--labels")
    yield _table("words_beside_an_order", columns, refused=(*refused, "--set missing=WORD"))


MAKERS: tuple[Callable[[], Iterator[Stranger]], ...] = (noted, bracketed, called, measured, grouped, words)
