"""CPU seconds and memory of the numbers on 25,000 explanations, from vectors that are there. Prints; never asserts.

352 stories of HANNA's later models, six criteria, four Eval-Prompts, three repeats. Texts are comments of StoryER's
readers with sentences of others behind them, in every fourth a name and a quotation of its story; vectors are random
ones of 384 dimensions that lean towards their criterion and rating. Needs JUDGE_DATA.
"""

from __future__ import annotations

import os
import random
import resource
import sys
import time

import numpy as np

from tests.benchmarks.figures import Figure, show

STORIES, PROMPTS, REPEATS, DIMENSIONS = 352, 4, 3, 384


def main() -> int:
    """Measure each module and print."""
    if not os.environ.get("JUDGE_DATA"):
        show("Numbers on explanations", [Figure("CPU", None, remark="needs JUDGE_DATA")])
        return 0
    from judge.explanations.corpus.corpus import ExplanationTexts, frame_of, stories_of
    from judge.explanations.corpus.reading import read_texts
    from judge.explanations.options import NumbersOptions
    from judge.explanations.quality.measures import numbers
    from judge.inputs.criteria import load_criteria
    from judge.inputs.datasets import open_dataset

    rng = random.Random(1)
    comments = read_texts("storyer_reasons").with_text["text"].tolist()
    sentences = sorted({part.strip() for text in comments for part in text.split(". ") if part.strip()})
    stories = list(open_dataset("hanna_llm").stories())[:STORIES]
    criteria = load_criteria("hanna").criteria
    rows = []
    for story in stories:
        words = story.text.split()
        for criterion in criteria:
            for cell in range(PROMPTS * REPEATS):
                text = ". ".join([rng.choice(comments), *rng.sample(sentences, 2)])
                if cell % 4 == 0:
                    at = rng.randrange(max(1, len(words) - 6))
                    text += f' We read "{" ".join(words[at : at + 5])}" of Anna.'
                rating = rng.randint(1, 5)
                row = {"run": "r", "judge": "j", "dataset": "hanna_llm", "story": story.id, "status": "ok"}
                row |= {"criterion": criterion.name, "eval_prompt": f"ep{cell % PROMPTS + 1}", "explanation": text}
                rows.append(row | {"repeat": cell // PROMPTS, "rating": float(rating), "answer": f"{rating}\n\n{text}"})
    frame = frame_of(rows)
    about = stories_of([("hanna_llm", s.id, s.story_prompt, s.system, s.text, s.reference) for s in stories])
    draw = np.random.default_rng(1)
    lean = draw.normal(size=(len(criteria) + 1, DIMENSIONS))
    place = frame["criterion"].map({c.name: i for i, c in enumerate(criteria)}).to_numpy()
    x = draw.normal(size=(len(frame), DIMENSIONS)) + 0.3 * lean[place] + 0.1 * frame[["rating"]].to_numpy() * lean[-1]
    points = draw.normal(size=(sum(len(c.guidelines) for c in criteria), DIMENSIONS))
    unit = [v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x, points)]
    texts = ExplanationTexts(frame, about, criteria, (), ())
    del x, rows
    marks: list[tuple[str, float]] = []

    def step(what: str, _done: int, _total: int) -> None:
        marks.append((what, time.process_time()))

    began = time.perf_counter()
    numbers(texts, frame, *unit, NumbersOptions(), lambda *parts: "|".join(parts), step)
    ended, wall = time.process_time(), time.perf_counter() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    spent = [after - at for (_, at), after in zip(marks, [at for _, at in marks[1:]] + [ended], strict=True)]
    figures = [Figure(f"  {what}", seconds, "", "s") for (what, _), seconds in zip(marks, spent, strict=True)]
    total = Figure(f"{len(frame)} texts, CPU", sum(spent), "<= 15", "s", f"{wall:.1f} s on the clock")
    show("Numbers on explanations, from vectors", [total, *figures, Figure("peak memory", memory, "<= 2000", "MB")])
    return 0


if __name__ == "__main__":
    sys.exit(main())
