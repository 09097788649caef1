"""Addresses and checksums of the studies' published files. No address has been verified yet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

BASE_URL = "https://raw.githubusercontent.com"


@dataclass(frozen=True, slots=True)
class Source:
    """A file that a study released: `path` is in JUDGE_DATA and the cache, `remote` in its repository. `sha256` None =
    only counts of stories and ratings check it. `verified`: it was downloaded from the address and had this
    checksum."""

    path: str
    repository: str
    commit: str
    remote: str
    sha256: str | None
    verified: bool = False
    server: str = BASE_URL

    def url(self, base: str | None = None) -> str:
        """The file's address on its own server, or on the server `base`, which must have the same layout."""
        server = self.server if base is None else base
        return f"{server.rstrip('/')}/{self.repository}/{self.commit}/{self.remote}"


_HANNA = ("dig-team/hanna-benchmark-asg", "282f275")
_TIGER = ("TIGER-AI-Lab/TIGERScore", "6374fd8")
_OPENMEVA = ("thu-coai/OpenMEVA", "7239954")
_DELTASCORE = ("ZhuohanX/DeltaScore", "b437b2f")
_STORYER = ("sairin1202/StoryER", "0f59b7f")
_PLOTGUIDED = ("PlusLabNLP/Plot-guided-Coherence-Evaluation", "7dfad67")

_TTCW = ("salesforce/creativity_eval", "fced0ab")

_CREATIVE = ("datasets/mismayil/creative_story_generation_dataset/resolve", "main")
_CONFEDERACY = ("komoku/confederacy-of-models", "71e6fb06618f91281ff0e4fd00de1538ee646c7c")

_TTCW_FILES = {
    "ttcw_annotations.json": (
        "annotations/ttcw_annotations.json",
        "f10b711378b80972ef80427d938aebea66b55e9d024d41815ec81ad67058d284",
    ),
    "ttcw_short_stories.json": (
        "stories/ttcw_short_stories.json",
        "5ff3138ead096c50ecafc86c7be88837c96fd2d6a0d903042c0fb3ed867c2bcf",
    ),
    "ttcw_all_tests.json": (
        "tests/ttcw_all_tests.json",
        "1f305d408e3f89bb526023a0f04d58428b096aef66b5d748b81579036f3be5a8",
    ),
    "with_background.txt": (
        "prompts/with_background.txt",
        "ab7284702d44ac5ff3a420dddfd54ee37ab6e04cf73a9a9c8f0e075456b44501",
    ),
}
_PLOTGUIDED_FILES = {
    "AMT_WP.CSV": "aa7e21eeb51228efc5f90de03998ffc1610c3d1beb3368efb5dbc8cdae5fc874",
    "AMT_ROC.CSV": "ad99523a5dd4cb57e984e7d6111db89b20265613a31b5ff7b42a966ec6a59bfc",
    "Pred_advWP_longformer.txt": "61d230b0f5af49cec50bd952fca1a5753949bce5d238c7af050ff368de18aa16",
    "Pred_advROC_roberta.txt": "df0694ae44177a1b7373f7d04905d9bd32b71dd04656e2f3359348107deba75a",
}
_TTCW_ANSWERS = {
    "cgpt": "63f86852d8ad706652ca3ab6a5b82b088ad4bbc142e67f89ff6788108c29c42e",
    "gpt4": "3bf1b935e8f501a460489bf840a1f02338cb0a1d91ea6d1c769747fbd034da36",
    "claudev13": "35bddc4d2fae76932793acf42f7ceabeff666f452ba5b002e9689b3bc02b478c",
    "claudev2": "2b39b025f10b0878ae4aed11546e3526ee511ca28b61222c2dc5cb23d185635c",
    "claudev21": "b5b61822be47e013e6ee186234938d4ceffb0de4e7ace874e1bb208bf0aa8a08",
}

_LEXICONS = {
    "cause_relation": "223056121020111acfcfbe76dbf4088c4ad0e871b992953f3f76931d69e4544b",
    "cause_vocab": "aff4c3dc657eff8943d47b6b3ce338b6928277f74560a66330a6738d937be521",
    "negation_prefix_vocab": "a4d866f93c1f35c9d4eefb546c8df594490500a0820ef803501f1e4a96891bdd",
    "negation_vocab": "c8ddd1216cea5eb3179207eeec3c3fd94afeb0dd31d66cfda0cb762c7cb8f7b0",
    "pronoun_relation": "34607c5381e44904b2b9334319aca9d1525562a73a246dd28b9400797d99c482",
    "pronoun_vocab": "812877271f865c416038cd2df193cfc2cd9d061514ca9bca324cedcae4d5c897",
    "time_relation": "d79f9aa0cd206991b4a3014d5e869ec63370e3b450eef4b1fd05c259381f56c2",
    "time_vocab": "0b48ac4a1d82f4c7063622ab94bb20814e1557c5a73b1023df566af8d924c2be",
}

