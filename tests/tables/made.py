"""Tables as labs head and arrange them, made from the studies' released files, each with the right reading.

A table is a frame, how it is written, and what is true of it: rows (source, story, criterion, judge, rater, rating), or
the two readings that a refusal must name, or what a refusal must say."""

from __future__ import annotations

import csv
import gzip
import json
import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

Truth = dict[tuple[str, str, str], list[float]]
"""(source, criterion, who) -> ratings in the order of the stories."""


@dataclass(frozen=True)
class Made:
    """A table: `truth` where it is to be read, `refused` words where it is to be refused. `way` is check, or data for a
    table of people's ratings, or pairs."""

    name: str
    frame: pd.DataFrame
    truth: Truth | None = None
    refused: Sequence[str] = ()
    way: str = "check"
    suffix: str = ".csv"
    how: dict[str, Any] = field(default_factory=dict)

    def write(self, folder: Path) -> Path:
        path = folder / f"{self.name}{self.suffix}"
        if self.suffix == ".csv":
            self.frame.to_csv(path, **{"index": False, **self.how})
        elif self.suffix == ".tsv":
            self.frame.to_csv(path, sep="\t", index=False)
        elif self.suffix == ".jsonl":
            self.frame.to_json(path, orient="records", lines=True)
        elif self.suffix == ".json":
            self.frame.to_json(path, orient="records")
        elif self.suffix == ".xlsx":
            self.frame.to_excel(path, index=False, **self.how)
        elif self.suffix == ".parquet":
            self.frame.to_parquet(path, index=False)
        return path


Maker = Callable[[Path], Iterator[Made]]


def _truth(frame: pd.DataFrame, **columns: str) -> Truth:
    """Column -> "source|criterion|who"."""
    truth: Truth = {}
    for column, told in columns.items():
        source, criterion, who = told.split("|")
        truth[source, criterion, who] = [float(v) for v in frame[column]]
    return truth


