"""Tables as strangers write them: twenty languages and layouts, small and made here, each with what is true of it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Rows = list[list[Any]]
STORIES = 30


@dataclass
class Stranger:
    """A table with its truth: who rated, on which criteria, with how many ratings; or words of a refusal."""

    name: str
    header: list[str]
    rows: Rows
    judges: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    people: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    fields: dict[str, str] = field(default_factory=dict)
    refused: Sequence[str] = ()
    suffix: str = ".csv"
    separator: str = ","
    above: Sequence[Sequence[str]] = ()

    def write(self, folder: Path) -> Path:
        path = folder / f"{self.name}{self.suffix}"
        if self.suffix == ".jsonl":
            lines = [json.dumps(dict(zip(self.header, row, strict=True)), ensure_ascii=False) for row in self.rows]
            path.write_text("\n".join(lines) + "\n", encoding="utf-8")
            return path
        lines = [self.separator.join(map(self._cell, row)) for row in (*self.above, self.header, *self.rows)]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    def _cell(self, value: Any) -> str:
        text = "" if value is None else str(value)
        return '"' + text.replace('"', '""') + '"' if self.separator in text or '"' in text else text


class Draw:
    """Ratings of stories by people and judges who agree in part, the same at each run."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.worth = [self.random.gauss(0, 1) for _ in range(STORIES)]

    def points(self, story: int, low: int = 1, high: int = 5) -> int:
        middle, width = (low + high) / 2, (high - low) / 4
        return round(min(high, max(low, middle + width * (self.worth[story] + self.random.gauss(0, 0.7)))))

    def column(self, low: int = 1, high: int = 5) -> list[int]:
        return [self.points(story, low, high) for story in range(STORIES)]

    def text(self, words: Sequence[str], length: int = 14) -> str:
        return " ".join(self.random.choice(words) for _ in range(length)) + "."


_WORDS = ("lamp", "river", "stone", "bread", "night", "fox", "door", "rain", "king", "girl", "sea", "light", "went")


def _wide(
    name: str, seed: int, ids: str, people: Sequence[str], judge: str, *, more: Sequence[str] = (), **how: Any
) -> Stranger:
    """A row a story, people and a judge in columns; `more` are columns of whole numbers that are no ratings."""
    draw = Draw(seed)
    rated = [draw.column() for _ in people]
    judged = draw.column()
    extra = [[draw.random.randint(50, 900) for _ in range(STORIES)] for _ in more]
    rows = [[f"s{n}" if n % 2 else f"t{n}", *row] for n, row in enumerate(zip(*rated, judged, *extra, strict=True))]
    return Stranger(
        name,
        [ids, *people, judge, *more],
        rows,
        {("Overall", judge): list(map(float, judged))},
        {("Overall", who): list(map(float, given)) for who, given in zip(people, rated, strict=True)},
        {"story": ids},
        **how,
    )


def wide() -> Iterator[Stranger]:
    yield _wide("german", 1, "Text-Nr.", ["Gutachter A", "Gutachter B"], "KI-Note", more=["Bearbeitungszeit"])
    yield _wide("spanish", 2, "cuento", ["evaluador1", "evaluador2", "evaluador3"], "puntuación_GPT", separator=";")
    yield _wide("italian", 3, "racconto", ["Giulia", "Marco", "Chiara"], "Llama-3 voto", more=["durata"])
    yield _wide("portuguese", 4, "história", ["avaliador_1", "avaliador_2"], "nota do Claude", more=["palavras"])
    yield _wide("dutch", 5, "verhaal", ["beoordelaar 1", "beoordelaar 2"], "mistral cijfer")
    yield _wide("chinese", 6, "故事编号", ["专家1", "专家2", "专家3"], "模型评分", more=["用时"])
    yield _wide("japanese", 7, "作品番号", ["評価者A", "評価者B"], "GPT-4のスコア")
    yield _wide("korean", 8, "번호", ["평가자1", "평가자2"], "모델 점수", more=["시간"])
    yield _wide("russian", 9, "номер", ["эксперт 1", "эксперт 2"], "оценка модели", more=["длина"])
    yield _wide("names", 10, "item", ["Priya", "Kofi", "Zbyszko"], "yi-34b")
    yield _wide("initials", 11, "ID", ["P1", "P2", "P3"], "o3", more=["sec"])
    yield _wide("raters_of_a_program", 12, "doc", ["reader_a", "reader_b"], "llm_rater")


