"""Tables as HTML: numbers at the right, whoever made them; texts with the room they need."""

from __future__ import annotations

import numpy as np

from judge.base.printing.output import html_table
from judge.base.printing.tables import Column, Table


def test_numbers_stand_at_the_right_and_long_texts_have_room() -> None:
    columns = [
        Column("k", "k"),
        Column("name", "name"),
        Column("short", "asked", text=True),
        Column("text", "text", wrap=9),
    ]
    rows = [{"k": np.int64(3), "name": "a", "short": "<b>", "text": "word " * 40}, {"k": 3, "name": None}]
    made = str(html_table(Table("t", columns, rows, ""), copies=False))
    assert '<th scope="col" class="number">k</th>' in made
    assert made.count('<td class="number" data-of="k">3</td>') == 2
    assert '<td class="wide" dir="auto" data-of="asked">&lt;b&gt;</td>' in made
    assert made.count('<td class="wide long" dir="auto" data-of="text">') == 2
    assert '<td data-of="name">a</td>' in made


def test_only_a_table_that_is_too_wide_for_a_phone_stacks() -> None:
    made = str(html_table(Table("t", [Column("k", "k"), Column("name", "name")], [{"k": 3, "name": "a"}], "")))
    assert 'class="stacks"' not in made
    assert "data-of" not in made


def test_a_table_without_rows_says_so() -> None:
    assert "no rows" in str(html_table(Table("t", [Column("k", "k")], [], "")))