def hanna(data: Path) -> Iterator[Made]:
    """96 story-prompts, 11 systems: people by position, judges' means; 200 stories of four systems here."""
    scores = pd.read_csv(data / "hanna" / "hanna_metric_scores_llm.csv", index_col=0)
    rows = []
    systems = list(scores.index)[:4]
    for system in systems:
        cells = {name: json.loads(scores.loc[system, name]) for name in _HANNA}
        rows += [
            {"story_id": f"{at}-{system}", "prompt": f"p{at}", "model": system} | {n: c[at] for n, c in cells.items()}
            for at in range(50)
        ]
    frame = pd.DataFrame(rows)
    three = {f"Human {n} CH": f"ann{n}" for n in (1, 2, 3)}
    plain = frame[["story_id", "prompt", "model", *three, _CHATGPT]].rename(columns={**three, _CHATGPT: "chatgpt"})
    truth = _truth(plain, chatgpt="judge|Overall|chatgpt") | {
        ("rater", "Overall", f"ann{n}"): list(map(float, plain[f"ann{n}"])) for n in (1, 2, 3)
    }
    yield Made("hanna_plain", plain, truth)
    yield Made("hanna_semicolons", plain, truth, how={"sep": ";", "decimal": ",", "encoding": "utf-8-sig"})
    yield Made("hanna_workbook", plain, truth, suffix=".xlsx")
    yield Made("hanna_lines", plain, truth, suffix=".jsonl")
    yield Made("hanna_index", plain, truth, how={"index": True})
    yield Made(
        "hanna_shuffled_columns", plain[["chatgpt", "ann3", "model", "ann1", "prompt", "story_id", "ann2"]], truth
    )
    spelled = {"story_id": "Story ID", "model": "Model", "chatgpt": "GPT Score", "prompt": "Prompt ID"}
    named = plain.rename(columns={**spelled, **{f"ann{n}": f"Annotator {n}" for n in (1, 2, 3)}})
    yield Made(
        "hanna_spelled",
        named,
        _truth(named, **{"GPT Score": "judge|Overall|GPT Score"})
        | {("rater", "Overall", f"Annotator {n}"): list(map(float, plain[f"ann{n}"])) for n in (1, 2, 3)},
    )
    bare = plain.rename(columns={f"ann{n}": f"coherence_{n}" for n in (1, 2, 3)})
    yield Made("hanna_numbered", bare, refused=("one person's ratings throughout", "judge check"))
    long = plain.melt(["story_id", "prompt", "model"], ["ann1", "ann2", "ann3", "chatgpt"], "rater", "score")
    yield Made("hanna_long", long, {(s, c, w): v for (s, c, w), v in truth.items()})
    ids = long[long["rater"] != "chatgpt"].merge(plain[["story_id", "chatgpt"]], on="story_id")
    ids["rater"] = ids["rater"].str[-1].astype(int)
    ids = ids.rename(columns={"score": "human"})
    yield Made(
        "hanna_rater_numbers",
        ids,
        {("judge", "Overall", "chatgpt"): truth["judge", "Overall", "chatgpt"]}
        | {("rater", "Overall", str(n)): truth["rater", "Overall", f"ann{n}"] for n in (1, 2, 3)},
    )
    prompts = plain.drop(columns="story_id").rename(columns={"prompt": "id"})
    yield Made("hanna_prompt_ids", prompts, truth)
    extra = plain.assign(
        minutes=[5 + at % 40 for at in range(len(plain))],
        rater_age=[20 + at % 9 for at in range(len(plain))],
        note=["fine" if at % 7 else "" for at in range(len(plain))],
        word_count=[100 + at for at in range(len(plain))],
    )
    yield Made("hanna_more_columns", extra, truth)
    yield Made("hanna_means_too", plain.assign(human_mean=plain[["ann1", "ann2", "ann3"]].mean(axis=1)), truth)
    na = plain.assign(chatgpt=plain["chatgpt"].astype(object).where(plain.index % 10 > 0, "NA"))
    lost = [float("nan") if at % 10 == 0 else v for at, v in enumerate(truth["judge", "Overall", "chatgpt"])]
    yield Made("hanna_words_for_nothing", na, truth | {("judge", "Overall", "chatgpt"): lost})
    yield Made("hanna_lists", _as_lists(plain, "[{}]"), None, refused=("no columns could be identified",))
    two = {f"Human {n} {c}": f"{c.lower()}_ann{n}" for c in ("CH", "EG") for n in (1, 2, 3)}
    crossed = frame[["story_id", "model", *two, _CHATGPT, _CHATGPT.replace("CH", "EG")]].rename(
        columns={**two, _CHATGPT: "gpt_ch", _CHATGPT.replace("CH", "EG"): "gpt_eg"}
    )
    both = {"ch": "Coherence", "eg": "Engagement"}
    yield Made(
        "hanna_crossed",
        crossed,
        {("judge", both[c], "gpt"): list(map(float, crossed[f"gpt_{c}"])) for c in both}
        | {("rater", both[c], f"ann{n}"): list(map(float, crossed[f"{c}_ann{n}"])) for c in both for n in (1, 2, 3)},
    )
    one = crossed.drop(columns="gpt_eg").rename(columns={"gpt_ch": "gpt"})
    yield Made("hanna_one_judge_two_criteria", one, refused=("Coherence", "Engagement", "judge check"))
    rows_of = crossed.melt(["story_id", "model"], [*two.values()], "what", "human")
    rows_of[["criterion", "annotator"]] = rows_of["what"].str.split("_", expand=True)
    rows_of["annotator"] = rows_of["annotator"].str[-1].astype(int)
    rows_of["llm"] = [
        crossed.set_index("story_id").loc[s, f"gpt_{c}"]
        for s, c in zip(rows_of["story_id"], rows_of["criterion"], strict=True)
    ]
    yield Made(
        "hanna_rows_of_criteria",
        rows_of.drop(columns="what"),
        {("judge", c, "llm"): list(map(float, crossed[f"gpt_{c}"])) for c in both}
        | {("rater", c, str(n)): list(map(float, crossed[f"{c}_ann{n}"])) for c in both for n in (1, 2, 3)},
    )
    judges = plain.assign(claude=plain["chatgpt"].iloc[::-1].to_numpy())
    yield Made(
        "hanna_two_judges",
        judges,
        truth | {("judge", "Overall", "claude"): list(map(float, judges["claude"]))},
    )
    repeats = plain.rename(columns={"chatgpt": "gpt_1"}).assign(gpt_2=judges["claude"])
    yield Made("hanna_repeats_or_judges", repeats, refused=("judges of their own", "number_repeats", "judge check"))
    sorted_ = plain.copy()
    sorted_[["ann1", "ann2", "ann3"]] = [sorted(row) for row in plain[["ann1", "ann2", "ann3"]].to_numpy()]
    yield Made(
        "hanna_sorted",
        sorted_,
        {("judge", "Overall", "chatgpt"): truth["judge", "Overall", "chatgpt"]}
        | {
            ("rater", "Overall", "None"): [
                float(v) for row in sorted_[["ann1", "ann2", "ann3"]].to_numpy() for v in row
            ]
        },
    )