def numbers() -> Iterator[Stranger]:
    base = _wide("percent", 20, "id", ["rater1", "rater2"], "gemini")
    at = base.header.index("gemini")
    for row in base.rows:
        row[at] = f"{20 * row[at]} %"
    base.judges = {("Overall", "gemini"): [20 * v for v in base.judges["Overall", "gemini"]]}
    yield base
    base = _wide("out_of", 21, "id", ["rater1", "rater2"], "gemini")
    for row in base.rows:
        row[1:4] = [f"{v}/5" for v in row[1:4]]
    yield base
    base = _wide("worded", 22, "id", ["rater1", "rater2"], "gemini")
    words = ["", "very bad", "bad", "ok", "good", "very good"]
    for row in base.rows:
        row[1:4] = [f"{v} - {words[v]}" for v in row[1:4]]
    yield base
    base = _wide("stars", 23, "id", ["rater1", "rater2"], "gemini")
    for row in base.rows:
        row[1:4] = ["★" * v + "☆" * (5 - v) for v in row[1:4]]
    yield base
    for name, separator, suffix in (
        ("commas_tabs", "\t", ".tsv"),
        ("commas_quoted", ",", ".csv"),
        ("commas", ";", ".csv"),
    ):
        base = _wide(name, 24, "id", ["rater1", "rater2"], "gemini", separator=separator, suffix=suffix)
        halves = [v + 0.25 * (n % 3) for n, v in enumerate(base.judges["Overall", "gemini"])]
        for row, half in zip(base.rows, halves, strict=True):
            row[3] = f"{half:g}".replace(".", ",")
        base.judges = {("Overall", "gemini"): halves}
        yield base
    base = _wide("codes", 25, "id", ["rater1", "rater2"], "gemini")
    base.rows[3][1], base.rows[7][2], base.rows[9][3] = -99, 999, "REFUSED"
    nan = float("nan")
    base.judges["Overall", "gemini"][9] = nan
    del base.people["Overall", "rater1"][3], base.people["Overall", "rater2"][7]
    yield base
    base = _wide("slider", 26, "id", ["rater1", "rater2"], "gemini")
    for column in (1, 2, 3):
        for row in base.rows:
            row[column] = 20 * row[column] - 3 * (row[column] % 2)
    by = {1: ("people", "rater1"), 2: ("people", "rater2"), 3: ("judges", "gemini")}
    for column, (side, who) in by.items():
        getattr(base, side)["Overall", who] = [float(row[column]) for row in base.rows]
    yield base
    base = _wide("mixed", 27, "id", ["rater1", "rater2"], "gemini")
    for n, row in enumerate(base.rows):
        row[3] = f"{row[3]}/5" if n % 2 else f"{2 * row[3]}/10"
    base.refused = ("'gemini'",)
    yield base


def labels() -> Iterator[Stranger]:
    for name, words in {
        "ja_nein": ["nein", "ja"],
        "oui_non": ["non", "oui"],
        "si_no": ["no", "sí"],
        "chinese_grades": ["差", "中", "好"],
        "likert": ["Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"],
        "grades": ["D", "C", "B", "A"],
        "snake": ["very_bad", "bad", "neutral", "good", "very_good"],
        "own_two": ["blah", "wow"],
    }.items():
        base = _wide(name, 30, "id", ["rater1", "rater2"], "gemini")
        last = len(words) - 1
        for row in base.rows:
            row[1:4] = [words[min(last, max(0, v - 2 if last < 4 else v - 1))] for v in row[1:4]]
        order = ["F", "E", *words] if name == "grades" else words
        base.judges = {("Overall", "gemini"): [float(order.index(row[3])) for row in base.rows]}
        base.people = {("Overall", f"rater{n}"): [float(order.index(row[n])) for row in base.rows] for n in (1, 2)}
        yield base
    base = _wide("own_three", 31, "id", ["rater1", "rater2"], "gemini")
    for row in base.rows:
        row[1:4] = [["wow", "blah", "hm"][v % 3] for v in row[1:4]]
    base.refused = ("order is not known", "--labels blah,hm,wow")
    yield base


