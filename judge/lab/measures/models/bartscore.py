"""BARTScore (Yuan et al. 2021): log-probability of a text given another under an encoder-decoder, in both
directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from judge.lab.measures.measure import Family, Item, Measure, Need, Scored, Tools
from judge.lab.measures.models.loading import Loaded, load, run
from judge.lab.measures.models.sentence_cosine import of_folders


def log_probability(loaded: Loaded, source: str, target: str) -> tuple[float, bool]:
    """(Mean log-probability of the target's tokens given the source, whether a text was cut to the model's limit)."""
    sides = [
        loaded.tokenizer(text, truncation=True, max_length=loaded.longest)["input_ids"] for text in (source, target)
    ]
    whole = [loaded.tokenizer(text, verbose=False)["input_ids"] for text in (source, target)]
    output = run(loaded.model, input_ids=[sides[0]], attention_mask=[[1] * len(sides[0])], labels=[sides[1]])
    return -float(output.loss), any(len(all_) > len(side) for all_, side in zip(whole, sides, strict=True))


def _both(other: Callable[[Item], str]) -> Callable[[Sequence[Item], Tools], list[Scored]]:
    def score(items: Sequence[Item], tools: Tools) -> list[Scored]:
        loaded = load("AutoModelForSeq2SeqLM", tools.models["seq2seq"])
        scored = []
        for item in items:
            after, cut = log_probability(loaded, other(item), item.text)
            before, _ = log_probability(loaded, item.text, other(item))
            scored.append(Scored({"story": after, "other": before}, cut))
            if tools.progress is not None and not len(scored) % 64:
                tools.progress("BARTScore", len(scored), len(items))
        return scored

    return score


def _family(need: Need, letter: str, words: str, other: Callable[[Item], str]) -> Family:
    return Family(
        name=f"bartscore-{words}",
        source="Yuan et al. 2021; own",
        needs=(need, "seq2seq"),
        distributions=("torch", "transformers"),
        extra="hf",
        score=_both(other),
        identity=of_folders,
        measures=(
            Measure(
                f"bartscore-{letter}s", "story", 1, f"mean log-probability of the story's tokens given the {words}"
            ),
            Measure(
                f"bartscore-s{letter}", "other", 1, f"mean log-probability of the {words}'s tokens given the story"
            ),
        ),
    )


FAMILIES = (
    _family("reference", "h", "reference", lambda item: item.reference),
    _family("story-prompt", "p", "story-prompt", lambda item: item.story_prompt),
)