_CHATGPT = "ChatGPT CH 1"
_HANNA = (*(f"Human {n} {c}" for n in (1, 2, 3) for c in ("CH", "EG")), _CHATGPT, _CHATGPT.replace("CH", "EG"))


def _as_lists(frame: pd.DataFrame, form: str) -> pd.DataFrame:
    cells = [form.format(", ".join(map(str, row))) for row in frame[["ann1", "ann2", "ann3"]].to_numpy()]
    return frame[["story_id", "model"]].assign(scores=cells)


def mans(data: Path) -> Iterator[Made]:
    """Story-prompts with five systems, five sorted ratings each: people without identity."""
    value = json.loads((data / "openmeva" / "mans_roc.json").read_text(encoding="utf-8"))
    rows = [
        {
            "id": f"{prompt}-{system}",
            "prompt": of["prompt"],
            "system": system,
            "story": gen["text"],
            "score": gen["score"],
        }
        for prompt, of in list(value.items())[:40]
        for system, gen in of["gen"].items()
    ]
    frame = pd.DataFrame(rows)
    alone = {("rater", "Overall", "None"): [float(v) for scores in frame["score"] for v in scores]}
    yield Made("mans_list", frame, alone, way="data", suffix=".jsonl")
    yield Made("mans_json_in_a_cell", frame.assign(score=frame["score"].map(json.dumps)), alone, way="data")
    yield Made("mans_bars", frame.assign(score=["|".join(map(str, s)) for s in frame["score"]]), alone, way="data")
    columns = frame.drop(columns="score").assign(**{f"rating{n + 1}": [s[n] for s in frame["score"]] for n in range(5)})
    yield Made("mans_sorted_columns", columns, alone, way="data")
    mean = frame.assign(score=frame["score"].map(lambda s: sum(s) / len(s)))
    yield Made("mans_means", mean, {("rater", "Overall", "None"): list(mean["score"])}, way="data")
    yield Made(
        "mans_no_texts",
        mean.drop(columns=["story", "prompt"]),
        {("rater", "Overall", "None"): list(mean["score"])},
        way="data",
    )


def ttcw(data: Path) -> Iterator[Made]:
    """Yes/no verdicts of three experts on each of 14 tests."""
    entries = json.loads((data / "ttcw" / "ttcw_annotations.json").read_text(encoding="utf-8"))
    frame = pd.DataFrame(entries)
    frame = frame[frame["ttcw_idx"] == 3]
    rows = []
    for story, of in frame.groupby("story_id", sort=False):
        verdicts = list(of["binary_verdict"])[:3]
        rows.append(
            {
                "story_id": story,
                "system": str(story).split("_")[1],
                **{f"expert{n + 1}": v for n, v in enumerate(verdicts)},
            }
        )
    wide = pd.DataFrame(rows).dropna()
    codes = {("rater", "Overall", f"expert{n}"): [float(v == "Yes") for v in wide[f"expert{n}"]] for n in (1, 2, 3)}
    yield Made("ttcw_words", wide, codes, way="data")
    upper = wide.assign(**{f"expert{n}": wide[f"expert{n}"].str.upper() for n in (1, 2, 3)})
    yield Made("ttcw_capitals", upper, codes, way="data")
    judged = wide.assign(gpt4=["Yes" if at % 3 else "No" for at in range(len(wide))])
    judge = {("judge", "Overall", "gpt4"): [float(v == "Yes") for v in judged["gpt4"]]}
    yield Made("ttcw_beside_a_judge", judged, codes | judge)
    truth = wide.assign(**{f"expert{n}": wide[f"expert{n}"] == "Yes" for n in (1, 2, 3)}, gpt4=judged["gpt4"] == "Yes")
    yield Made("ttcw_true_and_false", truth, codes | judge)
    numbers = wide.assign(**{f"expert{n}": (wide[f"expert{n}"] == "Yes").astype(int) for n in (1, 2, 3)})
    yield Made("ttcw_codes", numbers, codes, way="data")
    long = frame.rename(columns={"expert_idx": "expert"})[["story_id", "expert", "binary_verdict", "explanation"]]
    long = long.assign(system=[s.split("_")[1] for s in long["story_id"]])
    by = {
        ("rater", "binary verdict", str(who)): [float(v == "Yes") for v in of["binary_verdict"]]
        for who, of in long.groupby("expert")
    }
    yield Made("ttcw_rows_with_reasons", long, by, way="data")
    graded = judged.replace({"Yes": "Agree", "No": "Disagree"})
    yield Made("ttcw_agree", graded, codes | judge)
    odd = judged.replace({"Yes": "stellar", "No": "meh"})
    yield Made("ttcw_own_words", odd, codes | judge)
    three = odd.assign(gpt4=[("stellar", "meh", "fine")[at % 3] for at in range(len(odd))], expert1=odd["expert2"])
    yield Made("ttcw_own_words_of_three", three, refused=("whose order is not known", "--labels fine,meh,stellar"))


