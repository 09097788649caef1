"""Files of categories that ship: what they ask, in which direction their columns count, what is shown blind."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge.base.errors import SpecError
from judge.explanations.audit.items import NAMED, load_form
from judge.explanations.audit.store import AuditStore
from judge.show.web.audit_annotators import annotation_task


def test_the_four_questions_about_comments_are_asked_as_faults() -> None:
    form = load_form(Path("comments"))
    assert [category.key for category in form.categories] == ["disagree", "off_story", "off_aspect", "off_rating"]
    # The study asked whether a comment agrees and is related: 1 there means that the fault is absent.
    assert all(category.inverted for category in form.categories)
    assert "rating" not in form.categories[3].asked(["rating"])
    assert "rating" in form.categories[3].asked(["judge"])
    assert {one.subject.criterion.name for one in form.practice if one.subject.criterion} <= {
        "Ending",
        "Humor",
        "Horror",
        "Novelty",
    }
    # Whether one agrees with a comment has no expected answer.
    assert all("disagree" not in one.expected for one in form.practice)
    assert any(1 in one.expected.values() for one in form.practice)


def test_an_audit_asks_them(tmp_path: Path) -> None:
    form = load_form(Path("comments"))
    subjects = [one.subject for one in form.practice]
    AuditStore.create(tmp_path / "comments.sqlite", subjects, form=form, seed=1, blind=()).close()
    with AuditStore.open(tmp_path / "comments.sqlite") as store:
        task = annotation_task(store, "ann")
    assert [one["press"] for one in task["categories"]] == ["1", "2", "3", "4"]
    assert len(task["items"]) == 4


@pytest.mark.parametrize("name", NAMED)
def test_names_stand_for_files_that_ship(name: str) -> None:
    assert load_form(Path(name)) == load_form(NAMED[name])


def test_a_name_that_is_none_is_refused() -> None:
    with pytest.raises(SpecError, match="did you mean 'comments'"):
        load_form(Path("coments"))
