"""BERTScore and greedy, average and extrema matching, computed from the token vectors of one encoder. BERTScore equals
that of the package bert-score at batch size 1: special tokens can be matched but are not scored. Only texts with the
same number of tokens share a batch, so values do not depend on its size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from judge.lab.measures.measure import Family, Item, Measure, Scored, Tools
from judge.lab.measures.models.loading import Loaded, array, load, run
from judge.lab.measures.models.sentence_cosine import at_layer, of_folders

# Items whose vectors are in memory together, and tokens of one pass.
_LOT, _TOKENS = 64, 4096


class _Text(NamedTuple):
    """Token vectors (tokens, dimensions), `unit` of length 1; `own` marks those that are not special; `cut`: not
    all."""

    unit: NDArray[np.float32]
    plain: NDArray[np.float32]
    own: NDArray[np.bool_]
    cut: bool


def _matching(items: Sequence[Item], tools: Tools) -> list[Scored]:
    name, layer = at_layer(tools.models["encoder"])
    loaded = load("AutoModel", name)
    # Items of one reference stand together: its vectors are made once.
    order = sorted(range(len(items)), key=lambda i: items[i].reference)
    by_item: dict[int, Scored] = {}
    for start in range(0, len(order), _LOT):
        some = order[start : start + _LOT]
        texts = list(dict.fromkeys(text for i in some for text in (items[i].text, items[i].reference)))
        vectors = dict(encoded(texts, loaded, layer))
        by_item |= {i: _score(vectors[items[i].text], vectors[items[i].reference]) for i in some}
        if tools.progress is not None:
            tools.progress("token vectors", len(by_item), len(items))
    return [by_item[i] for i in range(len(items))]


def encoded(texts: Sequence[str], loaded: Loaded, layer: int | None) -> Iterator[tuple[str, _Text]]:
    """(text, its token vectors), not in input order; `layer` counts hidden layers from 1, None is the last."""
    tokenizer = loaded.tokenizer
    rows: dict[int, list[tuple[str, list[int], bool]]] = {}
    for text in texts:
        whole = tokenizer(text.strip(), add_special_tokens=True, verbose=False)["input_ids"]
        ids = tokenizer(text.strip(), truncation=True, max_length=loaded.longest)["input_ids"]
        # Padding changes vectors in their last digits, so only texts of equal length share a batch.
        rows.setdefault(len(ids), []).append((text, ids, len(whole) > len(ids)))
    for size, same in rows.items():
        step = max(1, _TOKENS // size)
        for start in range(0, len(same), step):
            some = same[start : start + step]
            batch = [ids for _, ids, _ in some]
            output = run(
                loaded.model, input_ids=batch, attention_mask=[[1] * size] * len(some), output_hidden_states=True
            )
            hidden = array(output.hidden_states[-1 if layer is None else layer])
            for (text, ids, cut), plain in zip(some, hidden, strict=True):
                length = np.linalg.norm(plain, axis=1, keepdims=True)
                own = ~np.isin(ids, loaded.framing)
                yield text, _Text(plain / np.where(length > 0, length, 1), plain, own, cut)


def _score(text: _Text, reference: _Text) -> Scored:
    likeness = text.unit @ reference.unit.T
    precision = float(likeness.max(axis=1)[text.own].mean())
    recall = float(likeness.max(axis=0)[reference.own].mean())
    inner = likeness[np.ix_(text.own, reference.own)]
    own, other = text.plain[text.own], reference.plain[reference.own]
    values = {
        "precision": precision,
        "recall": recall,
        "f": 2 * precision * recall / (precision + recall),
        "greedy": float((inner.max(axis=0).mean() + inner.max(axis=1).mean()) / 2),
        "average": _cosine(own.mean(axis=0), other.mean(axis=0)),
        "extrema": _cosine(_extremes(own), _extremes(other)),
    }
    return Scored(values, cut=text.cut or reference.cut)


def _extremes(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """For each dimension, the value with the largest absolute value over all tokens."""
    high, low = vectors.max(axis=0), vectors.min(axis=0)
    return np.asarray(np.where(high >= -low, high, low), dtype=np.float32)


def _cosine(vector: NDArray[np.float32], other: NDArray[np.float32]) -> float:
    return float(vector @ other / (np.linalg.norm(vector) * np.linalg.norm(other)))


_LAYER = "hidden layer N of encoder=PATH@N, else the last; no weights, no rescaling"
FAMILIES = (
    Family(
        name="token-vectors",
        source="Zhang et al. 2020; Rus and Lintean 2012; Forgues et al. 2014; own, equal to bert-score 0.3.13",
        needs=("reference", "encoder"),
        distributions=("torch", "transformers"),
        extra="hf",
        score=_matching,
        identity=of_folders,
        measures=(
            *(
                Measure(f"bertscore-{name}", name, 1, f"BERTScore, {name}: cosines of best matching tokens, {_LAYER}")
                for name in ("precision", "recall", "f")
            ),
            Measure("greedy", "greedy", 1, f"mean cosine of best matching tokens, both ways; {_LAYER}"),
            Measure("average", "average", 1, f"cosine of the mean vectors; {_LAYER}"),
            Measure("extrema", "extrema", 1, f"cosine of the vectors of extremes; {_LAYER}"),
        ),
    ),
)