def layouts() -> Iterator[Stranger]:
    draw = Draw(40)
    rows = [
        [f"g{s}", kind, draw.points(s), draw.points(s), draw.points(s)]
        for s in range(STORIES)
        for kind in ("Spannung", "Stil")
    ]
    yield Stranger(
        "criteria_in_rows",
        ["Geschichte", "Merkmal", "Anna", "Ben", "ChatGPT"],
        rows,
        {(c, "ChatGPT"): [float(r[4]) for r in rows if r[1] == c] for c in ("Spannung", "Stil")},
        {
            (c, who): [float(r[at]) for r in rows if r[1] == c]
            for c in ("Spannung", "Stil")
            for at, who in ((2, "Anna"), (3, "Ben"))
        },
        {"story": "Geschichte", "criterion": "Merkmal"},
    )
    rows = [
        [s, f"w{w}", f"m{s % 3}", draw.points(s), 3 + w, judged]
        for s in range(STORIES)
        for judged in [draw.points(s, 1, 10)]
        for w in (s % 4, s % 4 + 1)
    ]
    yield Stranger(
        "workers_in_rows",
        ["HITId", "WorkerId", "modele", "évaluation", "confiance", "score_llm"],
        rows,
        {("Overall", "score_llm"): [float(r[5]) for r in rows[::2]]},
        {("Overall", f"w{w}"): [float(r[3]) for r in rows if r[1] == f"w{w}"] for w in range(5)},
        {"story": "HITId", "by": "modele"},
    )
    rows = [
        [f"p{s // 3}", f"m{s % 3}", w, draw.points(s), judged]
        for s in range(STORIES)
        for judged in [draw.points(s)]
        for w in (1 + s % 3, 4)
    ]
    yield Stranger(
        "prompt_and_system",
        ["prompt", "system", "annotator", "score", "gpt4"],
        rows,
        {("Overall", "gpt4"): [float(r[4]) for r in rows[::2]]},
        {("Overall", str(w)): [float(r[3]) for r in rows if r[2] == w] for w in (1, 2, 3, 4)},
        {"story": "prompt+system", "by": "system", "prompt": "prompt"},
    )
    rows = [[f"p{s // 3}", f"m{s % 3}", draw.points(s), draw.points(s), draw.points(s)] for s in range(STORIES)]
    yield Stranger(
        "a_row_a_prompt_and_system",
        ["item", "model", "human_a", "human_b", "gpt4"],
        rows,
        {("Overall", "gpt4"): [float(r[4]) for r in rows]},
        {("Overall", f"human_{w}"): [float(r[at]) for r in rows] for at, w in ((2, "a"), (3, "b"))},
        {"by": "model"},
    )
    rows = [[f"s{s}", who, draw.points(s)] for s in range(STORIES) for who in ("Maja", "Omar", "deepseek-r1")]
    yield Stranger(
        "raters_in_rows",
        ["Text", "von", "Note"],
        rows,
        {("Overall", "deepseek-r1"): [float(r[2]) for r in rows if r[1] == "deepseek-r1"]},
        {("Overall", who): [float(r[2]) for r in rows if r[1] == who] for who in ("Maja", "Omar")},
        {"story": "Text"},
    )
    runs = _wide("runs", 41, "id", ["expert_1", "expert_2"], "qwen_run1")
    more = [draw.column(), draw.column()]
    runs.header += ["qwen_run2", "qwen_run3"]
    runs.rows = [[*row, *extra] for row, extra in zip(runs.rows, zip(*more, strict=True), strict=True)]
    runs.judges = {("Overall", "qwen"): [float(v) for row in runs.rows for v in row[3:6]]}
    yield runs
    rows = [
        [
            f"x{s}",
            draw.text(_WORDS),
            {"anna": draw.points(s), "ben": draw.points(s)},
            {"gpt-4o": {"score": draw.points(s), "why": "fine plot"}},
        ]
        for s in range(STORIES)
    ]
    yield Stranger(
        "nested",
        ["id", "text", "human", "judge"],
        rows,
        {("Overall", "judge.gpt-4o.score"): [float(r[3]["gpt-4o"]["score"]) for r in rows]},
        {("Overall", f"human.{who}"): [float(r[2][who]) for r in rows] for who in ("anna", "ben")},
        {"story": "id", "text": "text"},
        suffix=".jsonl",
    )
    rows = [[f"x{s}", "m", [draw.points(s) for _ in range(3)], draw.points(s)] for s in range(STORIES)]
    yield Stranger(
        "lists",
        ["sample_id", "model_name", "annotations", "prometheus"],
        rows,
        {("Overall", "prometheus"): [float(r[3]) for r in rows]},
        {("Overall", "None"): [float(v) for r in rows for v in r[2]]},
        {"story": "sample_id"},
        suffix=".jsonl",
    )
    rows = [
        [
            f"x{s}",
            [{"annotator": f"w{w}", "score": draw.points(s)} for w in range(2)],
            {"model": "o3", "score": draw.points(s)},
        ]
        for s in range(STORIES)
    ]
    yield Stranger(
        "raters_in_lists",
        ["id", "annotations", "judge"],
        rows,
        {("Overall", "judge.score"): [float(r[2]["score"]) for r in rows]},
        {("Overall", f"w{w}"): [float(r[1][w]["score"]) for r in rows] for w in range(2)},
        {"story": "id", "rater": "annotations.annotator"},
        suffix=".jsonl",
    )
    rows = [[s, *(draw.points(s) for _ in range(6))] for s in range(STORIES)]
    yield Stranger(
        "words_before_criteria",
        ["Nr", "B1_Stil", "B2_Stil", "B1_Humor", "B2_Humor", "LLM_Stil", "LLM_Humor"],
        rows,
        {(c, "LLM"): [float(r[at]) for r in rows] for c, at in (("Stil", 5), ("Humor", 6))},
        {(c, f"B{b}"): [float(r[at + b]) for r in rows] for c, at in (("Stil", 0), ("Humor", 2)) for b in (1, 2)},
        {"story": "Nr"},
    )
    rows = [[f"x{s}", "; ".join(str(draw.points(s)) for _ in range(3)), draw.points(s)] for s in range(STORIES)]
    yield Stranger(
        "lists_in_words",
        ["id", "human scores", "gpt"],
        rows,
        {("Overall", "gpt"): [float(r[2]) for r in rows]},
        {("Overall", "None"): [float(v) for r in rows for v in r[1].split("; ")]},
        {"story": "id"},
    )
    rows = [
        [s, ["human", "ai"][s % 2], draw.text(_WORDS), *(["No", "Yes"][draw.points(s) > 2] for _ in range(3))]
        for s in range(STORIES)
    ]
    yield Stranger(
        "source_of_texts",
        ["id", "source", "story", "ann_1", "ann_2", "phi3_verdict"],
        rows,
        {("Overall", "phi3_verdict"): [float(r[5] == "Yes") for r in rows]},
        {("Overall", f"ann_{n}"): [float(r[2 + n] == "Yes") for r in rows] for n in (1, 2)},
        {"story": "id", "text": "story", "by": "source"},
    )
    rows = [[s, *(draw.points(s) for _ in range(6))] for s in range(STORIES)]
    yield Stranger(
        "two_header_rows",
        ["Item", "Plot", "Style", "Plot", "Style", "Plot", "Style"],
        rows,
        {(c, "GPT-4"): [float(r[5 + at]) for r in rows] for at, c in enumerate(("Plot", "Style"))},
        {
            (c, f"Reader {n}"): [float(r[2 * n - 1 + at]) for r in rows]
            for n in (1, 2)
            for at, c in enumerate(("Plot", "Style"))
        },
        {"story": "Item"},
        above=[["", "Reader 1", "", "Reader 2", "", "GPT-4", ""]],
    )
    rows = [[s, *(draw.points(s) for _ in range(6))] for s in range(STORIES)]
    yield Stranger(
        "people_by_criteria",
        ["id", "Lena_Humor", "Lena_Stil", "Otto_Humor", "Otto_Stil", "gpt4_Humor", "gpt4_Stil"],
        rows,
        {(c, "gpt4"): [float(r[5 + at]) for r in rows] for at, c in enumerate(("Humor", "Stil"))},
        {
            (c, who): [float(r[1 + 2 * n + at]) for r in rows]
            for n, who in enumerate(("Lena", "Otto"))
            for at, c in enumerate(("Humor", "Stil"))
        },
        {"story": "id"},
    )


