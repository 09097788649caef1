"""Contamination scores of real models: what was trained on is found, numbers are the formula's, engines agree."""

from __future__ import annotations

import asyncio
import csv
import importlib.util
import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge.backends import Settings, open_scorer
from judge.backends.protocol import TokenLogprobs
from judge.base.errors import BackendError
from judge.cli.main import main
from judge.contamination import scores
from judge.contamination.scores_file import read
from judge.ratings.ratings_table import COLUMNS
from tests.conftest import missing
from tests.vllm.seen_model import Trained, make

pytestmark = [pytest.mark.filterwarnings("default"), pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    """The model before and after it has read half of the texts."""
    for package in ("torch", "transformers"):
        if importlib.util.find_spec(package) is None:
            missing("hf", f"{package} is not installed here (pip install 'storyjudge[hf]')")
    os.environ.setdefault("HF_HUB_OFFLINE", "1")
    return make(tmp_path_factory.mktemp("seen"))


def ask(model: Path | str, texts: Sequence[str], provider: str = "hf", **how: Any) -> list[TokenLogprobs]:
    settings = Settings(how.pop("base_url", ()), engine=how.pop("engine", {}))

    async def once() -> list[TokenLogprobs]:
        scorer = open_scorer(f"{provider}/{model}", settings)
        try:
            return await scorer.token_logprobs(texts, **how)
        finally:
            await scorer.close()

    return asyncio.run(once())


def run(*arguments: object) -> int:
    try:
        main([str(a) for a in arguments])
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def uneven(trained: Trained) -> list[str]:
    """Texts of 1 to 40 words."""
    return [" ".join(text.split()[: 1 + 7 * i % 40]) for i, text in enumerate(trained.texts[:40])]


def ratings(folder: Path, texts: Sequence[str]) -> Path:
    """An import of these texts as stories, rated by one judge."""
    folder.mkdir()
    common = {"run": "r", "dataset": "tales", "system": "s", "criterion": "Overall", "status": "ok", "source": "judge"}
    rows = [
        {**common, "story": f"s{i}", "story_prompt": f"p{i}", "judge": "theirs", "eval_prompt": "ep1", "repeat": 0,
         "rating": 1 + i % 5}
        for i in range(len(texts))
    ]  # fmt: skip
    stories = [
        {"dataset": "tales", "story": f"s{i}", "words": len(text.split()), "text": text} for i, text in enumerate(texts)
    ]
    for name, columns, lines in (
        ("imported.csv", list(COLUMNS), rows),
        ("imported_stories.csv", list(stories[0]), stories),
    ):
        with (folder / name).open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(stream, fieldnames=columns)
            writer.writeheader()
            writer.writerows(lines)
    return folder


def test_a_check_tells_seen_stories_by_a_labelled_set_and_never_others(trained: Trained, tmp_path: Path) -> None:
    """Half of the texts are the labelled set, the others stories: read by the model, not read, and half of each."""
    half = len(trained.texts) // 2
    known = Trained(trained.before, trained.after, trained.texts[:half], trained.labels[:half]).write(tmp_path / "set")
    rest = list(zip(trained.texts[half:], trained.labels[half:], strict=True))
    stories = {
        "seen": [text for text, label in rest if label],
        "unseen": [text for text, label in rest if not label],
        "both": [text for text, _ in rest],
    }
    found = {}
    for name, texts in stories.items():
        folder = ratings(tmp_path / name, texts)
        for model, weights in (("before", trained.before), ("after", trained.after)):
            told = tmp_path / f"{name}-{model}.json"
            arguments = ["check", folder, "--model", f"hf/{weights}", "--labelled", known, "--quiet"]
            assert run("contamination", *arguments, "--format", "json", "-o", told) == 0
            found[name, model] = json.loads(told.read_text())["rows"][-1]
    verdicts = {key: row["verdict"] for key, row in found.items()}
    # Before training its scores tell the labelled texts not apart: no share can be given of any stories.
    assert verdicts == {
        ("seen", "before"): "cannot be told",
        ("seen", "after"): "some seen",
        ("unseen", "before"): "cannot be told",
        ("unseen", "after"): "not shown",
        ("both", "before"): "cannot be told",
        ("both", "after"): "some seen",
    }
    for name, share in (("seen", 1.0), ("both", 0.5), ("unseen", 0.0)):
        row = found[name, "after"]
        assert row["corrected_low"] - 1e-9 <= share <= row["corrected_high"] + 1e-9, (name, row)


def test_what_was_trained_on_is_found_and_nothing_before(
    trained: Trained, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = trained.write(tmp_path / "set.jsonl")
    areas = {}
    for name, folder in (("before", trained.before), ("after", trained.after)):
        told = tmp_path / f"{name}.json"
        made = tmp_path / f"{name}.scores.jsonl"
        arguments = ["auc", file, "--model", f"hf/{folder}", "--scores-to", made, "--resamples", 100]
        assert (
            run(
                "contamination",
                *arguments,
                "--set",
                "full_distribution=true",
                "--format",
                "json",
                "-o",
                told,
                "--quiet",
            )
            == 0
        )
        rows = json.loads(told.read_text())["rows"]
        areas[name] = {row["score"]: row["auc"] for row in rows}
        assert all(row["seen"] == row["unseen"] == 100 for row in rows)
        assert {row["auc_n"] for row in rows} == {200}
    assert 0.40 <= areas["before"]["min_k_20"] <= 0.60
    assert areas["after"]["min_k_20"] >= 0.9
    assert areas["after"]["min_k_pp_20"] >= 0.9
    assert areas["after"]["loss"] >= 0.9
    capsys.readouterr()
    # The labelled set's threshold, on texts as if they were stories; the same scores of the other model are refused.
    calibration = ["--calibration", tmp_path / "after.scores.jsonl", "--set", "threshold=fpr=0.05", "--quiet"]
    out = tmp_path / "again.scores.jsonl"
    assert run("contamination", "score", file, "--model", f"hf/{trained.after}", *calibration, "-o", out) == 0
    threshold = read(out).header["thresholds"]["min_k_20"]
    assert threshold["rule"] == "fpr=0.05"
    assert threshold["false_positive"] <= 0.05
    assert threshold["auc"] == areas["after"]["min_k_20"]
    capsys.readouterr()
    assert run("contamination", "score", file, "--model", f"hf/{trained.before}", *calibration, "-o", out) == 1
    assert "does not carry over to another model" in capsys.readouterr().err


def test_log_probabilities_are_float64s_and_so_are_the_scores(trained: Trained) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model = AutoModelForCausalLM.from_pretrained(str(trained.after)).double().eval()
    tokenizer = AutoTokenizer.from_pretrained(str(trained.after))
    found = ask(trained.after, trained.texts[:20], full_distribution=True)
    for text, one in zip(trained.texts[:20], found, strict=True):
        ids = torch.tensor([tokenizer(text)["input_ids"]])
        with torch.inference_mode():
            table = torch.log_softmax(model(ids).logits[0, :-1], dim=-1)
        exact = table.gather(-1, ids[0, 1:, None])[:, 0].numpy()
        ours = np.array(one.logprobs)
        assert np.isnan(ours[0])
        assert np.abs(ours[1:] - exact).max() < 1e-4
        # The reference formula in float64 on the same log-probabilities: k_length = int(len * ratio), their mean.
        for ratio in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
            lowest = np.sort(ours[1:])[: int(len(ours[1:]) * ratio)]
            assert abs(scores.min_k(ours, 100 * ratio).value - float(np.mean(lowest))) < 1e-5
        mu = (table.exp() * table).sum(-1)
        sigma = (table.exp() * table.square()).sum(-1) - mu.square()
        z = (exact - mu.numpy()) / np.sqrt(sigma.numpy())
        expected = float(np.mean(np.sort(z)[: int(len(z) * 0.2)]))
        told = scores.min_k_plus_plus(ours, np.array(one.mean), np.array(one.variance), 20)
        assert told.value == pytest.approx(expected, rel=2e-3)


def test_a_batch_changes_nothing(trained: Trained) -> None:
    texts = uneven(trained)
    together = ask(trained.after, texts, full_distribution=True)
    small = ask(trained.after, texts, full_distribution=True, engine={"batch_tokens": 100})
    for i, text in enumerate(texts):
        (alone,) = ask(trained.after, [text], full_distribution=True) if i < 6 else (small[i],)
        assert alone.ids == together[i].ids
        for name in ("logprobs", "mean", "variance"):
            np.testing.assert_allclose(getattr(alone, name), getattr(together[i], name), atol=1e-4)
    assert [len(one.ids) for one in together] == [len(text.split()) for text in texts]


def test_a_prefix_is_read_and_left_out(trained: Trained) -> None:
    text, before = trained.texts[0], trained.texts[1]
    (whole,) = ask(trained.after, [f"{before} {text}"])
    (after,) = ask(trained.after, [text], prefix=before)
    length = len(text.split())
    assert after.ids == whole.ids[-length:]
    np.testing.assert_allclose(after.logprobs, whole.logprobs[-length:], atol=1e-4)


def test_each_text_may_have_a_prefix_of_its_own(trained: Trained) -> None:
    texts, prefixes = uneven(trained)[:8], [text[: 20 * (i % 3 + 1)] for i, text in enumerate(trained.texts[20:28])]
    together = ask(trained.after, texts, prefix=prefixes)
    for text, prefix, one in zip(texts, prefixes, together, strict=True):
        (alone,) = ask(trained.after, [text], prefix=prefix)
        assert one.ids == alone.ids
        np.testing.assert_allclose(one.logprobs, alone.logprobs, atol=1e-4)
        assert not np.isnan(one.logprobs).any()
    with pytest.raises(ValueError, match="2 prefixes for 1 texts"):
        ask(trained.after, texts[:1], prefix=prefixes[:2])


def test_what_is_longer_than_the_context_is_cut_and_said(trained: Trained, tmp_path: Path) -> None:
    long = " ".join(trained.texts[:10])
    (cut,) = ask(trained.after, [long])
    assert cut.truncated
    assert len(cut.ids) == 256
    (start,) = ask(trained.after, [" ".join(long.split()[:256])])
    np.testing.assert_allclose(cut.logprobs, start.logprobs, atol=1e-4)
    stories = tmp_path / "stories.jsonl"
    rows = [{"id": i, "story_prompt": "", "system": "s", "text": text} for i, text in (("a", long), ("b", "bab dod"))]
    stories.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "scores.jsonl"
    assert run("contamination", "score", stories, "--model", f"hf/{trained.after}", "-o", out, "--quiet") == 0
    made = read(out)
    assert made.header["truncated"] == 1
    assert made.rows[1].scores["min_k_20"] is None
    assert "too short" in made.rows[1].undefined["min_k_20"]
    with pytest.raises(BackendError, match="leaves no room"):
        ask(trained.after, ["bab dod"], prefix=long)


def test_bad_models_get_a_sentence(trained: Trained, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    for model, sentence in (
        (tmp_path / "nowhere", "is not a folder of weights"),
        (empty, "holds no config.json"),
        ("no-such-organisation/no-such-model", "no such model"),
    ):
        with pytest.raises(BackendError, match=re.escape(sentence)) as told:
            ask(model, ["a"])
        assert told.value.hint
    (empty / "config.json").write_text('{"model_type": "gpt2"}')
    with pytest.raises(BackendError, match="holds no weights"):
        ask(empty, ["a"])
    (empty / "model.safetensors").write_bytes(b"half a file")
    with pytest.raises(BackendError, match="does not load"):
        ask(empty, ["a"])


@pytest.fixture(scope="module")
def server(trained: Trained, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A vLLM server of the trained model that gives whole distributions; its address under /v1."""
    if importlib.util.find_spec("vllm") is None:
        missing("vllm", "vllm is not installed here")
    log = tmp_path_factory.mktemp("server") / "server.log"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server", "--model", str(trained.after)]
    command += ["--served-model-name", "seen", "--host", "127.0.0.1", "--port", str(port), "--dtype", "float32"]
    command += ["--enforce-eager", "--max-logprobs", "-1", "--max-num-seqs", "16"]
    environment = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
    with log.open("wb") as stream:
        process = subprocess.Popen(command, stdout=stream, stderr=stream, env=environment)
    try:
        end = time.monotonic() + 420
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2):
                    break
            except OSError:
                assert process.poll() is None, log.read_text(errors="replace")[-3000:]
                assert time.monotonic() < end, "the server did not start in time"
                time.sleep(0.5)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def test_a_vllm_server_gives_the_same_numbers(trained: Trained, server: str) -> None:
    texts = uneven(trained)[:12]
    here = ask(trained.after, texts, full_distribution=True)
    there = ask("seen", texts, "openai", base_url=(server,), full_distribution=True)
    for one, other in zip(here, there, strict=True):
        assert one.ids == other.ids
        for name in ("logprobs", "mean", "variance"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), atol=2e-3)
    before = trained.texts[1]
    (ours,) = ask(trained.after, texts[5:6], prefix=before)
    (theirs,) = ask("seen", texts[5:6], "openai", base_url=(server,), prefix=before)
    assert ours.ids == theirs.ids
    np.testing.assert_allclose(ours.logprobs, theirs.logprobs, atol=2e-3)
    prefixes = trained.texts[2:5]
    several = ask("seen", texts[5:8], "openai", base_url=(server,), prefix=prefixes)
    for one, other in zip(ask(trained.after, texts[5:8], prefix=prefixes), several, strict=True):
        assert one.ids == other.ids
        np.testing.assert_allclose(one.logprobs, other.logprobs, atol=2e-3)
    (cut,) = ask("seen", [" ".join(trained.texts[:10])], "openai", base_url=(server,))
    assert cut.truncated
    assert len(cut.ids) == 255  # the protocol needs room for one token of an answer


def test_the_echo_route_gives_the_same_numbers(trained: Trained, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from judge.backends.openai.scorer import OpenAIScorer

    async def no_route(self: OpenAIScorer) -> None:
        self._tokenizes = False

    monkeypatch.setattr(OpenAIScorer, "_find_route", no_route)
    here = ask(trained.after, trained.texts[:4])
    there = ask("seen", trained.texts[:4], "openai", base_url=(server,))
    for one, other in zip(here, there, strict=True):
        np.testing.assert_allclose(one.logprobs, other.logprobs, atol=2e-3)
    with pytest.raises(BackendError, match="full distribution"):
        ask("seen", trained.texts[:1], "openai", base_url=(server,), full_distribution=True)


def test_the_engine_in_process_gives_the_same_numbers(trained: Trained) -> None:
    if importlib.util.find_spec("vllm") is None:
        missing("vllm", "vllm is not installed here")
    texts = uneven(trained)[:6]
    program = (
        "import asyncio, json, sys\n"
        "from judge.backends import Settings, open_scorer\n"
        "async def main():\n"
        "    settings = Settings(engine={'dtype': 'float32', 'enforce_eager': True, 'max_num_seqs': 8})\n"
        "    scorer = open_scorer('vllm/' + sys.argv[1], settings)\n"
        "    texts, prefix = json.loads(sys.argv[2]), sys.argv[3]\n"
        "    whole = await scorer.token_logprobs(texts, full_distribution=True)\n"
        "    after = await scorer.token_logprobs(texts[4:6], prefix=['', prefix])\n"
        "    await scorer.close()\n"
        "    print(json.dumps([[o.ids, o.logprobs, o.mean, o.variance] for o in whole]))\n"
        "    print(json.dumps([after[1].ids, after[1].logprobs]))\n"
        "if __name__ == '__main__':\n"
        "    asyncio.run(main())\n"
    )
    root = Path(__file__).parents[2]
    environment = {**os.environ, "VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "HF_HUB_OFFLINE": "1"}
    arguments = [str(trained.after), json.dumps(texts), trained.texts[1]]
    script = trained.after.parent / "score.py"
    script.write_text(program)
    ended = subprocess.run(
        [sys.executable, str(script), *arguments],
        env={**environment, "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    whole, after = (json.loads(line) for line in ended.stdout.strip().splitlines()[-2:])
    for one, (ids, *rows) in zip(ask(trained.after, texts, full_distribution=True), whole, strict=True):
        assert list(one.ids) == ids
        for ours, theirs in zip((one.logprobs, one.mean, one.variance), rows, strict=True):
            np.testing.assert_allclose(np.array(ours, dtype=float), np.array(theirs, dtype=float), atol=2e-3)
    (ours,) = ask(trained.after, texts[5:6], prefix=trained.texts[1])
    assert list(ours.ids) == after[0]
    np.testing.assert_allclose(ours.logprobs, np.array(after[1], dtype=float), atol=2e-3)
