"""All candidates of an improvement: each kind is one function from what is known to proposals, by its name in `KINDS`.

What candidates show of stories comes from the train part alone. A kind that asks the writer gives its tasks first
(`TASKS`), and its function reads their answers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from judge.base.records import Story
from judge.lab.improve import shown, wording, written
from judge.lab.improve.material import Lost, Make, Material, Proposal
from judge.lab.improve.wording import LostError

# Kind -> its function, in the order in which candidates are raced; where it asks the writer, -> its tasks.
KINDS: dict[str, Make] = {
    "repeats": shown.repeats,
    "explanation": shown.explanations,
    "examples": shown.examples,
    "anchors": written.anchors,
    "guidelines": written.guidelines,
    "checklist": written.checklist,
    "sub-scores": written.sub_scores,
    "scale": shown.scales,
    "paraphrase": written.paraphrases,
}
TASKS: dict[str, Callable[[Material], dict[str, str]]] = {
    "anchors": written.anchor_tasks,
    "guidelines": written.guideline_tasks,
    "checklist": written.checklist_tasks,
    "paraphrase": written.paraphrase_tasks,
}
# In every race: the first costs nothing, the second least and has the best record.
_ALWAYS = ("repeats", "explanation")


def proposals(material: Material, most: int, longest: Story) -> tuple[list[Proposal], list[Lost]]:
    """All candidates that can be asked with, `most` beside the paraphrases, and those that are lost."""
    kept: list[Proposal] = []
    lost: list[Lost] = []
    for kind, make in KINDS.items():
        try:
            made = make(material)
        except LostError as error:
            lost.append(Lost(kind, kind, error.kind, error.why))
            continue
        for each in made:
            try:
                if any((each.asks, each.weighted) == (other.asks, other.weighted) for other in kept):
                    raise LostError("same", "the text of another candidate")
                for name, source in each.asks.items():
                    asked = [each.criterion(criterion) for criterion in material.criteria]
                    wording.checked(source, name, material.base, asked, longest)
            except LostError as error:
                lost.append(Lost(each.name, kind, error.kind, error.why))
            else:
                kept.append(each)
    return [*_first(kept, most), *(each for each in kept if each.paraphrase)], lost


def _first(kept: Sequence[Proposal], most: int) -> list[Proposal]:
    """More repeats, and at most so many others that are no paraphrases: explanations, then of each kind in turn."""
    by_kind: dict[str, list[Proposal]] = {}
    for each in kept:
        if not each.paraphrase and each.kind not in _ALWAYS:
            by_kind.setdefault(each.kind, []).append(each)
    always = [each for each in kept if each.kind in _ALWAYS]
    turns = sorted(
        ((number, order, each) for order, made in enumerate(by_kind.values()) for number, each in enumerate(made)),
        key=lambda turn: turn[:2],
    )
    return [*always, *(each for _, _, each in turns)][: most + 1]
