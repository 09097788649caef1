"""The map of explanations: every point once, groups that differ in shape, a caption that says what a map is not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge.base.errors import SpecError
from judge.questions.charts.explanation_map import explanation_map
from judge.questions.figures import explanations
from judge.questions.figures import panels as page
from tests.figures import looks

CRITERIA = ("Relevance", "Coherence", "Empathy", "Surprise", "Engagement", "Complexity")


@dataclass(frozen=True)
class Stored:
    """The form that `judge explain` stores."""

    signature: str
    model: str
    method: str
    points: Sequence[Mapping[str, Any]]
    keywords: Mapping[str, Sequence[str]] = field(default_factory=dict)


def point(i: int, rng: np.random.Generator) -> dict[str, Any]:
    angle = 2 * np.pi * (i % 6) / 6
    return {
        "judge": "openai/m", "story": f"s{i}", "system": "GPT-2", "criterion": CRITERIA[i % 6], "eval_prompt": "ep2",
        "repeat": 0, "rating": None if i % 20 == 0 else float(1 + i % 5), "cluster": i % 4 - 1,
        "x": float(4 * np.cos(angle) + rng.normal()), "y": float(4 * np.sin(angle) + rng.normal()),
    }  # fmt: skip


RNG = np.random.default_rng(1)
MAP = Stored(
    signature="demo:48|crit:RE,CH,EM,SU,EG,CX|ep:ep2|map:umap/n15/seed1|v0.1.0",
    model="all-MiniLM-L6-v2",
    method="UMAP",
    points=[point(i, RNG) for i in range(600)],
    keywords={"0": ["lamp", "quay", "night", "harbour"], "1": ["plot"], "2": ["feelings", "joy"]},
)


def draw(found: Stored, by: str, width: float, dataset: str = "") -> Any:
    return explanations.draw(explanation_map(found, [by], dataset=dataset), width)


def offsets(figure: Any) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(one.get_offsets()) for one in figure.axes[0].collections]


@pytest.mark.parametrize("by", ["criterion", "cluster", "rating"])
@pytest.mark.parametrize("width", list(page.WIDTHS))
def test_every_point_is_drawn_once_and_nothing_is_covered(by: str, width: str) -> None:
    figure = draw(MAP, by, page.WIDTHS[width], dataset="demo")
    drawn = np.vstack(offsets(figure))
    stored = np.array([(p["x"], p["y"]) for p in MAP.points])
    assert sorted(map(tuple, drawn.tolist())) == sorted(map(tuple, stored.tolist()))
    assert looks.faults(figure) == []
    assert looks.signature(figure) == MAP.signature
    caption = looks.caption(figure)
    assert "600 explanations by openai/m, demo" in caption
    assert "UMAP (settings and seed in the last line), texts embedded by all-MiniLM-L6-v2" in caption
    assert "do not read its distances, areas or densities as measures" in caption


def test_groups_differ_in_shape_and_are_counted() -> None:
    figure = draw(MAP, "criterion", 6.3)
    groups = figure.axes[0].collections
    shapes = {tuple(map(tuple, one.get_paths()[0].vertices.round(3).tolist())) for one in groups}
    assert len(groups) == len(shapes) == 6
    for one, name in zip(groups, CRITERIA, strict=True):
        own = [(p["x"], p["y"]) for p in MAP.points if p["criterion"] == name]
        assert np.asarray(one.get_offsets()).tolist() == [list(place) for place in own]
        assert f"{name} (100)" in looks.texts(figure)


def test_clusters_are_named_by_their_words_and_noise_is_grey() -> None:
    figure = draw(MAP, "cluster", 6.3)
    written = looks.texts(figure)
    assert "0: lamp, quay, night (150)" in written
    assert "other clusters, or none (150)" in written
    assert figure.axes[0].collections[0].get_edgecolor()[0][:3] == pytest.approx([0xB8 / 255] * 3)


def test_ratings_are_colours_that_rise_in_lightness_and_crosses_have_none() -> None:
    figure = draw(MAP, "rating", 6.3)
    crosses, dots = figure.axes[0].collections
    assert len(crosses.get_offsets()) == 30
    assert list(dots.get_array()) == [p["rating"] for p in MAP.points if p["rating"] is not None]
    light = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b, _ in dots.cmap(np.linspace(0, 1, 9))]
    assert light == sorted(light)
    assert "Grey: 30 without a rating." in looks.caption(figure)


def test_other_methods_get_their_own_warning_and_wrong_words_a_sentence() -> None:
    plane = replace(MAP, method="first two components of a PCA")
    assert "shows only a part of the distances: do not read them as measures" in looks.caption(
        draw(plane, "criterion", 6.3)
    )
    with pytest.raises(SpecError, match='by="hue" is not known; allowed: criterion, cluster'):
        draw(MAP, "hue", 6.3)
    with pytest.raises(SpecError, match="no explanation to draw"):
        draw(replace(MAP, points=[]), "criterion", 6.3)
    many = replace(MAP, points=[{**p, "criterion": f"c{i % 11}"} for i, p in enumerate(MAP.points)])
    with pytest.raises(SpecError, match="11 values of criterion are too many"):
        draw(many, "criterion", 6.3)


def test_equal_maps_give_equal_files(tmp_path: Path) -> None:
    files = [tmp_path / f"{name}.svg" for name in "ab"]
    for path in files:
        page.write(draw(MAP, "cluster", 3.03), path)
    assert files[0].read_bytes() == files[1].read_bytes()