_CONFEDERACY_MODELS = (
    "OA_SFT_Llama_30B_6",
    "alpaca-13b-2023-04-07-temp07",
    "bard-2023-04-11",
    "chatgpt-free-mar23version-2023-04-11",
    "chatgpt-gpt4-mar23version-2023-04-14",
    "claude12-2023-04-04",
    "dolly-v2-12b-2023-04-14",
    "gpt4all-j-2023-04-14",
    "koala-13b-2023-04-07-temp07",
    "stablelm-tuned-alpha-7b-2023-04-20",
    "vicuna-13b-2023-04-07-temp07",
)
_CONFEDERACY_STORIES = (
    *(f"{model}-{number}.txt" for model in _CONFEDERACY_MODELS for number in range(1, 6)),
    *(f"bing-creative-2023-04-{7 if number == 1 else 11:02d}-{number}.txt" for number in range(1, 6)),
    *(f"human{number}-2023-05-12-{number}.txt" for number in range(1, 6)),
)
_CONFEDERACY_FILES = (
    "rating/RatersSheet-WithResults.xlsx",
    "anonymization/mapping-grouped.csv",
    *(f"corpus-full/{name}" for name in _CONFEDERACY_STORIES),
)

_ALL = [
    # The repository is known to hold this file at this commit; no checksum of it is published.
    Source("hanna/hanna_stories_annotations.csv", *_HANNA, "hanna_stories_annotations.csv", None),
    Source(
        "hanna/hanna_metric_scores_llm.csv",
        *_HANNA,
        "hanna_metric_scores_llm.csv",
        "d0ce43f9b5cc12894f8b7bf3f7b4da06d19cdbea2c989dd3f173f2240dfee26d",
    ),
    Source(
        "hanna/hanna_llm_stories.csv",
        *_HANNA,
        "hanna_llm_stories.csv",
        "91f46039ed696be653374eccb38141ac6b8d8b5c675bf48a5032bc9317b50753",
    ),
    Source(
        "hanna/user_study.csv",
        *_HANNA,
        "user_study.csv",
        "9736893a6baf9eba4514ac9b281703b094ccbb1f5c376177433dcfd89b30d96a",
    ),
    Source(
        "openmeva/mans_roc.json",
        *_TIGER,
        "data/evaluation/storygen/mans_roc.json",
        "3c4a7dc47c2db86af20da01a0c94a4a9adc5e822dfe0d9ebe8b6f139ac7ea7e7",
    ),
    Source(
        "openmeva/mans_wp.json",
        *_TIGER,
        "data/evaluation/storygen/mans_wp.json",
        "f42e5ef6c6e95fd642502f86635401f10c16ea08f553741b44c44ac9b94ae22b",
    ),
    Source(
        "openmeva/conceptnet_antonym.txt",
        *_OPENMEVA,
        "eva/union_metric/data/conceptnet_antonym.txt",
        "74f740dbb1f80563e6d8aae995f70887d44c2489e02de05ae462679894670129",
    ),
    Source(
        "openmeva/negation.txt",
        *_OPENMEVA,
        "eva/union_metric/data/negation.txt",
        "e6f4d8672351146367d9227df385c5ecc142a53cefd4ee35dd884927f0d0d8c5",
    ),
    *(
        Source(f"openmeva/lexicons/{name}.txt", *_DELTASCORE, f"eva/perturb/{name}.txt", sha256)
        for name, sha256 in _LEXICONS.items()
    ),
    Source(
        "storyer/story_correlation.pkl",
        *_STORYER,
        "data/story_correlation.pkl",
        "e11fa4ad262c0f2feb27e8458bd65e701afde2b11d4322dddafac892ad5490fa",
    ),
    Source(
        "storyer/train_rate_reason_data_small.json",
        *_STORYER,
        "data/train_rate_reason_data_small.json",
        "363a5b90581b8cfdccbea1e0712e625403ea8e2ed70dbc6fb6a8fdbe430ac062",
    ),
    # The checksum of the whole file of 1,000 pairs; shortened copies of it are about.
    Source(
        "storyer/train_rank_data_small.pkl",
        *_STORYER,
        "data/train_rank_data_small.pkl",
        "a99e18a11b5e8e798ad1f512a1038f5d8104dddad76196ccaec344c59b081419",
    ),
    Source(
        "deltascore/crowdsource_roc.jsonl",
        *_DELTASCORE,
        "data/crowdsource/roc.jsonl",
        "221fab2654e58d428e7786bf5b96ca5a38e5d482a7eb3eff4258b2373b4416ac",
    ),
    Source(
        "deltascore/crowdsource_wp.jsonl",
        *_DELTASCORE,
        "data/crowdsource/wp.jsonl",
        "d8f01720f600a1a396e64c15fc0ea3ecef11e4fa514b8d950d7434e05a59d230",
    ),
    *(
        Source(f"plotguided/{name}", *_PLOTGUIDED, f"Data/AMT/{name}", sha256)
        for name, sha256 in _PLOTGUIDED_FILES.items()
    ),
    *(
        Source(f"ttcw/{name}", *_TTCW, f"Art_or_Artifice/{remote}", sha256)
        for name, (remote, sha256) in _TTCW_FILES.items()
    ),
    *(
        Source(
            f"ttcw/llm_answers/annotations_{judge}.jsonl",
            *_TTCW,
            f"Art_or_Artifice/data/annotations_{judge}.jsonl",
            sha256,
        )
        for judge, sha256 in _TTCW_ANSWERS.items()
    ),
    # No commit of it is known: what its main branch holds.
    Source(
        "creative_short_stories/train-00000-of-00001.parquet",
        *_CREATIVE,
        "data/train-00000-of-00001.parquet",
        None,
        server="https://huggingface.co",
    ),
    *(Source(f"confederacy/{remote}", *_CONFEDERACY, remote, None) for remote in _CONFEDERACY_FILES),
]