def alttest(data: Path) -> Iterator[Made]:
    """Labels of known persons and six judges."""
    for name in ("lgbteen", "wax"):
        people = json.loads((data / "alttest" / name / "human_annotations.json").read_text(encoding="utf-8"))
        judges = json.loads((data / "alttest" / name / "llm_annotations.json").read_text(encoding="utf-8"))
        three = dict(sorted(people.items(), key=lambda entry: (-len(entry[1]), entry[0]))[:3])
        items = sorted(set.intersection(*(set(of) for of in [*three.values(), *judges.values()])))[:60]
        columns = {f"annotator_{who}": [of[item] for item in items] for who, of in three.items()}
        columns |= {who: [of[item] for item in items] for who, of in judges.items() if who.startswith("gpt")}
        frame = pd.DataFrame({"item": items, **columns})
        if name == "wax":
            yield Made("wax_labels_without_order", frame, refused=("categories", "order is not known"))
            continue
        yes = {column: [float(v == "Yes") for v in values] for column, values in columns.items()}
        if all({*values} <= {"Yes", "No"} for values in columns.values()):
            truth = {
                ("rater" if column.startswith("annotator") else "judge", "Overall", column): values
                for column, values in yes.items()
            }
            yield Made("lgbteen_labels", frame, truth)
        else:
            yield Made(
                "lgbteen_named_people",
                frame,
                refused=("order is not known", "'Irrelevant', 'No'", "--labels", "--set missing"),
            )
    people = json.loads((data / "alttest" / "mtbench" / "human_annotations.json").read_text(encoding="utf-8"))
    rows = [
        {"question_id": q, "model_a": a, "model_b": b, "turn": turn, "judge": who, "winner": winner}
        for who, of in people.items()
        for item, winner in list(of.items())[:30]
        for q, a, b, turn in [item.split("__")]
    ]
    yield Made("mtbench_rows", pd.DataFrame(rows), {("verdicts", "people", ""): [float(len(rows))]}, way="pairs")


def storyer(data: Path) -> Iterator[Made]:
    """200 stories with people's means, and pairs with the preferred one first."""
    with (data / "storyer" / "story_correlation.pkl").open("rb") as stream:
        stories = pickle.load(stream)[:100]  # noqa: S301  the study's own file
    frame = pd.DataFrame(
        {"story": [s[0] for s in stories], "human_score": [float(s[1]) for s in stories], "system": "unknown"}
    )
    yield Made("storyer_means", frame, {("rater", "Overall", "None"): list(frame["human_score"])}, way="data")
    beside = frame.assign(ranker_pred=[at / 100 for at in range(100)])
    yield Made(
        "storyer_beside_a_ranker",
        beside,
        {
            ("rater", "Overall", "human_score"): list(frame["human_score"]),
            ("judge", "Overall", "ranker_pred"): list(beside["ranker_pred"]),
        },
    )
    with (data / "storyer" / "train_rank_data_small.pkl").open("rb") as stream:
        pairs = pickle.load(stream)[:50]  # noqa: S301  the study's own file
    chosen = pd.DataFrame(
        {"prompt": [p[0] for p in pairs], "chosen": [p[1] for p in pairs], "rejected": [p[2] for p in pairs]}
    )
    yield Made("storyer_chosen", chosen, {("pairs", "people", ""): [50.0]}, way="data", suffix=".jsonl")
    ab = chosen.rename(columns={"chosen": "story_a", "rejected": "story_b"}).assign(winner="a")
    yield Made("storyer_a_and_b", ab, {("verdicts", "people", ""): [50.0]}, way="pairs")


