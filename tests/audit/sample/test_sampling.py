"""From runs and files to an audit: strata, weights, what is left out, blindness, seeds."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from judge.answers.journal import JournalReader
from judge.base.errors import DataError, SpecError
from judge.explanations.audit.answer_matrix import answered
from judge.explanations.audit.items import Facts, Subject
from judge.explanations.audit.options import SampleOptions
from judge.explanations.audit.population import Population, read_population, read_runs
from judge.explanations.audit.report import rates
from judge.explanations.audit.sampling import _names_its_judge, sample
from judge.explanations.audit.store import AuditStore, snapshot
from tests.audit.conftest import command

Cli = Callable[..., int]


@pytest.fixture(scope="module")
def lamps(run_folder: Path) -> Population:
    """12 stories x 2 criteria x (ep2, ep3) x 2 repeats with an explanation; ep1 asks for none."""
    return read_runs([run_folder])


def test_only_rows_with_an_explanation_are_drawn_and_the_others_are_counted(lamps: Population) -> None:
    assert len(lamps.frame) == 12 * 2 * 2 * 2
    assert dict(lamps.left_out) == {"no explanation, status ok": 12 * 2 * 2}
    made = sample(lamps, SampleOptions(n=1000))
    assert len(made.subjects) == 96
    assert "96 explanations could be drawn, 48 rows could not (48 no explanation, status ok)" in made.notes
    assert "1000 items were asked for, and there are 96" in made.notes
    assert all(one.explanation.strip() for one in made.subjects)


def _endings(tmp_path: Path, prompts: str) -> Path:
    """A run whose judge explains some of its ratings whether it was asked to or not."""
    (tmp_path / "run.yaml").write_text(
        f"name: endings\ndataset: demo\njudge: scripted/endings\ncriteria: {{set: hanna, only: [Empathy]}}\n"
        f"eval_prompts: [{prompts}]\nrepeats: 1\n",
        encoding="utf-8",
    )
    assert command("run", tmp_path / "run.yaml", "--quiet") == 0
    return tmp_path


def test_what_a_prompt_did_not_ask_for_is_not_drawn_unless_it_is_named(tmp_path: Path) -> None:
    both = read_runs([_endings(tmp_path, "ep1, ep2")])
    # Two of six answers in turn hold an explanation.
    assert Counter(both.frame["eval_prompt"]) == {"ep1": 16, "ep2": 16}
    asked = both.only()
    assert set(asked.frame["eval_prompt"]) == {"ep2"}
    assert asked.left_out["by ep1, which asked for no explanation"] == 16
    assert set(both.only(["EP1"]).frame["eval_prompt"]) == {"ep1"}


def test_where_no_prompt_asks_for_an_explanation_the_command_says_what_to_run(
    tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    run = _endings(tmp_path, "ep1")
    assert cli("sample", run) == 1
    said = capsys.readouterr().err
    assert "error: Eval-Prompt ep1 asks for no explanation: there is nothing to audit" in said
    assert "add ep2" in said
    assert "--eval-prompt ep1" in said
    assert not (run / "audit.sqlite").exists()
    assert cli("sample", run, "-n", 5, "--eval-prompt", "ep1") == 0


def test_strata_get_equal_numbers_and_the_table_says_so(lamps: Population) -> None:
    made = sample(lamps, SampleOptions(n=20))
    counted = Counter((one.criterion.name, one.facts.eval_prompt) for one in made.subjects if one.criterion)
    assert set(counted.values()) == {5}
    assert [(row["criterion"], row["eval_prompt"], row["drawn"]) for row in made.table.rows] == [
        (*place, 5) for place in sorted(counted)
    ]
    assert {row["stands_for"] for row in made.table.rows} == {24 / 5}
    assert sum(one.facts.weight or 0 for one in made.subjects) == pytest.approx(96)
    assert made.sampling["unequal"] is False


def test_a_story_that_is_its_own_reference_has_none_to_show() -> None:
    assert Subject("e", text="A lamp.", reference="A  lamp.\n").shown_reference is None
    assert Subject("e", text="A lamp.", reference="A lamp!").shown_reference == "A lamp!"
    assert Subject("e", text="A lamp.").shown_reference is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("As openai/GPT-x I say", True),
        ("gpt-x thinks", True),
        ("as a large Language Model", True),
        ("gpt-xy", False),
        ("openai alone", False),
    ],
)
def test_explanations_that_name_their_judge_are_known(text: str, told: bool) -> None:
    assert _names_its_judge(Subject(text, facts=Facts(judge="openai/gpt-x"))) is told


def test_an_item_has_its_story_reference_criterion_and_facts(lamps: Population, run_folder: Path) -> None:
    stories = {s["id"]: s for s in map(json.loads, (run_folder / "stories.jsonl").read_text("utf-8").splitlines())}
    for one in sample(lamps, SampleOptions(n=20)).subjects:
        told = stories[str(one.story)]
        assert (one.text, one.reference, one.story_prompt, one.system) == (
            told["text"],
            told["reference"],
            told["story_prompt"],
            told["system"],
        )
        assert one.criterion is not None
        assert len(one.criterion.guidelines) == 5
        assert one.facts.judge == "surface"
        assert one.facts.repeat in (0, 1)
        people = told["ratings"][0]["value"] if one.criterion.name == "Coherence" else None
        assert one.facts.people == people
        if people is None:
            assert one.facts.gap is None
        else:
            assert one.facts.gap == pytest.approx((one.facts.rating or 0) - people)


def test_the_seed_decides(lamps: Population) -> None:
    first, again, other = (sample(lamps, SampleOptions(n=20, seed=seed)).subjects for seed in (3, 3, 4))
    assert first == again
    assert {one.key for one in first} != {one.key for one in other}


def test_first_repeat_and_one_of_each_story(lamps: Population, run_folder: Path) -> None:
    first = read_runs([run_folder], first_repeat=True)
    assert first.left_out["later repeats"] == 72
    made = sample(first, SampleOptions(n=20, per_story=1))
    assert len({one.story for one in made.subjects}) == len(made.subjects) == 12
    assert {one.facts.repeat for one in made.subjects} == {0}
    assert "at most 1 of each story: 12 explanations were left to draw from" in made.notes
    assert sum(one.facts.weight or 0 for one in made.subjects) == pytest.approx(48)
    assert "|per-story:1|" in made.table.signature


def test_strata_by_rating_and_gap(lamps: Population) -> None:
    made = sample(lamps, SampleOptions(n=9, by=("gap", "rating"), spread=()))
    assert {row["gap"] for row in made.table.rows} <= {"below people", "near", "above people", "none"}
    for one in made.subjects:
        assert one.facts.stratum is not None
        band = one.facts.stratum.partition(",")[0]
        gap = one.facts.gap
        wanted = "none" if gap is None else "below people" if gap <= -1 else "above people" if gap >= 1 else "near"
        assert band == wanted
    weights = [one.facts.weight for one in made.subjects]
    assert made.sampling["unequal"] is bool(np.ptp(weights) > 1e-6)


def test_fewer_items_than_strata_say_that_chance_chose(lamps: Population) -> None:
    made = sample(lamps, SampleOptions(n=3))
    words = "which ones, is random, balanced over the levels of each variable"
    assert f"3 of 4 strata are in the sample; {words}" in made.notes


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (SampleOptions(n=0), "n=0 must be 1 or more"),
        (SampleOptions(by=("judge", "tone")), "variable 'tone' is not known"),
        (SampleOptions(by=("rating",)), "'rating' cannot be in by and in spread"),
        (SampleOptions(allocation="optimal"), 'allocation="optimal" is not known'),  # type: ignore[arg-type]
        (SampleOptions(per_story=0), "per_story=0 must be 1 or more"),
    ],
)
def test_impossible_options_are_refused(lamps: Population, options: SampleOptions, sentence: str) -> None:
    with pytest.raises(SpecError, match=sentence):
        sample(lamps, options)


def test_weighted_rates_speak_of_the_population(lamps: Population, tmp_path: Path) -> None:
    # An error that only ep3 makes; ep2 is a sixth of what can be drawn, and half of the sample.
    frame = lamps.frame
    few = frame[(frame["eval_prompt"] == "ep3") | (frame["story"].isin(["s0", "s1"]))].reset_index(drop=True)
    part = Population(few, {}, lamps.stories, lamps.criteria, lamps.facts, ())
    made = sample(part, SampleOptions(n=16, by=("eval_prompt",)))
    with AuditStore.create(tmp_path / "a.sqlite", made.subjects, sampling=made.sampling) as store:
        for item in store.items():
            wrong = int(item.subject.facts.eval_prompt == "ep3")
            store.answer("Ada", item.id, {c.key: wrong for c in store.categories})
        one = rates(answered(snapshot(store)), "poor_syntax")
    true = float((few["eval_prompt"] == "ep3").mean())
    assert one.mean.value == 0.5
    assert one.weighted.value == pytest.approx(true)
    assert made.sampling["unequal"] is True


def test_the_command_makes_an_audit_beside_run_yaml(
    run_folder: Path, cli: Cli, capsys: pytest.CaptureFixture[str]
) -> None:
    target = run_folder / "audit.sqlite"
    target.unlink(missing_ok=True)
    words = ("sample", run_folder, "-n", 12, "--set", "blind=judge,rating", "--seed", 5)
    assert cli(*words, "--format", "json") == 0
    out = capsys.readouterr()
    table = json.loads(out.out)
    assert sum(row["drawn"] for row in table["rows"]) == 12
    assert "blind:judge,rating" in table["signature"]
    assert f"{target}: 12 explanations" in out.err
    notes = " ".join(table["notes"])
    assert "Wrong guideline is asked without the rating: Does the explanation leave its criterion, or" in notes
    # Every explanation of the control says that it is no language model.
    assert "12 of 12 explanations name it or its model" in notes
    with AuditStore.open(target) as store:
        assert (store.blind, store.seed, store.item_count) == (("judge", "rating"), 5, 12)
        assert store.meta["sampling"]["signature"] == table["signature"]
    assert cli(*words) == 1
    assert "exists already; an audit is never overwritten" in capsys.readouterr().err
    target.unlink()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "give RUNs, or --from FILE"),
        (("RUN", "--from", "x.csv"), "and not both"),
        (("RUN", "--set", "blind=colour"), "--set blind=colour is not known"),
        (("RUN", "--criteria", "hanna"), "are for --from FILE"),
        (("nowhere",), "nowhere does not exist"),
        (("--from", "nowhere.csv"), "no such file"),
    ],
)
def test_mistakes_on_the_command_line_are_sentences(
    run_folder: Path,
    tmp_path: Path,
    cli: Cli,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    sentence: str,
) -> None:
    given = [str(run_folder) if word == "RUN" else word for word in words]
    assert cli("sample", *given, "-o", tmp_path / "a.sqlite") == 1
    assert sentence in capsys.readouterr().err
    assert not (tmp_path / "a.sqlite").exists()


def test_from_disagreements(run_folder: Path, tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "differ.json"
    asked = ("diagnose", "--layout", "stories", run_folder, "--set", "long=true", "--eval-prompt", "ep3", "--top", 5)
    assert command(*asked, "--format", "json", "-o", file) == 0
    listed = json.loads(file.read_text(encoding="utf-8"))["rows"]
    explained = [r for row in listed for side in row["sides"] for r in side["repeats"] if r["explanation"]]
    found = read_population(file, criteria="hanna")
    assert len(found.frame) + found.left_out["a row like one before"] == len(explained)
    assert found.left_out["no explanation"] == sum(len(s["repeats"]) for r in listed for s in r["sides"]) - len(
        explained
    )
    assert cli("sample", "--from", file, "-n", 4, "--criteria", "hanna", "-o", tmp_path / "d.sqlite") == 0
    told = capsys.readouterr().out
    assert "where ratings differ most: rates say nothing of other stories" in told
    with AuditStore.open(tmp_path / "d.sqlite") as store:
        for item in store.items():
            row = next(r for r in listed if r["story"] == item.subject.story)
            assert item.subject.text == row["text"]
            assert item.subject.facts.people == pytest.approx(row["people"]["mean"])
            assert item.subject.criterion is not None
            assert len(item.subject.criterion.guidelines) == 5


def test_from_a_table(tmp_path: Path, cli: Cli, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "explanations.csv"
    rows = [
        {"text": f"because {i}", "criterion": "Coherence", "story": f"s{i % 3}", "judge": "m", "rating": 1 + i % 5}
        for i in range(10)
    ]
    pd.DataFrame([*rows, rows[0], {**rows[1], "text": ""}]).to_csv(file, index=False)
    assert cli("sample", "--from", file, "-n", 6) == 0
    out = capsys.readouterr().out
    assert "10 explanations could be drawn, 2 rows could not (1 no explanation; 1 a row like one before)" in out
    assert "definitions and guidelines of criteria are not in the file" in out
    with AuditStore.open(tmp_path / "explanations.audit.sqlite") as store:
        one = store.item(1).subject
        assert one.criterion is not None
        assert (one.criterion.name, one.criterion.guidelines, one.text, one.facts.judge) == ("Coherence", (), None, "m")
    with pytest.raises(SpecError, match="criterion 'Coherence' is not in the set 'overall'"):
        read_population(file, criteria="overall")
    (tmp_path / "other.json").write_text('{"rows": [{"a": 1}]}', encoding="utf-8")
    with pytest.raises(DataError, match="is not a list of disagreements"):
        read_population(tmp_path / "other.json")


def test_clusters_come_from_the_explanation_map(run_folder: Path) -> None:
    from judge.asking.run_folder import resolve
    from judge.explanations.mapping import stored_map as stored

    (folder,) = resolve([run_folder])
    frame = read_runs([run_folder]).frame
    points = [
        {key: row[key] for key in ("judge", "story", "system", "criterion", "eval_prompt", "rating")}
        | {"repeat": int(row["repeat"]), "people": None, "cluster": i % 3, "x": 0.0, "y": 0.0}
        for i, row in enumerate(frame.to_dict("records"))
    ]
    stored.write(
        folder, stored.StoredMap(signature="map 1", model="tfidf", method="pca", points=points, tables=[], keywords={})
    )
    try:
        found = read_runs([run_folder])
        assert found.frame["cluster"].tolist() == [str(i % 3) for i in range(len(frame))]
        assert "clusters of surface: map 1" in found.notes
        made = sample(found, SampleOptions(n=9, by=("cluster",), spread=("rating",)))
        assert [row["drawn"] for row in made.table.rows] == [3, 3, 3]
    finally:
        (folder.derived / "explanations.json").unlink()


def test_ratings_and_references_come_of_one_reading(run_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Path] = []
    open_ = JournalReader.__init__

    def counted(self: JournalReader, path: Path) -> None:
        opened.append(path)
        open_(self, path)

    monkeypatch.setattr(JournalReader, "__init__", counted)
    made = sample(read_runs([run_folder]), SampleOptions(n=5)).subjects
    assert len(opened) == 1
    assert all(one.reference for one in made)
