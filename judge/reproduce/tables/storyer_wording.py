"""Reasons why StoryER's printed cells cannot be recomputed, and names of the rows that this program adds."""

from __future__ import annotations

from collections.abc import Mapping

from judge.reproduce.cell import Place
from judge.reproduce.published import Printed

ASPECTS = (
    "opening",
    "middle",
    "ending",
    "character",
    "scene",
    "heartwarming",
    "sad",
    "horror",
    "funny",
    "novelty",
)
"""The ten aspects as the study's tables name them, in the order of its numbers."""

CONTROL = "floor: surface, out of fold"
PEOPLE = "people: one against four"
TABLE_2, OUT_OF_STORY = "floor: most frequent in Table 2", "floor: most frequent in other stories"
TABLE_2_MEANS, UPVOTES = "floor: aspect means of Table 2", "floor: upvotes of the story"
COMMONEST = "floor: commonest class"
ONE_SENTENCE, ANOTHER_STORY = "floor: one sentence for all", "floor: comment on another story"
SCORES = "plotguided_scores"
WHICH_200 = "computed on the 300 stories that were released; the study does not state which 200 of them it used"

_PAIRS = "the 100,000 pairs that the study trained and tested on are not in its repository, which holds a sample"
_FLOORS = "; rows named floor give the score of a guess"
_TABLES: Mapping[str, str] = {
    "rank_sizes": f"{_PAIRS} of the training pairs",
    "aspect_sizes": "the repository holds 100 of 5,964 stories, with 303 comments of the 28,099",
    "preference_ablation": f"{_PAIRS}; each row is a model trained on them",
    "aspect_confidence": f"the repository holds neither the test comments nor the model's answers{_FLOORS}",
    "aspect_rating": f"the repository holds neither the test comments nor the model's answers{_FLOORS}",
    "comments": "the repository holds neither the generated comments nor people's judgments of them",
    "domains": "the repository holds no scores of the study's models, nor which stories of WP_200 were upvoted; of a "
    "judge of your own: judge systems RUN...",
    "horror": "the repository holds no answers of the study's model",
    "objective": f"{_PAIRS}; each row is a model trained on them",
    "sentiment": f"the repository holds no answers of the study's classifier{_FLOORS}",
    "agreement": "the released sample holds one annotation a story",
}
_METHOD = "scores of this method were not released"
_COLUMNS: Mapping[str, str] = {
    "rank": "the 22,887 test pairs are not in the repository (data/test_rank_data.pkl is listed there and absent)",
    "pref200": "PREF200 was not released",
    "wp200": _METHOD,
    "scary200": "neither SCARY200 nor scores of this method were released",
    "coh200": _METHOD,
}
_WEIGHTS: Mapping[str, str] = {
    "wp200": "the study does not state which GPT-2 it used; of one that you choose: judge contamination score "
    "storyer_wp200",
    "scary200": "the study does not state which GPT-2 it used, and SCARY200 was not released",
}
_STARRED = "the repository holds 100 of 5,964 stories, and none is known to be of the starred columns' comments"
_OVERLAP = f"{_FLOORS} on the released 303"
_NOT_HERE = (
    "MANPLTS' scores are not on this machine: judge data fetch plotguided_wp, judge data fetch plotguided_scores"
)


def missing(place: Place, entry: Printed) -> str:
    """Reason why the available data do not give a printed cell of StoryER's tables."""
    table, _, column = place
    if table == "preference":
        kind = column.partition("_")[0]
        if entry.verdict == "near":
            return _NOT_HERE
        return (_WEIGHTS if entry.verdict == "with weights" else _COLUMNS)[kind]
    if table == "aspect_sizes" and column.endswith("*"):
        return _STARRED
    return _TABLES[table] + (_OVERLAP if table == "comments" and entry.verdict == "floor" else "")