# Local path -> where the file is published.
SOURCES: Mapping[str, Source] = {source.path: source for source in _ALL}

_AUTOS_MODES = (
    "lexical_rept",
    "semantic_rept",
    "character",
    "commonsense",
    "consistency",
    "relatedness",
    "cause",
    "time",
)
_AUTOS_SAME = ("synonym_substitute", "semantic_substitute", "delete_punct", "contraction", "typos")


def _autos(part: str) -> tuple[str, ...]:
    # As in the study's list, by part (such as `roc`).
    dis = [f"discrimination_test/{part}_{mode}{end}" for mode in _AUTOS_MODES for end in (".txt", "_perturb.txt")]
    changed = [f"{sample}{mode}_perturb" for sample in ("", "negative_sample_") for mode in _AUTOS_SAME]
    inv = [f"invariance_test/{part}_{name}.txt" for name in ("negative_sample", *changed)]
    return tuple(f"autos_data/{part}/{name}" for name in (*dis, *inv, f"{part}_test_ipt.txt", f"{part}_test_opt.txt"))


# Dataset -> the files its reader needs, the stories first (of `confederacy` last, one a file).
FILES: Mapping[str, tuple[str, ...]] = {
    "autos_roc": _autos("roc"),
    "autos_wp": _autos("wp"),
    "mans_roc": ("openmeva/mans_roc.json",),
    "mans_wp": ("openmeva/mans_wp.json",),
    "hanna": ("hanna/hanna_stories_annotations.csv",),
    "hanna_llm": ("hanna/hanna_llm_stories.csv",),
    "hanna_llm+human": ("hanna/hanna_llm_stories.csv", "hanna/hanna_metric_scores_llm.csv"),
    "storyer_wp200": ("storyer/story_correlation.pkl",),
    "storyer_pairs": ("storyer/train_rank_data_small.pkl",),
    "storyer_reasons": ("storyer/train_rate_reason_data_small.json",),
    "plotguided_roc": ("plotguided/AMT_ROC.CSV",),
    "plotguided_wp": ("plotguided/AMT_WP.CSV",),
    "deltascore_roc": ("deltascore/crowdsource_roc.jsonl",),
    "deltascore_wp": ("deltascore/crowdsource_wp.jsonl",),
    "ttcw": ("ttcw/ttcw_short_stories.json", "ttcw/ttcw_annotations.json"),
    "ttcw+newyorker": ("ttcw/ttcw_short_stories.json", "ttcw/ttcw_annotations.json"),
    "creative_short_stories": ("creative_short_stories/train-00000-of-00001.parquet",),
    "confederacy": tuple(f"confederacy/{remote}" for remote in _CONFEDERACY_FILES),
}

