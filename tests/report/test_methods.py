"""Methods, references, checklist: what was done and no more, works in force alone, gaps and what closes them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from judge.report import Material, ReportOptions, checklist, methods
from judge.report.references import bibtex, works
from tests.report import runs


@pytest.fixture(scope="module")
def hostile_material(hostile_run: Path) -> Material:
    return Material.read([hostile_run], ReportOptions(resamples=60, permutations=60))


@pytest.fixture(scope="module")
def hanna_material(hanna_run: Path) -> Material:
    return Material.read([hanna_run], ReportOptions(resamples=60, drop_systems=("Human",)))


def entries(text: str) -> dict[str, tuple[str, dict[str, str]]]:
    """A BibTeX file read by its grammar: key -> (kind, fields). Braces must balance."""
    found = {}
    position = 0
    while (at := text.find("@", position)) >= 0:
        kind, _, rest = text[at + 1 :].partition("{")
        depth, end = 1, 0
        while depth:
            depth += {"{": 1, "}": -1}.get(rest[end], 0)
            end += 1
        body = rest[: end - 1]
        key, _, fields = body.partition(",")
        pairs = re.findall(r"(\w+)\s*=\s*\{((?:[^{}]|\{[^{}]*\})*)\}", fields)
        found[key.strip()] = (kind, dict(pairs))
        position = at + len(kind) + 2 + end
    return found


def test_every_work_is_a_whole_entry() -> None:
    known = entries(bibtex(list(works())))
    assert set(known) == set(works())
    needed = {"article": {"journal", "volume"}, "inproceedings": {"booktitle"}, "book": {"publisher"}, "misc": {"note"}}
    for key, (kind, fields) in known.items():
        assert {"author", "title", "year"} | needed[kind] <= set(fields), key
        assert fields["year"] in key
        assert re.fullmatch(r"\d{4}", fields["year"])
        if "pages" in fields:
            first, last = fields["pages"].split("--")
            assert int(first) < int(last)
        if "doi" in fields:
            assert re.fullmatch(r"10\.\d{4,}/\S+", fields["doi"])


def test_facts_of_works_are_those_the_publishers_print() -> None:
    # From the ACL Anthology's and MIT Press' pages of these papers.
    assert works()["chhun-etal-2024-language"].line == (
        "Cyril Chhun, Fabian M. Suchanek and Chloé Clavel. 2024. Do Language Models Enjoy Their Own Stories? Prompting "
        "Large Language Models for Automatic Story Evaluation. Transactions of the Association for Computational "
        "Linguistics 12, 1122–1142. doi:10.1162/tacl_a_00689"
    )
    assert works()["deutsch-etal-2021-statistical"].fields["pages"] == "1132--1146"
    assert works()["xie-etal-2023-deltascore"].fields["pages"] == "5317--5331"
    assert works()["shrout-fleiss-1979-intraclass"].short == "Shrout and Fleiss (1979)"


def test_hannas_paragraph_says_what_is_known_and_cites_what_is_in_force(hanna_material: Material) -> None:
    text = methods.paragraph(hanna_material)
    assert "The stories are 960 of the dataset hanna_scores [@chhun-etal-2022-human; @chhun-etal-2024-language]" in text
    assert "96 story-prompts, 10 systems, without Human." in text
    assert "who gave which rating is not known" in text
    assert "their settings are not known here" in text
    keys = methods.cited(text)
    assert "kendall-1945-ties" in keys
    assert "williams-1959-regression" in keys
    assert "benjamini-hochberg-1995-controlling" in keys
    # Nothing is said of what was not done: repeats, audits, contamination, serving, embedding.
    for absent in ("shrout-fleiss", "gwet", "shi-etal", "kwon-etal", "umap", "reimers"):
        assert not [key for key in keys if absent in key]


def test_the_paragraph_of_a_run_states_its_settings(demo_run: Path, hostile_material: Material) -> None:
    text = methods.paragraph(Material.read([demo_run], ReportOptions(resamples=60)))
    assert "surface rated them on Relevance, Coherence, Empathy, Surprise, Engagement and Complexity" in text
    assert "with Eval-Prompts ep1 and ep2, 3 independent answers to each query" in text
    assert "generation: temperature 1, seed 7 (top p and max tokens left to the provider)" in text
    assert "no language model" in text
    assert "[@shrout-fleiss-1979-intraclass; @mcgraw-wong-1996-forming]" in text
    assert "tfidf" in text.casefold()
    assert "reimers" not in text
    other = methods.paragraph(hostile_material)
    assert "generation settings were not said" in other
    assert "3 ratings a story and criterion; who gave which rating is known." in other


def test_the_files_hold_the_cited_works_and_no_others(hostile_run: Path, tmp_path: Path) -> None:
    made = runs.command("report", hostile_run, "-o", tmp_path / "r.html", "--methods", "--quick", "--quiet")
    assert made == 0
    text = (tmp_path / "methods.md").read_text(encoding="utf-8")
    known = entries((tmp_path / "references.bib").read_text(encoding="utf-8"))
    assert list(known) == methods.cited(text)
    marked = (tmp_path / "checklist.md").read_text(encoding="utf-8").splitlines()[2:]
    assert all(re.match(r"- \[[x ]\] \S", line) for line in marked)
    assert (tmp_path / "r.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_checklist_marks_gaps_and_names_what_closes_them(hostile_material: Material) -> None:
    items = {item.question: item for item in checklist.checklist(hostile_material)}
    revision = items["revision of the model"]
    assert (revision.state, revision.closes) == ("gap", "revision: in run.yaml")
    for setting in ("temperature", "seed", "limit of the answer"):
        item = items[f"{setting} stated"]
        assert item.state == "gap"
        assert item.closes.startswith("--set generation.")
    assert items["Human ceiling"].state == "met"
    assert items["Repeats, so that consistency is known"].found == "2 repeats of each query"
    audit = items["Explanations audited by people"]
    assert (audit.state, audit.closes) == ("gap", f"judge audit sample {hostile_material.named_runs}")
    assert items["Contamination"].state == "gap"
    assert items["Enough systems for a claim about systems"].state == "gap"


def test_what_cannot_be_known_is_no_gap_of_the_users(hanna_material: Material) -> None:
    items = {item.question: item for item in checklist.checklist(hanna_material)}
    assert items["Human ceiling"].state == "open"
    assert items["Who gave which of people's ratings"].state == "open"
    assert items["Repeats, so that consistency is known"].state == "open"
    assert items["Control that reads the surface of a text alone"].state == "met"
    assert items["Enough systems for a claim about systems"].state == "met"


def test_an_unfinished_run_is_a_gap(hostile_run: Path, tmp_path: Path) -> None:
    from judge.execution.session import Sitting, sit
    from judge.run_folder import folder_for
    from judge.run_spec import load_run_spec

    for name in ("run.yaml", "stories.jsonl"):
        (tmp_path / name).write_bytes((hostile_run / name).read_bytes())
    spec = load_run_spec(tmp_path / "run.yaml")
    result = folder_for(tmp_path / "run.yaml", spec.name, spec.judge, spec.revision)
    sit(Sitting(spec, tmp_path, result, quiet=True, limit=5))
    items = {item.question: item for item in checklist.checklist(Material.read([tmp_path], ReportOptions()))}
    assert items["The run is complete"].state == "gap"
    assert items["The run is complete"].closes == f"judge run {tmp_path}"