def plotguided(data: Path) -> Iterator[Made]:
    """Five stories a row, each with a rating: two readings that no guess tells apart."""
    frame = pd.read_csv(data / "plotguided" / "AMT_ROC.CSV")
    yield Made("plotguided_released", frame, refused=("each row holds 5 stories",), way="data")
    yield Made("plotguided_released_checked", frame, refused=("each row holds 5 stories",))
    parts = [
        frame[["WorkerId", f"Input.text{n}", f"Answer.text{n}"]].set_axis(["WorkerId", "text", "coherence"], axis=1)
        for n in range(1, 6)
    ]
    long = pd.concat(parts, ignore_index=True).dropna()
    ids = {text: f"s{at}" for at, text in enumerate(long["text"].unique())}
    long = long.assign(story_id=long["text"].map(ids), system="m").drop_duplicates(["WorkerId", "story_id"])
    long = long.sort_values("story_id", kind="stable").head(400)
    truth = {("rater", "Coherence", w): [float(v) for v in of["coherence"]] for w, of in long.groupby("WorkerId")}
    yield Made("plotguided_rows_of_workers", long, truth, way="data")
    once = long.assign(model_pred=[float(int(s[1:]) % 7) / 7 for s in long["story_id"]])
    first = once.drop_duplicates("story_id")
    yield Made(
        "plotguided_workers_beside_a_score",
        once,
        {("rater", "Overall", w): v for (_, _, w), v in truth.items()}
        | {("judge", "Overall", "model_pred"): list(first["model_pred"])},
    )


def closer_look(data: Path) -> Iterator[Made]:
    """Replies of six systems in dialogues: people's means on four criteria."""
    frame = pd.read_csv(data / "closer_look" / "replies.csv").head(120)
    names = ["naturalness", "coherence", "engagingness", "groundedness"]
    spelled = {"coherence": "Coherence"}
    truth = {("rater", spelled.get(n, n), "None"): list(map(float, frame[n])) for n in names}
    yield Made("closer_look_means", frame.drop(columns=["context", "source"]), truth, way="data")
    answers = []
    with gzip.open(data / "closer_look" / "answers_rate_explain.jsonl.gz", "rt", encoding="utf-8") as stream:
        for line in stream:
            answer = json.loads(line)
            if answer["criterion"] == "naturalness" and answer["repeat"] == 0:
                answers.append(answer)
    digits = {a["reply"]: next((c for c in a["text"] if c.isdigit()), None) for a in answers}
    kept = frame[frame["reply"].map(digits).notna()].head(80)
    judged = kept[["reply", "dialogue", "system"]].assign(
        gpt35=kept["reply"].map(digits).astype(int), human=kept["naturalness"]
    )
    both = {
        ("judge", "Overall", "gpt35"): list(map(float, judged["gpt35"])),
        ("rater", "Overall", "human"): list(map(float, judged["human"])),
    }
    yield Made("closer_look_judged", judged, both)
    yield Made("closer_look_parquet", judged, both, suffix=".parquet")
    yield Made("closer_look_tabs", judged, both, suffix=".tsv")
    yield Made("closer_look_records", judged, both, suffix=".json")
    shares = judged.drop(columns="gpt35").assign(**{f"gpt_p{n}": [0.25] * len(judged) for n in (1, 2, 3, 4)})
    people = {("rater", "Overall", "human"): list(map(float, judged["human"]))}
    mean = "expected(gpt_p1,gpt_p2,gpt_p3,gpt_p4)"
    yield Made("closer_look_probabilities", shares, people | {("judge", "Overall", mean): [2.5] * len(judged)})