# Sources other than datasets: tables and word lists that other parts read.
OTHER_FILES: Mapping[str, tuple[str, ...]] = {
    "hanna_scores": ("hanna/hanna_metric_scores_llm.csv",),
    "hanna_user_study": ("hanna/user_study.csv",),
    "openmeva_words": (
        "openmeva/conceptnet_antonym.txt",
        "openmeva/negation.txt",
        *(f"openmeva/lexicons/{name}.txt" for name in _LEXICONS),
    ),
    "plotguided_scores": ("plotguided/Pred_advROC_roberta.txt", "plotguided/Pred_advWP_longformer.txt"),
    "ttcw_tests": ("ttcw/ttcw_all_tests.json", "ttcw/with_background.txt"),
    "ttcw_answers": tuple(f"ttcw/llm_answers/annotations_{judge}.jsonl" for judge in _TTCW_ANSWERS),
}

_MIT = "MIT (dig-team/hanna-benchmark-asg)"
_BSD = "BSD-3-Clause (salesforce/creativity_eval)"
_APACHE = "Apache-2.0 (PlusLabNLP/Plot-guided-Coherence-Evaluation); the terms of ROCStories and WritingPrompts apply"
_MANS = "OpenMEVA names no licence; the terms of ROCStories and WritingPrompts apply"
_WP200 = "StoryER names no licence; the terms of WritingPrompts apply"
_CROWD = "DeltaScore names no licence; the terms of ROCStories and WritingPrompts apply"

# The known terms of use of each.
LICENCES: Mapping[str, str] = {
    "mans_roc": _MANS,
    "mans_wp": _MANS,
    "autos_roc": _MANS,
    "autos_wp": _MANS,
    "hanna": _MIT,
    "hanna_llm": _MIT,
    "hanna_llm+human": _MIT,
    "storyer_wp200": _WP200,
    "storyer_pairs": _WP200,
    "storyer_reasons": _WP200,
    "plotguided_roc": _APACHE,
    "plotguided_wp": _APACHE,
    "deltascore_roc": _CROWD,
    "deltascore_wp": _CROWD,
    "hanna_scores": _MIT,
    "hanna_user_study": _MIT,
    "openmeva_words": "OpenMEVA and DeltaScore name no licence",
    "plotguided_scores": _APACHE,
    "ttcw": _BSD,
    "ttcw+newyorker": _BSD,
    "creative_short_stories": "the data set names no licence",
    "confederacy": "CC BY-SA 4.0 (komoku/confederacy-of-models)",
    "ttcw_tests": _BSD,
    "ttcw_answers": _BSD,
    "hanna_eval_prompts": _MIT,
    "closer_look": "the repository names no licence; Topical-Chat's terms apply",
    "llmbar": "MIT (princeton-nlp/LLMBar)",
    "alttest": "as nitaytech/AltTest",
}

# Files without a public address: a person registers a copy.
UNPUBLISHED: Mapping[str, tuple[str, ...]] = {
    "hanna_eval_prompts": ("hanna/eval_prompts.json",),
    "closer_look": tuple(
        f"closer_look/{name}"
        for name in (
            "replies.csv",
            "published.csv",
            "answers_geval.jsonl.gz",
            "answers_geval_no_auto_cot.jsonl.gz",
            "answers_llm_eval_no_cot.jsonl.gz",
            "answers_rate_explain.jsonl.gz",
            "answers_rate_explain_auto_cot.jsonl.gz",
            "answers_analyze_rate.jsonl.gz",
        )
    ),
    "llmbar": tuple(
        f"llmbar/{name}"
        for name in (
            "pairs.jsonl.gz",
            "cells.csv",
            "answers_gpt-4.jsonl.gz",
            "answers_chatgpt.jsonl.gz",
            "answers_palm2.jsonl.gz",
        )
    ),
    "alttest": (
        "alttest/published.csv",
        *(
            f"alttest/{name}/{kind}_annotations.json"
            for name in ("wax", "lgbteen", "mtbench")
            for kind in ("human", "llm")
        ),
    ),
}
