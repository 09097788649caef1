"""Tables of compared and ranked stories: every shape, what is said of a wrong cell, and that no label is given away."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from judge.base.errors import DataError, SpecError
from judge.base.records import Pair
from judge.inputs.datasets import Dataset, open_dataset
from judge.inputs.datasets.files.column_guess import guess
from judge.inputs.datasets.files.pair_table import FORMS

Write = Callable[[str, str | bytes], Path]


def _lines(write: Write, *rows: dict[str, Any], name: str = "pairs.jsonl") -> str:
    return str(write(name, "\n".join(json.dumps(row) for row in rows)))


def _said(dataset: Dataset) -> dict[frozenset[str], list[tuple[str, str | None]]]:
    """Texts of a pair -> the text preferred (or tie) and by whom."""
    texts = {story.id: story.text for story in dataset.stories()}
    found: dict[frozenset[str], list[tuple[str, str | None]]] = {}
    for pair in _pairs(dataset):
        side = {"first": texts[pair.first], "second": texts[pair.second], "tie": "tie"}
        found[frozenset((texts[pair.first], texts[pair.second]))] = [
            (side[one.value], one.rater) for one in pair.preferences
        ]
    return found


def _pairs(dataset: Dataset) -> list[Pair]:
    assert dataset.pairs is not None
    return list(dataset.pairs())


def test_chosen_and_rejected_are_read_without_a_map(write: Write) -> None:
    rows = [{"prompt": f"p{i}", "chosen": f"good {i}", "rejected": f"bad {i}"} for i in range(60)]
    dataset = open_dataset(_lines(write, *rows))
    assert _said(dataset) == {frozenset((f"good {i}", f"bad {i}")): [(f"good {i}", None)] for i in range(60)}
    assert {story.story_prompt for story in dataset.stories()} == {f"p{i}" for i in range(60)}
    values = [pair.preferences[0].value for pair in _pairs(dataset)]
    assert 15 < values.count("first") < 45
    assert {pair.preferences[0].criterion for pair in _pairs(dataset)} == {"Overall"}
    ids = [story.id for story in dataset.stories()]
    assert ids == sorted(ids)


def test_litbench(write: Write) -> None:
    """Columns of the set once its comment ids are filled with texts."""
    table = (
        "prompt,chosen_story,rejected_story,chosen_upvotes,rejected_upvotes,chosen_comment_id,rejected_comment_id\n"
        '[WP] one,"told, well",told badly,90,3,c1,c2\n'
        "[WP] one,told well again,told badly,50,3,c3,c2\n"
    )
    dataset = open_dataset(str(write("litbench.csv", table)))
    assert [story.id for story in dataset.stories()] == ["c1", "c2", "c3"]
    assert [(pair.first, pair.second, pair.preferences[0].value) for pair in _pairs(dataset)] == [
        ("c1", "c2", "first"),
        ("c2", "c3", "second"),
    ]


def test_writing_preference_bench(write: Write) -> None:
    """The structure that its page shows."""
    row = {
        "prompt": "Write a short story",
        "chosen": {"text": "a better one", "score": 3, "length": 3},
        "rejected": {"text": "a worse one", "score": 1, "length": 3},
        "genre": "fiction",
        "metadata": {"annotator_agreement": 0.85},
    }
    path = write("wpb.json", json.dumps([row]))
    assert _said(open_dataset(str(path))) == {frozenset(("a better one", "a worse one")): [("a better one", None)]}


def test_every_known_form_names_both_stories() -> None:
    assert all({"chosen", "rejected", "story_prompt"} <= set(fields) for fields in FORMS.values())


def test_pairs_as_shown_keep_their_order_and_turn_with_it(write: Write) -> None:
    table = (
        "prompt,a,b,who,winner\n"
        "p,x,y,r1,A\n"
        "p,y,x,r2,model_a\n"  # y, shown first the second time
        "p,x,y,r3,tie\n"
        "p,x,z,r1,\n"
    )
    columns = {"first": "a", "second": "b", "preference": "winner", "rater": "who", "story_prompt": "prompt"}
    dataset = open_dataset(str(write("shown.csv", table)), columns=columns)
    assert _said(dataset) == {frozenset("xy"): [("x", "r1"), ("y", "r2"), ("tie", "r3")], frozenset("xz"): []}
    assert dataset.rater_identity is True
    assert dataset.columns == columns


def test_a_ranking_is_all_its_pairs_with_its_ties(write: Write) -> None:
    """As in LAMP: three versions of a paragraph, ranked by one person."""
    rows = [
        {"prompt": "p", "texts": ["x", "y", "z"], "ranks": [2, 1, 2], "systems": ["human", "m", "m"], "rater": "w1"},
        {"prompt": "p", "texts": ["x", "y"], "ranks": [1, 2], "systems": ["human", "m"], "rater": "w2"},
    ]
    columns = {"texts": "texts", "ranks": "ranks", "story_prompt": "prompt"}
    dataset = open_dataset(_lines(write, *rows), columns=columns)
    assert _said(dataset) == {
        frozenset("xy"): [("y", "w1"), ("x", "w2")],
        frozenset("xz"): [("tie", "w1")],
        frozenset("yz"): [("y", "w1")],
    }
    assert {story.text: story.system for story in dataset.stories()} == {"x": "human", "y": "m", "z": "m"}


def test_a_ranking_of_one_row_a_story(write: Write) -> None:
    table = (
        "prompt,text,system,judge,place\np,x,m1,w,1\np,y,m2,w,2\np,z,m3,w,3\n"
        "q,u,m1,w,1\nq,v,m2,w,1\np,y,m2,w2,1\np,x,m1,w2,\n"  # w2 ranked one story only: no pair
    )
    columns = {"text": "text", "rank": "place", "rater": "judge", "story_prompt": "prompt"}
    dataset = open_dataset(str(write("long.csv", table)), columns=columns)
    assert _said(dataset) == {
        frozenset("xy"): [("x", "w")],
        frozenset("xz"): [("x", "w")],
        frozenset("yz"): [("y", "w")],
        frozenset("uv"): [("tie", "w")],
    }


@pytest.mark.parametrize(
    ("rows", "columns", "said"),
    [
        ([{"chosen": "x", "rejected": 3.5}], None, r"row 1, column 'rejected': not a text; found 3\.5"),
        ([{"chosen": "x", "rejected": " "}], None, "row 1, column 'rejected': the text is empty"),
        ([{"chosen": "x", "rejected": "x"}], None, "row 1: a story is compared with itself"),
        ([{"chosen": [{"role": "user", "content": "x"}], "rejected": "y"}], None, "row 1, column 'chosen': not a text"),
        (
            [{"chosen": "x", "rejected": "y", "i": 1}, {"chosen": "z", "rejected": "y", "i": 1}],
            {"chosen": "chosen", "rejected": "rejected", "chosen_id": "i"},
            "row 2: differs from story '1' in row 1",
        ),
        (
            [{"a": "x", "b": "y", "w": "up"}],
            {"first": "a", "second": "b", "preference": "w"},
            r"row 1, column 'w': not a preference; found 'up'; allowed: first, second, tie \(or a, b; 1, 2",
        ),
        (
            [{"a": "x", "b": "y", "w": 0}],
            {"first": "a", "second": "b", "preference": "w"},
            "row 1, column 'w': not a preference; found 0",
        ),
        (
            [{"a": "x", "b": "y", "w": 1, "r": "p"}, {"a": "y", "b": "x", "w": 1, "r": "p"}],
            {"first": "a", "second": "b", "preference": "w", "rater": "r"},
            "row 2: rater 'p' compared these stories on Overall before",
        ),
        (
            [{"texts": ["x", "y"], "ranks": [1]}],
            {"texts": "texts", "ranks": "ranks"},
            "row 1, column 'ranks': holds 1 entries beside 2 texts",
        ),
        ([{"texts": "x", "ranks": [1]}], {"texts": "texts", "ranks": "ranks"}, "row 1, column 'texts': not a list"),
        (
            [{"texts": ["x", "x"], "ranks": [1, 2]}],
            {"texts": "texts", "ranks": "ranks"},
            "row 1: a story occurs twice in one ranking",
        ),
        (
            [{"texts": ["x", "y"], "ranks": [1, "best"]}],
            {"texts": "texts", "ranks": "ranks"},
            "row 1, column 'ranks': not a rating",
        ),
        (
            [{"text": "x", "rank": 1}, {"text": "x", "rank": 2}],
            {"rank": "rank"},
            "row 2, column 'rank': occurs earlier in this ranking; .* names the rater",
        ),
    ],
)
def test_what_is_wrong_is_named(
    rows: list[dict[str, Any]], columns: dict[str, str] | None, said: str, write: Write
) -> None:
    with pytest.raises(DataError, match=said):
        _pairs(open_dataset(_lines(write, *rows), columns=columns))


def test_a_list_of_messages_says_where_its_text_stands(write: Write) -> None:
    messages = [{"role": "user", "content": "p"}, {"role": "assistant", "content": "a story"}]
    path = _lines(write, {"chosen": messages, "rejected": "y"})
    with pytest.raises(DataError) as caught:
        list(open_dataset(path).stories())
    assert caught.value.hint is not None
    assert "chosen.1.content" in caught.value.hint
    columns = {"chosen": "chosen.1.content", "rejected": "rejected"}
    assert _said(open_dataset(path, columns=columns)) == {frozenset(("a story", "y")): [("a story", None)]}


@pytest.mark.parametrize(
    ("columns", "error", "said"),
    [
        ({"chosen": "good", "rejected": "rejected"}, DataError, "column 'good' is not known.*wanted as chosen"),
        ({"first": "chosen"}, DataError, "the map names no column for second"),
        ({"chosen": "chosen", "rejected": "rejected", "ranks": "r"}, SpecError, "column map field 'ranks'"),
        ({"chosen": "chosen", "rejected": 3}, SpecError, "rejected must name a column"),
    ],
)
def test_a_wrong_map_is_named(columns: dict[str, Any], error: type[Exception], said: str, write: Write) -> None:
    path = _lines(write, {"chosen": "x", "rejected": "y"})
    with pytest.raises(error, match=said):
        open_dataset(path, columns=columns)


def test_a_table_that_looks_like_pairs_is_told_a_map(write: Write) -> None:
    x, y = "The lamp went out at nine, and Mara waited.", "Nobody came, so she lit it again by herself."
    path = write("arena.csv", f'Prompt,Story A,Story B,Winner\np,"{x}","{y}",A\n')
    with pytest.raises(DataError, match="the map names no column for the text") as caught:
        open_dataset(str(path))
    assert caught.value.hint is not None
    columns = guess(path, texts=False).as_map()
    assert columns == {"first": "Story A", "second": "Story B", "preference": "Winner", "story_prompt": "Prompt"}
    assert all(column in caught.value.hint for column in columns.values())
    assert _said(open_dataset(str(path), columns=columns)) == {frozenset((x, y)): [(x, None)]}


def test_a_table_of_stories_with_such_columns_stays_one(write: Write) -> None:
    dataset = open_dataset(str(write("a.csv", "text,system,chosen,rejected\nx,m,1,0\n")))
    assert dataset.pairs is None
