"""`judge explain` from the command line, without any model, on real answers and real comments."""

from __future__ import annotations

import dataclasses
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import judge
from judge.asking.run_folder import ResultFolder, resolve
from judge.base.errors import DataError
from judge.base.printing import output
from judge.base.printing.tables import render
from judge.cli.main import main
from judge.explanations.mapping import stored_map as stored
from judge.explanations.options import EXEMPT, SHOWN_BY, ExplainOptions
from judge.explanations.results import results, tables

pytest.importorskip("sklearn")

FEW = ("--layout", "clusters", "--set", "permutations=19", "--set", "refits=19", "--resamples", "20")
TEXT_OF = ("story", "criterion", "eval_prompt", "repeat")


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(autouse=True)
def _own_cache(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JUDGE_CACHE", str(cache))


def explain(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit code, stdout, stderr of the command."""
    code: Any = 0
    try:
        main(["explain", *map(str, arguments), *FEW])
    except SystemExit as stop:
        code = stop.code
    out = capsys.readouterr()
    return int(code or 0), out.out, out.err


def as_json(capsys: pytest.CaptureFixture[str], *arguments: object) -> dict[str, dict[str, Any]]:
    """Tables by title."""
    code, out, err = explain(capsys, *arguments, "--format", "json", "--quiet")
    assert code == 0, err
    assert err == ""
    return {table["title"]: table for table in json.loads(out)}


def test_a_run_is_counted_clustered_and_told_in_words(capsys: pytest.CaptureFixture[str], demo_run: Path) -> None:
    tables = as_json(capsys, demo_run, "--model", "tfidf", "--map", "pca")
    first, second = tables["Explanations"]["rows"]
    assert (first["eval_prompt"], first["texts"], first["asked"]) == ("ep1", 0, 12 * 6 * 3)
    assert (second["eval_prompt"], second["texts"]) == ("ep2", 12 * 6 * 3)
    assert "216 of 432 rows left out: without an explanation" in tables["Explanations"]["notes"]
    assert any("TF-IDF" in note for note in tables["Explanations"]["notes"])
    for table in tables.values():
        for part in ("crit:RE,CH,EM,SU,EG,CX", "judge:surface(control)", "rep:3", "parser:ours/", "emb:tfidf-svd"):
            assert part in table["signature"], table["title"]
    clusters = tables["Clusters of explanations"]["rows"]
    assert sum(row["texts"] for row in clusters) == 216
    words = tables["Keywords of explanations"]["rows"]
    assert sum(row["texts"] for row in words if row["by"] == "criterion") == 216
    assert sum(row["texts"] for row in words if row["by"] == "rating") == 216
    assert all("control" in row["ctfidf"] or row["texts"] for row in words)


def test_points_and_tables_are_stored_beside_the_journal(capsys: pytest.CaptureFixture[str], demo_run: Path) -> None:
    tables = as_json(capsys, demo_run, "--model", "tfidf", "--criterion", "coherence")
    (folder,) = resolve([demo_run])
    kept = stored.read(folder)
    assert kept is not None
    assert len(kept.points) == 36
    assert {tuple(point) for point in kept.points} == {stored.POINT}
    assert {point["criterion"] for point in kept.points} == {"Coherence"}
    assert {point["repeat"] for point in kept.points} == {0, 1, 2}
    assert all(isinstance(point["x"], float) for point in kept.points)
    assert [table["title"] for table in kept.tables] == list(tables)
    assert kept.signature == tables["Explanations"]["signature"]
    assert kept.method in ("t-SNE", "UMAP")
    again = as_json(capsys, demo_run, "--model", "tfidf", "--map", "none")
    assert stored.read(folder) != kept
    assert again["Explanations"]["signature"] != kept.signature


def test_stored_tables_print_what_the_command_printed(capsys: pytest.CaptureFixture[str], demo_run: Path) -> None:
    _, printed, told = explain(capsys, demo_run, "--model", "tfidf", "--map", "pca", "--full")
    step = f"the map: judge report {demo_run}; judge view; judge explain {demo_run} --set figure=map.pdf"
    assert told.splitlines()[-1] == step
    (folder,) = resolve([demo_run])
    kept = stored.read(folder)
    assert kept is not None
    whole = {(*(point[k] for k in TEXT_OF),): "a text" for point in kept.points}
    assert len(kept.tables) == 12
    for value in kept.tables:
        bare = output.table(value)
        if any(column["key"] == "text" for column in value["columns"]):
            full = output.table(value, lambda row: whole[*(row[k] for k in TEXT_OF)])
            assert {row["text"] for row in full.rows} == {"a text"}
            assert [column.key for column in full.columns] == [*(column.key for column in bare.columns), "text"]
        else:
            # Advice is not kept, so that a line may end before the printed one.
            assert all(line in printed for line in render(bare, "table").splitlines()), bare.title


def test_of_a_store_without_columns_points_are_read_and_tables_are_not(
    capsys: pytest.CaptureFixture[str], demo_run: Path
) -> None:
    as_json(capsys, demo_run, "--model", "tfidf", "--criterion", "coherence", "--map", "none")
    (folder,) = resolve([demo_run])
    path = folder.derived / stored.FILE
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content | {"format": 1}), encoding="utf-8")
    kept = stored.read(folder)
    assert kept is not None
    assert (len(kept.points), kept.tables) == (36, [])
    assert "judge explain makes them again" in kept.notes[-1]
    path.write_text(json.dumps(content | {"format": 99}), encoding="utf-8")
    with pytest.raises(DataError, match="another version"):
        stored.read(folder)


def test_what_an_eval_prompt_does_not_ask_for_is_said(capsys: pytest.CaptureFixture[str], demo_run: Path) -> None:
    title = "Presence: is there an explanation?"
    sentence = "not asked for by Eval-Prompt ep1: their absence is no failure of the judge"
    few = (demo_run, "--model", "tfidf", "--criterion", "coherence", "--map", "none")
    assert sentence in as_json(capsys, *few)[title]["notes"]
    alone = as_json(capsys, *few, "--eval-prompt", "ep2")[title]["notes"]
    assert not any("not asked for" in note for note in alone)


def test_a_folder_that_is_only_read_gets_its_tables_all_the_same(
    capsys: pytest.CaptureFixture[str], demo_run: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(demo_run, copy)
    (folder,) = resolve([copy])
    shutil.rmtree(folder.derived, ignore_errors=True)
    folder.derived.write_text("in the way", encoding="utf-8")
    code, out, err = explain(
        capsys, copy, "--model", "tfidf", "--quiet", "--format", "csv", "--by", "judge", "--criterion", "coherence"
    )
    assert code == 0
    assert "cluster" in out
    assert "the map is not kept for pages and figures" in err


def test_a_broken_store_is_told_with_the_command_that_mends_it(tmp_path: Path) -> None:
    folder = ResultFolder(tmp_path)
    assert stored.read(folder) is None
    folder.derived.mkdir()
    (folder.derived / stored.FILE).write_text("{", encoding="utf-8")
    with pytest.raises(DataError) as told:
        stored.read(folder)
    assert told.value.hint == "make it again: judge explain RUN"


def test_storyer_comments_by_name(capsys: pytest.CaptureFixture[str], studies: Path) -> None:
    tables = as_json(capsys, "storyer_reasons", "--model", "tfidf", "--by", "criterion", "--map", "none")
    words = {row["group"]: row["ctfidf"].split(", ") for row in tables["Keywords of explanations"]["rows"]}
    assert words["Ending"][0] == "ending"
    assert words["Opening"][0] == "opening"
    assert "scary" in words["Horror"]
    assert tables["Explanations"]["rows"][0]["texts"] == 303
    assert not any(part.startswith("map:") for part in tables["Explanations"]["signature"].split("|"))


def test_same_seed_same_output_and_every_format_prints(capsys: pytest.CaptureFixture[str], demo_run: Path) -> None:
    few = (demo_run, "--model", "tfidf", "--quiet", "--criterion", "coherence")
    outputs = {}
    for form in ("md", "md", "csv", "latex"):
        code, out, _ = explain(capsys, *few, "--format", form)
        assert code == 0
        assert "Keywords" in out or form == "csv"
        assert outputs.setdefault(form, out) == out


def test_hostile_texts_are_printed_as_text(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "hostile.csv"
    lines = ["text,criterion,story"]
    for i in range(40):
        lines.append(f'"<script>alert({i % 4})</script> \x1b[31mred {{{{7*7}}}} ending {i}",Ending,s{i % 5}')
    file.write_text("\n".join(lines), encoding="utf-8")
    code, out, _ = explain(capsys, file, "--model", "tfidf", "--map", "none", "--quiet", "--set", "min_cluster=5")
    assert code == 0
    assert "\x1b" not in out
    assert "49" not in out.replace("4900", "")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--by", "colour"], "--by 'colour' is not known"),
        (["--top", "0"], "--top 0 must be 1 or more"),
        (["--column", "text=Comment"], "--column is for a file"),
        (["--judge", "nobody"], "--judge 'nobody' is not known"),
        (["--set", "cluster_on=umap", "--map", "none"], "needs a map by UMAP"),
        (["--eval-prompt", "ep1"], "no explanation to analyse: 216 without an explanation"),
    ],
)
def test_mistakes_are_sentences(
    capsys: pytest.CaptureFixture[str], demo_run: Path, arguments: list[str], words: str
) -> None:
    code, _, err = explain(capsys, demo_run, "--model", "tfidf", "--quiet", *arguments)
    assert code == 1
    assert words in err
    assert "Traceback" not in err


@pytest.mark.parametrize("words", [("--map", "mds"), ("--set", "metric=taxicab"), ("--set", "cluster_on=tsne")])
def test_a_word_that_is_no_choice_is_refused(
    capsys: pytest.CaptureFixture[str], demo_run: Path, words: tuple[str, str]
) -> None:
    code, _, err = explain(capsys, demo_run, *words)
    assert code == (2 if words[0] == "--map" else 1)
    assert words[1] in err


def test_without_the_extra_a_model_is_refused_and_auto_takes_tfidf(
    capsys: pytest.CaptureFixture[str], demo_run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("sentence_transformers", "huggingface_hub", "umap", "keybert"):
        monkeypatch.setitem(sys.modules, name, None)
    few = (demo_run, "--criterion", "coherence")
    code, _, err = explain(capsys, *few, "--quiet", "--model", "all-mpnet-base-v2")
    assert code == 1
    assert "[explain]" in err
    tables = as_json(capsys, *few)
    assert "emb:tfidf-svd" in tables["Explanations"]["signature"]
    assert any("UMAP is not installed" in note for note in tables["Explanations"]["notes"])


def test_every_option_stands_in_the_signature_or_is_exempt() -> None:
    names = {field.name for field in dataclasses.fields(ExplainOptions)}
    assert names == set(SHOWN_BY) | set(EXEMPT)


def test_a_notebook_gets_a_frame_with_clusters_and_places(demo_run: Path) -> None:
    seen = judge.open_run(demo_run).only(criterion=["Coherence"]).explain(model="tfidf", map="pca")
    assert {"text", "band", "cluster", "x", "y"} <= set(seen.rows.columns)
    assert set(seen.rows["criterion"]) == {"Coherence"}
    assert seen.embedded.vectors.shape[0] == len(seen.rows)
    assert seen.guidelines.shape[0] == sum(len(c.guidelines) for c in seen.texts.criteria)


def test_a_look_is_one_value_of_which_frames_and_tables_are_made(demo_run: Path) -> None:
    mapped = judge.open_run(demo_run).only(criterion=["Coherence", "Empathy"]).explain(model="tfidf", map="pca")
    found = results(mapped)
    made = {table.title: table for table in tables(found)}
    assert mapped.frame.attrs["signature"] == mapped.signature()
    assert list(mapped.frame["cluster"]) == list(mapped.rows["cluster"])
    assert found.keywords is not None
    words = found.keywords.frame
    for row in made["Keywords of explanations"].rows:
        group = words[(words["by"] == row["by"]) & (words["group"] == row["group"]) & (words["method"] == "ctfidf")]
        if row["by"] == "criterion":
            assert ", ".join(group["word"]) == row["ctfidf"]
    assert found.texts.frame["texts"].tolist() == [row["texts"] for row in made["Explanations"].rows]
    if found.clusters is not None:
        listed = made["Clusters of explanations"].rows
        assert found.clusters.frame["share"].tolist() == [row["share"] for row in listed]
        assert found.cluster_words.keys() == {
            row.result.cluster for row in found.clusters.rows if row.result.cluster >= 0
        }


def test_a_mask_is_in_force_before_texts_are_embedded(capsys: pytest.CaptureFixture[str], demo_run: Path) -> None:
    few = (demo_run, "--model", "tfidf", "--criterion", "coherence", "--map", "none")
    plain = as_json(capsys, *few)["Explanations"]
    masked = as_json(capsys, *few, "--set", "mask=true")["Explanations"]
    assert "|mask:third-of-prompts|" in masked["signature"]
    assert "mask:" not in plain["signature"]
    assert any("masked" in note for note in masked["notes"])
