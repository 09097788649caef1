"""A page ends with the terms that it uses and what they mean, and with no others."""

from __future__ import annotations

import re

from markupsafe import Markup

from judge.show.report import words
from judge.show.report.blocks import Section, prose


def terms(page: str) -> set[str]:
    return set(re.findall(r"<dt>(.*?)</dt>", page))


def test_the_demos_page_explains_what_it_uses(demo_page: str) -> None:
    of_page = terms(demo_page)
    assert {"control", "ICC", "interval", "Holm", "story-prompt", "Eval-Prompt"} <= of_page
    # Nobody was audited with AC1, and nothing was recited.
    assert not {"AC1", "recite", "test part"} & of_page


def test_a_term_in_the_plural_counts_and_one_within_another_word_does_not() -> None:
    section = words.section([Section("a", "Haloed", [prose("Two journals and their unpaired tokens.")])])
    assert terms(str(section.blocks[0])) == {"journal", "token"}


def test_a_meaning_has_no_link_and_code_is_marked() -> None:
    (block,) = words.section([Section("a", "ICC", [prose("A candidate.")])]).blocks
    assert "](" not in block
    assert "<code>judge improve</code>" in block
    assert "no more than answers about different stories</dd>" in block


def test_a_meaning_is_escaped_as_every_text_is() -> None:
    assert words._marked("a <b> `<c>`") == Markup("a &lt;b&gt; <code>&lt;c&gt;</code>")
