"""Topics of 86,000 explanations of one judge, and the bars that they have to pass: of reasons, not of dialogues.

Chiang & Lee (2023): gpt-3.5-turbo-0613 on 360 replies in 60 dialogues, four criteria, three prompts, 20 repeats."""

from __future__ import annotations

import csv
import gzip
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("sklearn")

from judge.answers.parsing import parser
from judge.base.records import Criterion, Response, Scale
from judge.explanations.corpus.corpus import ExplanationTexts, cells_of_judgment, frame_of, stories_of
from judge.explanations.topics.clustering import topics
from judge.explanations.topics.parting import partings
from judge.explanations.topics.reasons import Reasons, reasons, repeats, topic_rows

pytestmark = pytest.mark.data

PROMPTS = ("rate_explain", "rate_explain_auto_cot", "analyze_rate")
CRITERIA = {
    name: Criterion(name, name[:2].upper(), "", scale=Scale(0, 1) if name == "groundedness" else Scale(1, 3))
    for name in ("naturalness", "coherence", "engagingness", "groundedness")
}


@pytest.fixture(scope="module")
def texts(studies: Path) -> ExplanationTexts:
    return read_all(studies)


def read_all(studies: Path) -> ExplanationTexts:
    """All answers of the three prompts that ask for reasons, with people's means."""
    csv.field_size_limit(sys.maxsize)
    with (studies / "closer_look/replies.csv").open(encoding="utf-8", newline="") as stream:
        replies = {row["reply"]: row for row in csv.DictReader(stream)}
    loaded, rows = parser("ours"), []
    for prompt in PROMPTS:
        with gzip.open(studies / f"closer_look/answers_{prompt}.jsonl.gz", "rt", encoding="utf-8") as stream:
            for line in stream:
                answer = json.loads(line)
                reply = replies[answer["reply"]]
                judgment = loaded.parse(Response(answer["text"]), CRITERIA[answer["criterion"]])
                row: dict[str, Any] = {
                    "run": "replies", "judge": "gpt-3.5", "dataset": "replies", "story": answer["reply"],
                    "story_prompt": reply["dialogue"], "system": reply["system"], "criterion": answer["criterion"],
                    "eval_prompt": prompt, "repeat": answer["repeat"], "people": float(reply[answer["criterion"]]),
                    **cells_of_judgment(judgment),
                }  # fmt: skip
                rows.append(row)
    return ExplanationTexts(frame_of(rows), stories_of([]), tuple(CRITERIA.values()), (), ())


@pytest.fixture(scope="module")
def found(texts: ExplanationTexts) -> tuple[Reasons, float]:
    """The topics, and the CPU seconds that they took."""
    start = time.process_time()
    return reasons(texts), time.process_time() - start


def test_a_topic_is_not_a_dialogue_and_every_text_has_one(found: tuple[Reasons, float]) -> None:
    rows = [row for row in topic_rows(found[0]) if row.topic >= 0]
    assert len(found[0].rows) > 85_000
    assert np.median([row.commonest for row in rows]) <= 0.10
    assert sum(row.texts for row in rows) / len(found[0].rows) > 0.999


def test_other_dialogues_give_the_same_topics(texts: ExplanationTexts, found: tuple[Reasons, float]) -> None:
    """Adjusted Rand index of fits on two halves of the dialogues, each with its own mask and vocabulary. Over eight
    splits its mean is .72 for topics and .86 for themes, and it varies by .05."""
    from sklearn.metrics import adjusted_rand_score

    seen = found[0]
    said, rng = seen.rows["text"].tolist(), np.random.default_rng(11)
    test = rng.choice(len(said), 3000, replace=False)
    half = np.isin(seen.prompt, rng.permutation(60)[:30])
    labels = []
    for part in (half, ~half):
        own = np.flatnonzero(part)
        fitted = topics([said[i] for i in own], seen.criterion[own], seen.prompt[own])
        topic = fitted.model.assign(fitted.model.vectors([said[i] for i in test]), seen.criterion[test])[0]
        labels.append((topic, fitted.theme[topic]))
    (first, first_theme), (second, second_theme) = labels
    assert adjusted_rand_score(first, second) >= 0.6
    assert adjusted_rand_score(first_theme, second_theme) >= 0.7


def test_repeats_agree_on_ratings_and_less_on_reasons(found: tuple[Reasons, float]) -> None:
    rows = repeats(found[0])
    assert len(rows) == 12
    for row in rows:
        reasons_agree, ratings_agree = row.result.reasons.value, row.result.ratings.value
        assert reasons_agree is not None
        assert ratings_agree is not None
        assert reasons_agree < 0.3 < ratings_agree
        assert (row.result.given_same or 0) > (row.result.other_stories or 1)
    other = {prompt: [r.result.given_other or 0 for r in rows if r.asked.eval_prompt == prompt] for prompt in PROMPTS}
    # A reason given before the rating leaves it freer.
    assert np.mean(other["analyze_rate"]) > 1.5 * np.mean(other["rate_explain"])


def test_few_topics_part_from_people_and_less_so_where_they_were_not_chosen(found: tuple[Reasons, float]) -> None:
    parted = partings(found[0])
    assert len(parted.rows) >= 40
    assert 0 < len(parted.significant) < len(parted.rows) / 2
    held = [abs(row.held_out) for row in parted.significant if row.held_out is not None]
    chosen = [abs(row.excess.value or 0) for row in parted.significant if row.held_out is not None]
    assert np.mean(held) < np.mean(chosen)


def test_permuted_ratings_of_people_raise_few_alarms(
    found: tuple[Reasons, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twenty permutations over replies; a rate of 5 % exceeds four of them in .3 % of cases."""
    from dataclasses import replace

    from judge.explanations.topics import parting

    monkeypatch.setattr(parting, "HALVES", 0)
    seen = found[0]
    reply = np.asarray(seen.rows.groupby("story").ngroup())
    table = np.full((reply.max() + 1, 4), np.nan)
    table[reply, seen.criterion] = seen.people
    rng = np.random.default_rng(5)
    alarms = 0
    for _ in range(20):
        drawn = np.column_stack([table[rng.permutation(len(table)), c] for c in range(4)])
        alarms += bool(partings(replace(seen, people=drawn[reply, seen.criterion])).significant)
    assert alarms <= 4