def llmbar(data: Path) -> Iterator[Made]:
    """Pairs of outputs with the better one's number, and a judge's verdicts."""
    with gzip.open(data / "llmbar" / "pairs.jsonl.gz", "rt", encoding="utf-8") as stream:
        pairs = [json.loads(line) for line in stream][:60]
    frame = pd.DataFrame(pairs)[["input", "output_1", "output_2", "label"]]
    yield Made("llmbar_released", frame, {("verdicts", "people", ""): [60.0]}, way="pairs")
    beside = frame.rename(columns={"label": "human_label"}).assign(gpt4=[1 + at % 2 for at in range(60)])
    yield Made(
        "llmbar_beside_a_judge",
        beside,
        {("verdicts", "people", ""): [60.0], ("verdicts", "judge", ""): [60.0]},
        way="pairs",
    )
    yield Made("llmbar_checked", beside, refused=("compares two stories a row", "judge import"))
    codes = beside.assign(human_label=[at % 3 for at in range(60)], gpt4=[(at + 1) % 3 for at in range(60)])
    yield Made("llmbar_ties_coded_0", codes, refused=("--labels 1,2,0", "--labels 0,1,2"), way="pairs")
    zero = beside.assign(human_label=beside["human_label"] - 1, gpt4=beside["gpt4"] - 1)
    yield Made("llmbar_from_0", zero, refused=("--labels 0,1", "--labels 1,0"), way="pairs")
    sides = beside.replace({1: "left", 2: "right"}).rename(
        columns={"output_1": "left_output", "output_2": "right_output"}
    )
    yield Made(
        "llmbar_left_right", sides, {("verdicts", "people", ""): [60.0], ("verdicts", "judge", ""): [60.0]}, way="pairs"
    )


def deltascore(data: Path) -> Iterator[Made]:
    """Means of three raters on five criteria, one column each."""
    with (data / "deltascore" / "crowdsource_roc.jsonl").open(encoding="utf-8") as stream:
        frame = pd.DataFrame([json.loads(line) for line in stream][:60])
    names = [c for c in frame.columns if c in ("coherence", "fluency", "relatedness", "logicality", "interestingness")]
    truth = {("rater", "Coherence" if n == "coherence" else n, "None"): list(map(float, frame[n])) for n in names}
    yield Made("deltascore_released", frame, truth, way="data", suffix=".jsonl")
    yield Made("deltascore_table", frame, truth, way="data")
    scored = frame[["title", "model", "coherence"]].rename(columns={"coherence": "human_coherence"})
    scored = scored.assign(
        gpt_coherence=[1 + at % 5 for at in range(60)], bart_score=[-3.5 + at / 7 for at in range(60)]
    )
    yield Made(
        "deltascore_judge_and_measure",
        scored,
        {
            ("judge", "Coherence", "gpt"): list(map(float, scored["gpt_coherence"])),
            ("rater", "Coherence", "human"): list(map(float, scored["human_coherence"])),
        },
    )


def user_study(data: Path) -> Iterator[Made]:
    """Ratings of explanations by three annotators, questions in columns."""
    with (data / "hanna" / "user_study.csv").open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))[:90]
    names = [column for column in rows[0] if column.startswith("Answer.")]
    frame = pd.DataFrame(rows)[["Input.explanation", *names]].rename(columns={"Input.explanation": "explanation_text"})
    frame["annotator"] = [f"w{at % 3}" for at in range(90)]
    frame["id"] = [f"e{at // 3}" for at in range(90)]
    short = frame[["id", "annotator", names[1]]].rename(columns={names[1]: "human_syntax"}).assign(gpt_syntax=3)
    short["human_syntax"] = short["human_syntax"].astype(float)
    yield Made(
        "user_study_rows",
        short,
        {
            ("judge", "syntax", "gpt"): [3.0] * 30,
            **{("rater", "syntax", f"w{n}"): list(short["human_syntax"][n::3]) for n in range(3)},
        },
    )


MAKERS: tuple[Maker, ...] = (
    hanna,
    mans,
    ttcw,
    alttest,
    storyer,
    plotguided,
    closer_look,
    llmbar,
    deltascore,
    user_study,
)