def doubtful() -> Iterator[Stranger]:
    base = _wide("a_row_of_means", 64, "id", ["rater1", "rater2"], "gpt4")
    base.rows.append(["Mean", 3.1, 3.2, 2.9])
    yield base
    base = _wide("stories_of_both", 66, "id", ["human_score"], "gpt4_score")
    draw = Draw(67)
    base.header += ["human_story", "gpt4_story"]
    base.rows = [[*row, draw.text(_WORDS), draw.text(_WORDS)] for row in base.rows]
    base.refused = ("each row holds 2 stories", "human_story", "gpt4_story")
    yield base
    base = _wide("only_a_number_beside_a_judge", 65, "id", ["iteration"], "gpt4")
    base.refused = ("the ratings of people", "--human iteration")
    yield base
    base = _wide("unknown_words", 60, "id", ["zork", "blip", "frum"], "gpt4")
    base.refused = ("several people, and not of criteria", "if yes: judge check", "if no: judge check")
    yield base
    base = _wide("one_judge_three_criteria", 61, "id", ["Spannung", "Humor", "Stil"], "gpt4")
    base.refused = ("Spannung", "judge check")
    yield base
    base = _wide("no_judge", 62, "id", ["rater1", "rater2"], "schwierigkeit")
    base.refused = ("no columns could be identified as the ratings of a judge", "schwierigkeit", "--judge")
    yield base
    base = _wide("numbered", 63, "id", ["x1", "x2", "x3"], "gpt4")
    base.refused = ("several people, and not of criteria", "if yes: judge check")
    yield base


MAKERS: tuple[Callable[[], Iterator[Stranger]], ...] = (wide, numbers, labels, layouts, doubtful)
