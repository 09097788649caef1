"""An improvement from a run to a prompt, through a server on loopback."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner

import judge
from judge.asking.run_folder import ResultFolder, folder_cost
from judge.base.errors import JudgeError, RunFolderError, SpecError
from judge.cli.main import app
from judge.inputs.eval_prompts import load_eval_prompt
from judge.lab.improve import printed, sentences
from judge.lab.improve.race import rounds_for
from tests.improve.conftest import CHOICES, REASONED, SYSTEMS, Improved, skill
from tests.improve.simulated import SimulatedJudge, lines, run_of, stories
from tests.server.meter import serving

ROOT = Path(__file__).resolve().parents[2]


def test_a_better_prompt_is_found_and_said_in_two_sentences(improved: Improved) -> None:
    found = improved.found
    assert found.word == "improved"
    assert found.verdict is not None
    assert found.winners == ("explain-first", "explain-first")
    assert found.verdict.more_than_rewording
    assert found.verdict.use == 1
    assert found.verdict.gain.confidence == pytest.approx(0.95)
    said = dict(sentences.sentences(found))
    assert said["verdict"].startswith("IMPROVED. Explain-first improves on ep1: +")
    assert said["wording"].startswith("MORE THAN REWORDING: YES.")
    assert said["halves"] == "Both halves chose explain-first."


def test_criteria_are_named_once_their_mean_is_apart_from_0(improved: Improved) -> None:
    verdict = improved.found.verdict
    assert verdict is not None
    gain = verdict.criteria["Coherence"]
    worse = replace(gain, estimate=replace(gain.estimate, value=-0.1))
    criteria = {"Coherence": gain, "Surprise": worse, "Empathy": gain}
    told = replace(verdict, criteria=criteria, adjusted={"Coherence": 0.01, "Surprise": 0.02, "Empathy": 0.2})
    assert dict(sentences.sentences(replace(improved.found, verdict=told)))["criteria"] == (
        "By criterion, adjusted over 3 (Holm): improved on Coherence; worse on Surprise; cannot tell on Empathy."
    )
    table = next(each for each in printed.tables(replace(improved.found, verdict=told)) if "Gain on test" in each.title)
    assert [row["said"] for row in table.rows[:3]] == ["improved", "worse", "cannot tell"]
    none = dict(sentences.sentences(replace(improved.found, verdict=replace(told, adjusted={}))))["criteria"]
    assert none.startswith("None is named")


def test_the_screen_fits_and_the_json_holds_everything(improved: Improved) -> None:
    shown = printed.screen(improved.found).splitlines()
    assert len(shown) <= printed.HEIGHT
    assert max(map(len, shown)) <= printed.WIDTH
    words = [word for key, value in CHOICES.items() for word in ("--set", f"{key}={value}")]
    done = CliRunner().invoke(app, ["improve", str(improved.folder), *words, "--format", "json"])
    assert done.exit_code == 0, done.output
    titles = [table["title"] for table in json.loads(done.output)]
    assert titles[:2] == ["What it comes to", "Candidates"]
    answer = judge.open_run(improved.folder).improve(**CHOICES)
    assert {"candidate", "criterion", "trait", "system"} <= set(answer.frame.columns)
    assert answer.signature.startswith(
        "stories:112|improve|ep:ep1|judge:openai/mock|swap|story-prompts:28|seed1|rep:1/1"
    )


def test_called_again_it_asks_nothing(improved: Improved) -> None:
    before = improved.server.calls
    again = judge.open_run(improved.folder).improve(**CHOICES).value
    assert improved.server.calls == before
    assert again.verdict == improved.found.verdict


def test_other_choices_need_a_name_of_their_own(improved: Improved) -> None:
    with pytest.raises(RunFolderError, match="begun with other choices"):
        judge.open_run(improved.folder).improve(**CHOICES | {"split_seed": 2})


def test_parts_share_no_story_prompt_and_stages_ask_equal_sets(improved: Improved) -> None:
    home, split = improved.found.folder, improved.found.split
    of_story = {story.id: story.story_prompt for story in improved.stories}
    train = {of_story[story] for group in split.train for story in group}
    for label, chooses, tests in zip(("a-", "b-"), split.chooses, split.tests, strict=True):
        asked: set[str] = set()
        for step in range(rounds_for(4, len(chooses))):
            asked |= {story["story_prompt"] for story in lines(home / f"{label}select-{step + 1}" / "stories.jsonl")}
        tested = {story["story_prompt"] for story in lines(home / f"{label}test" / "stories.jsonl")}
        again = {story["story_prompt"] for story in lines(home / f"{label}test-again" / "stories.jsonl")}
        assert len(asked) == len(chooses)
        assert len(tested) == len(tests)
        assert tested == again
        assert not asked & tested
        assert not (asked | tested) & train


def test_original_and_winner_are_asked_afresh_with_equal_repeats(improved: Improved) -> None:
    home = improved.found.folder
    for label, race in zip(("a-", "b-"), improved.found.races, strict=True):
        table = judge.open_run(home / f"{label}test").ratings()
        mine = table[table["source"] == "judge"]
        counts = mine.groupby("eval_prompt").size()
        assert set(counts.index) == {"original", "explain-first", race.winners[1]}
        assert counts.nunique() == 1
        other = judge.open_run(home / f"{label}test-again").ratings()
        assert (other["source"] == "judge").sum() == counts.iloc[0]


def test_stages_are_runs_that_other_commands_read(improved: Improved) -> None:
    compared = judge.open_run(improved.found.folder / "a-test").compare(by="eval_prompt", resamples=20, permutations=20)
    assert {"original", "explain-first"} <= set(compared.frame["first"]) | set(compared.frame["second"])


def test_the_files_are_a_prompt_and_a_run_that_uses_it(improved: Improved) -> None:
    found = improved.found
    assert found.file is not None
    assert found.definition is not None
    assert REASONED in load_eval_prompt(found.file).source
    ran = judge.run(found.definition)
    assert set(ran.ratings().query("source == 'judge'")["eval_prompt"]) == {"ep1-explain-first"}
    page = (found.folder / "improve.html").read_text(encoding="utf-8")
    assert "IMPROVED" in page
    assert "<ins>" in page


def test_a_copy_without_its_improvement_uses_the_test_part_again(improved: Improved, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(improved.folder, copy)
    shutil.rmtree(copy / "openai-mock" / "improve")
    again = judge.open_run(copy).improve(**CHOICES).value
    assert again.verdict is not None
    assert again.verdict.use == 2
    assert again.verdict.gain.confidence == pytest.approx(1 - 0.1 / 6)
    assert "use 2 of these test story-prompts" in sentences.sentence(again)


def test_the_plan_alone_asks_nothing_and_the_command_prints_it(improved: Improved) -> None:
    before = improved.server.calls
    done = CliRunner().invoke(app, ["improve", str(improved.folder), "--budget", "0", "--set", "called=plan"])
    assert done.exit_code == 0, done.output
    assert "NOTHING WAS ASKED" in done.output
    assert "is found in four tests of" in " ".join(done.output.split())
    assert improved.server.calls == before
    assert not (improved.folder / "openai-mock" / "improve" / "plan").exists()


def test_where_nothing_is_better_the_test_part_may_stay_unused(home: Path, tmp_path: Path) -> None:
    made, qualities = stories(20, 3)
    with serving(
        SimulatedJudge(
            qualities, lambda prompt: 0.9 if prompt.startswith("Story prompt") and REASONED not in prompt else 0.0
        )
    ) as server:
        definition = run_of(tmp_path / "r", server.url, made, repeats=1)
        judge.run(definition)
        found = judge.open_run(definition).improve(writer="none", candidates=2, test_repeats=1).value
    assert found.word in ("not tested", "worse", "cannot tell")
    if found.word == "not tested":
        assert not (found.folder.parent / "test_uses.jsonl").exists()


def test_few_story_prompts_and_several_prompts_are_refused(home: Path, tmp_path: Path) -> None:
    made, qualities = stories(10, 3)
    with serving(SimulatedJudge(qualities, skill)) as server:
        definition = run_of(tmp_path / "few", server.url, made, repeats=1, prompts=("ep1", "ep2"))
        run = judge.run(definition)
        with pytest.raises(SpecError, match="one Eval-Prompt is improved at a time"):
            run.improve()
        with pytest.raises(SpecError, match="20 is the fewest"):
            run.only(eval_prompt="ep1").improve()


def test_a_budget_is_passed_by_one_request_at_most(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "prices.yaml").write_text("openai/mock: {input: 100, output: 100}\n", encoding="utf-8")
    made, qualities = stories(20, 2)
    try:
        with serving(SimulatedJudge(qualities, skill)) as server:
            definition = run_of(tmp_path / "r", server.url, made, repeats=1)
            judge.run(definition)
            run = judge.open_run(definition)
            choices = {"writer": "none", "candidates": 3, "test_repeats": 1}
            assert run.improve(**choices).value.races == ()  # what is paid for needs a budget
            forecast = run.improve(**choices, budget=0).value.before.dollars
            assert forecast is not None
            with pytest.raises(SpecError, match="is too small"):
                run.improve(**choices, budget=forecast / 10)
            # The forecast is a guess: with a budget near it the race ends early, or fits.
            monkeypatch.setattr("judge.lab.improve.improve.Walk._forecast", lambda self, first: (1, forecast))
            budget = forecast / 3
            dearest = (max(map(len, server.prompts)) * 6 + 100) / 4 * 100 / 1e6
            with pytest.raises(JudgeError, match="nothing is lost"):
                run.improve(**choices, budget=budget)
            spent = _spent(tmp_path / "r" / "openai-mock" / "improve")
            assert budget * 0.9 < spent <= budget + dearest
            before = server.calls
            with pytest.raises(JudgeError, match="nothing is lost"):
                run.improve(**choices, budget=budget)
            assert server.calls <= before + 1  # the first request of a sitting is sent to learn what it costs
            assert _spent(tmp_path / "r" / "openai-mock" / "improve") <= budget + dearest
            found = run.improve(**choices, budget=100.0).value
            assert found.races
            assert found.spent == pytest.approx(_spent(found.folder))
    finally:
        (home / "prices.yaml").unlink()


def _spent(folder: Path) -> float:
    return sum(folder_cost(ResultFolder(path.parent)).dollars or 0.0 for path in folder.rglob("journal.sqlite"))


def test_killed_it_goes_on_and_asks_nothing_twice(home: Path, tmp_path: Path) -> None:
    made, qualities = stories(20, SYSTEMS)
    with serving(SimulatedJudge(qualities, skill)) as server:
        definition = run_of(tmp_path / "r", server.url, made, repeats=1)
        judge.run(definition)
        begun = server.calls
        server.delay = 0.05
        words = ["improve", str(definition.parent), "--writer", "none"]
        words += [word for key, value in CHOICES.items() for word in ("--set", f"{key}={value}")]
        process = subprocess.Popen(
            [sys.executable, "-m", "judge", *words], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 60
        while server.calls < begun + 60 and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.02)
        process.kill()
        process.wait()
        killed = server.calls
        assert killed < begun + 400
        server.delay = 0.0
        found = judge.open_run(definition).improve(writer="none", **CHOICES).value
        assert found.races
        answers = sum(
            len(judge.open_run(path.parent).ratings().query("source == 'judge'"))
            for path in found.folder.glob("*/*/journal.sqlite")
            if path.parent.parent.name != "better"
        )
        # Requests in flight when it was killed, and answers of its last tenth of a second, are asked again.
        assert answers <= server.calls - begun <= answers + 8 + 40
