"""Files that others made, mutated field by field: a command works or ends in a sentence, and never in a traceback."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

import pytest

from judge.asking.plan import make_plan
from judge.asking.run_definition.spec import parse_run_spec
from judge.asking.run_folder import ResultFolder
from judge.base.errors import DataError, JudgeError, TemplateError
from judge.base.foreign import reading
from judge.base.printing.text_layout import moment
from judge.exchange.bundle.content import difference
from judge.exchange.logs.as_import import read_logs
from judge.exchange.logs.fields import LogOptions
from judge.exchange.logs.tools import PREFERENCE_TOOLS, TOOLS, read_preferences
from judge.explanations.audit.store import AuditStore
from judge.inputs.criteria import read_questions, read_wording
from judge.inputs.eval_prompts.template import parse_eval_prompt
from judge.questions.certificate.file import FORMAT, UncertifiedError, check, read
from tests.audit.conftest import subject
from tests.hardening.conftest import Call, Make, held
from tests.hardening.mutations import json_text, mutated

LOGS = Path(__file__).parents[1] / "exchange" / "logs" / "files"
WRITTEN = {
    "deepeval": "deepeval-4.3.1.json",
    "mlflow": "mlflow-3.17.2.jsonl",
    "phoenix": "phoenix-20.26.1.json",
    "langfuse": "langfuse-5.0.4.json",
    "promptfoo": "promptfoo-0.123.1.json",
    "inspect": "inspect-0.3.285.json",
    "lm-eval": "lm_eval-0.4.13",
    "alpaca-eval": "alpaca_eval-0.6.6.json",
    "mt-bench": "mt_bench-0.2.36.jsonl",
}
DEEP = "[" * 100_000 + "]" * 100_000
HUGE = "9" * 5000


def survives(what: str, act: Callable[[], object]) -> str | None:
    """The sentence with which an act refuses a file, None where it works. Anything else is said with the mutation."""
    try:
        act()
    except JudgeError as error:
        return str(error)
    except Exception as error:
        raise AssertionError(f"{what}: {type(error).__name__}: {error}") from error
    return None


@pytest.mark.parametrize("tool", WRITTEN)
def test_a_log_with_a_wrong_field(tool: str, tmp_path: Path) -> None:
    source = LOGS / WRITTEN[tool]
    if source.is_dir():
        source = next(source.rglob("samples*.jsonl"))
    lines = source.suffix == ".jsonl"
    text = source.read_text(encoding="utf-8")
    value = [json.loads(line) for line in text.splitlines() if line.strip()] if lines else json.loads(text)
    file = tmp_path / source.name

    def act() -> None:
        if tool in TOOLS:
            read_logs(TOOLS[tool], [file], "x", LogOptions())
        else:
            read_preferences(PREFERENCE_TOOLS[tool], [file], "x", "Overall")

    said = []
    for what, changed in mutated(value, most=80):
        by_line = lines and isinstance(changed, list)
        file.write_text("\n".join(map(json_text, changed)) if by_line else json_text(changed), encoding="utf-8")
        said.append(survives(what, act))
    assert all(sentence is None or sentence.startswith(str(tmp_path)) for sentence in said)
    assert any(sentence is not None for sentence in said)


@pytest.mark.parametrize("kind", ["definition", "manifest"])
def test_a_result_folder_with_a_wrong_field(kind: str, make: Make, call: Call, tmp_path: Path) -> None:
    assert call("run", make())[0] == 0
    whole = next((tmp_path / "theirs").rglob("journal.sqlite")).parent
    if kind == "definition":
        with closing(sqlite3.connect(whole / "journal.sqlite")) as db:
            value = json.loads(db.execute("SELECT value FROM meta WHERE key = 'definition'").fetchone()[0])
    else:
        value = json.loads((whole / "manifest.json").read_text())
    refused = 0
    for what, changed in mutated(value, most=32, seed=1):
        result = tmp_path / "changed"
        shutil.rmtree(result, ignore_errors=True)
        shutil.copytree(whole, result)
        if kind == "definition":
            (result / "journal.sqlite.sum").unlink()
            with closing(sqlite3.connect(result / "journal.sqlite")) as db:
                db.execute("UPDATE meta SET value = ? WHERE key = 'definition'", (json_text(changed),))
                db.commit()
        else:
            (result / "manifest.json").write_text(json_text(changed))
        for command in ("status", "ratings", "status --verify"):
            try:
                code, _, error = call(*command.split(), result)
            except BaseException as problem:
                raise AssertionError(f"{command}, {what}: {type(problem).__name__}: {problem}") from problem
            assert code in (0, 1, 4), (command, what, error)
            assert code == 0 or error.strip() or "--verify" in command
            refused += code != 0
    assert refused


def test_a_definition_without_a_field_names_it(make: Make, call: Call, tmp_path: Path) -> None:
    assert call("run", make())[0] == 0
    result = next((tmp_path / "theirs").rglob("journal.sqlite")).parent
    (result / "journal.sqlite.sum").unlink()
    with closing(sqlite3.connect(result / "journal.sqlite")) as db:
        value = json.loads(db.execute("SELECT value FROM meta WHERE key = 'definition'").fetchone()[0])
        del value["dataset_hash"]
        db.execute("UPDATE meta SET value = ? WHERE key = 'definition'", (json.dumps(value),))
        db.commit()
    held(call("ratings", result), "its definition has no 'dataset_hash'")


def test_a_certificate_with_a_wrong_field(make: Make, tmp_path: Path) -> None:
    data = {"name": "t", "dataset": "stories.jsonl", "judge": "surface", "criteria": "overall", "eval_prompts": ["ep1"]}
    plan = make_plan(parse_run_spec(data, "test"), folder=make())
    certificate = {
        "format": FORMAT,
        "holds": True,
        "judge": {"name": "surface", "judge_key": "k"},
        "settings": {"structured": "none"},
        "eval_prompts": {"ep1": "hash"},
        "criteria": {"Overall": "hash"},
        "repeats": 1,
        "conditions": [{"condition": "tau", "holds": True}],
        "rows": [],
        "dates": [],
        "model_life": {"on": "2030-01-01"},
    }
    file = tmp_path / "certificate.json"

    def act() -> None:
        try:
            check(read(file), plan, file, datetime.now(UTC).date())
        except UncertifiedError:
            return

    said = []
    for what, changed in mutated(certificate):
        file.write_text(json_text(changed))
        said.append(survives(what, act))
    assert any(sentence is not None for sentence in said)


def test_an_audit_with_a_wrong_value(tmp_path: Path) -> None:
    AuditStore.create(tmp_path / "whole.sqlite", [subject(i) for i in range(2)]).close()
    file = tmp_path / "audit.sqlite"
    cells = [
        ("meta", "value", "key = 'seed'"),
        ("meta", "value", "key = 'blind'"),
        ("meta", "value", "key = 'notes'"),
        ("meta", "value", "key = 'id'"),
        ("items", "criterion", "id = 1"),
        ("items", "facts", "id = 1"),
        ("practice", "item", "id = 1"),
    ]

    def act() -> None:
        with AuditStore.open(file) as store:
            store.items()
            store.item(1)
            assert isinstance(store.notes, list)
            store.answer("Ada", 1, {store.categories[0].key: 1})

    said = []
    for table, column, row in cells:
        with closing(sqlite3.connect(tmp_path / "whole.sqlite")) as db:
            text = db.execute(f"SELECT {column} FROM {table} WHERE {row}").fetchone()[0]
        for what, changed in mutated(json.loads(text), most=24):
            shutil.copyfile(tmp_path / "whole.sqlite", file)
            with closing(sqlite3.connect(file)) as db:
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {row}", (json_text(changed),))
                db.commit()
            said.append(survives(f"{table}.{column} {what}", act))
    assert any(sentence is not None for sentence in said)


def test_wording_that_no_reader_can_read(tmp_path: Path) -> None:
    wording = {
        "definitions": {"Overall": "x"},
        "guidelines": {"Overall": ["a"]},
        "tasks_EP1_to_EP4": {"Overall": ["a", "b"]},
        "template_EP1_EP2": "{story} {task}",
    }
    for what, changed in mutated(wording):
        survives(what, lambda changed=changed: read_wording(tmp_path / "w.json", json_text(changed)))  # type: ignore[misc]
    for text in (DEEP, HUGE, f'[{{"category": {DEEP}}}]'):
        assert survives("questions", lambda text=text: read_questions(tmp_path / "q.json", text))  # type: ignore[misc]


def test_data_that_no_reader_can_read(make: Make, call: Call, tmp_path: Path) -> None:
    line = json.loads((make() / "stories.jsonl").read_text().splitlines()[0])
    for what, changed in mutated(line, most=48):
        for name, text in (("one.jsonl", json_text(changed)), ("one.json", json_text([changed]))):
            (tmp_path / name).write_text(text + "\n")
            try:
                code, _, error = call("data", "check", tmp_path / name)
            except BaseException as problem:
                raise AssertionError(f"{name}, {what}: {type(problem).__name__}: {problem}") from problem
            assert code in (0, 1), (what, error)


@pytest.mark.parametrize("cell", ["[1,2," * 5000, "[" * 5000, "(" * 100_000, "{" * 300, HUGE, f"[{HUGE}]", "1e999"])
def test_a_cell_that_no_parser_can_read(cell: str, tmp_path: Path, call: Call) -> None:
    (tmp_path / "cell.csv").write_text(f'id,text,Overall\na,"It rained.","{cell}"\n')
    asked = ("--columns", "story=id", "--columns", "ratings.Overall=Overall")
    assert held(call("data", "check", tmp_path / "cell.csv", *asked))


@pytest.mark.parametrize(
    "source", [f"{{{{ {HUGE} }}}} {{{{ story }}}}", f"{{% if {HUGE} %}}{{% endif %}}{{{{ story }}}}"]
)
def test_a_number_of_5000_digits_in_a_template(source: str) -> None:
    with pytest.raises(TemplateError, match="too many digits"):
        parse_eval_prompt(source, Path("p.jinja"))


def test_a_table_of_a_bundle_that_is_not_utf8(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"story,rating\n\xff,1\n")
    (tmp_path / "b.csv").write_bytes(b"story,rating\na,1\n")
    with pytest.raises(DataError, match="not UTF-8"), reading("a.csv", "a table"):
        difference(tmp_path / "a.csv", tmp_path / "b.csv")


def test_a_moment_beyond_the_calendar_is_not_known(make: Make, call: Call, tmp_path: Path) -> None:
    """999,999,999,999 seconds after 1970 are in the year 33658."""
    assert [moment(seconds) for seconds in (999_999_999_999, -1e300, float("nan"), "1", True, None)] == [None] * 6
    assert moment(0) == datetime(1970, 1, 1, tzinfo=UTC)
    assert call("run", make())[0] == 0
    result = ResultFolder(next((tmp_path / "theirs").rglob("journal.sqlite")).parent)
    with closing(sqlite3.connect(result.journal)) as db:
        db.execute("UPDATE sessions SET first_request = 999999999999, last_commit = 999999999999")
        db.commit()
    (result.path / "journal.sqlite.sum").unlink()
    manifest = json.loads(result.manifest.read_text())
    manifest["sittings"][0]["began"] = 999_999_999_999
    result.manifest.write_text(json.dumps(manifest))
    for command, *options in (("status",), ("report", "-o", tmp_path / "r.html"), ("certify", "--floor", "tau=0.1")):
        code, _, error = call(command, result.path, *options)
        assert code in (0, 1, 4), error
        assert "Traceback" not in error
