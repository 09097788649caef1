"""The walk of an improvement: plan, candidates, race, test, verdict, files. Every step is kept and found again.

Called again with the same choices it goes on where it stopped, and asks only what is missing.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
import orjson

from judge.base.arrays import Floats
from judge.base.credentials.providers import MODELLESS, JudgeName
from judge.base.errors import RunFolderError, SpecError
from judge.base.files import write_output
from judge.base.fingerprint import fingerprint
from judge.base.printing.text_layout import dollars
from judge.base.records import Scale
from judge.base.wording import Advice
from judge.lab.improve import answers as arrays
from judge.lab.improve import candidates, opened, uses
from judge.lab.improve.asking import Asker, Stage
from judge.lab.improve.candidates import TASKS
from judge.lab.improve.delivery import deliver
from judge.lab.improve.material import AGAIN, BASE, MORE, ORIGINAL, Lost, Material, Proposal
from judge.lab.improve.opened import Costs, Opened
from judge.lab.improve.options import ImproveOptions
from judge.lab.improve.page import PAGE, write_page
from judge.lab.improve.race import Race, asked, race, rounds_for, steps
from judge.lab.improve.result import Before, Improvement
from judge.lab.improve.split import Split, split
from judge.lab.improve.verdict import MOST_MISSING, Tested, verdict
from judge.lab.improve.wording import LostError
from judge.lab.improve.written import PARAPHRASES, SUB_SCORES
from judge.ratings.ratings_table import RatingsTable
from judge.stats.estimation import prompt_gain
from judge.stats.regression.ridge import shrunk_weights

FOLDER, PLAN, FOUND = "improve", "plan.json", "candidates.json"
# Below so many story-prompts the race has fewer candidates, and the test more repeats.
_SMALL, _FEW, _MANY, _MORE_REPEATS = 40, 5, 10, 5
# What a candidate by the writer adds to a request, as a factor, before it is written.
_WRITTEN = 1.4
# Candidates, at least, among which those of sub-scores are.
_WITH_SUB_SCORES = 7


@dataclass(frozen=True, slots=True)
class _Plan:
    # What was decided before asking: equal for every call of one improvement.
    id: str
    split: Split
    candidates: int
    repeats: int
    race_repeats: int
    writer: str | None
    source: str
    comments: bool


class Walk:
    """One improvement of an opened run."""

    def __init__(self, run: Opened, whole: RatingsTable, options: ImproveOptions, *, quiet: bool) -> None:
        self.run, self.options, self.quiet = run, options, quiet
        self.proposals: list[Proposal] = []
        self.weights: dict[str, Floats] = {}
        self.home = run.folder.path / FOLDER / (options.called or run.prompt.name)
        self.ledgers = uses.ledgers(run.folder.path / FOLDER)
        writer = options.writer or run.spec.judge
        modelless = JudgeName.of(writer).provider in MODELLESS if writer != "none" else True
        self.writer = None if modelless else writer
        self.split = split(
            run.stories, seed=options.split_seed, design=None if options.design == "auto" else options.design
        )
        told = [group for part in (*self.split.chooses, *self.split.tests) for group in part]
        self.longest = max(run.stories_of(told), key=lambda story: len(story.text))
        first, _ = candidates.proposals(self._material({}), 99, self.longest)
        self.costs = self._costs(first)
        small = len(self.split.keys) < _SMALL
        most = options.candidates or (_FEW if small else _MANY)
        repeats = options.test_repeats or max(run.spec.repeats, _MORE_REPEATS if small else 1)
        self.plan = _Plan(
            "", self.split, most, repeats, repeats, self.writer, fingerprint(run.prompt.source), options.comments
        )
        self.before = self._before(whole, first)
        self.groups = run.groups(self.split)

    # Before asking.

    def _material(self, told: dict[str, str | LostError]) -> Material:
        run = self.run
        train = run.stories_of(self.split.train)
        keys = {story: self.split.keys[group[0]] for group in self.split.train for story in group}
        rated = opened.rated_of(run, train, comments=self.options.comments)
        bare = run.spec.structured == "choice" or run.spec.scoring == "logprobs"
        return Material(run.prompt, run.criteria, rated, keys, self.options.split_seed, told, bare)

    def _costs(self, first: Sequence[Proposal]) -> Costs:
        lengths = [len(each.source) for each in first]
        return opened.costs_of(self.run, max(lengths, default=0) + len(self.longest.text) + 4000)

    def _before(self, whole: RatingsTable, first: Sequence[Proposal]) -> Before:
        run, own = self.run, self.split
        people, reason, low = opened.one_more_person(run)
        if low and len(low) == len(run.criteria):
            raise SpecError(
                "one more person does not agree with the mean of the others on "
                f"{', '.join(low)}: nothing can be learnt",
                hint="judge correlate shows what one person reaches; have the stories rated by people who agree",
            )
        spread, measured = opened.spread_of(run, whole)
        factor = prompt_gain.SWAPPED if own.design == "swap" else 1.0
        smallest = prompt_gain.smallest_gain(spread, own.story_prompts, factor)
        requests, cost = self._forecast(first)
        return Before(people, reason, low, spread, measured, smallest, requests, cost)

    def _forecast(self, first: Sequence[Proposal]) -> tuple[int, float | None]:
        """Requests and dollars of everything; the plan's repeats of the race, and its candidates, are cut to the
        budget: repeats before candidates, as an answer more for fewer story-prompts tells less."""
        budget = self.options.budget
        while True:
            requests, cost = self._of_plan(first)
            if budget is None or budget == 0 or cost is None or cost <= budget:
                return requests, cost
            if self.plan.race_repeats > 1:
                self.plan = replace(self.plan, race_repeats=self.plan.race_repeats - 1)
            elif self.plan.candidates > 3:
                self.plan = replace(self.plan, candidates=self.plan.candidates - 1)
            else:
                raise SpecError(
                    f"a budget of {dollars(budget)} is too small: about {dollars(cost)} are needed for 3 candidates",
                    hint=Advice("{budget}, or fewer repeats", budget=f"{cost * 1.1:.2f}"),
                )

    def _of_plan(self, first: Sequence[Proposal]) -> tuple[int, float | None]:
        run, own, plan = self.run, self.split, self.plan
        per_story = len(run.criteria)
        characters = self.costs.characters
        new = [each for each in first if not each.paraphrase and each.name != MORE]
        longer = [characters + len(each.source) - len(run.prompt.source) for each in new]
        usual = float(np.mean([*longer, *([characters * _WRITTEN] * (3 if self.writer else 0))] or [characters]))
        parts = SUB_SCORES if self.writer and plan.candidates >= _WITH_SUB_SCORES else 0
        # Sub-scores are asked about the train part too, once; in the race two candidates share them.
        requests = len(run.stories_of(own.train)) * per_story * parts
        weighed = requests * usual
        pools = (plan.candidates + max(0, parts - 2), PARAPHRASES)
        for chooses, tests in zip(own.chooses, own.tests, strict=True):
            mean = len(run.stories_of(chooses)) / len(chooses)
            race_asked = asked(pools, len(chooses), rounds_for(plan.candidates, len(chooses)))
            # The original is asked twice, in the race too.
            race_requests = (race_asked + len(chooses)) * mean * per_story * plan.race_repeats
            test_requests = len(run.stories_of(tests)) * per_story * plan.repeats * 4
            requests += round(race_requests + test_requests)
            weighed += race_requests * usual + test_requests * (0.75 * characters + 0.25 * usual)
        tasks = sum(len(task(self._material({}))) for task in TASKS.values()) if self.writer else 0
        each = self.costs.of(weighed / requests)
        return requests + tasks, None if each is None else each * (requests + 20 * tasks)

    # Keeping what was decided.

    def _begin(self) -> None:
        """The stored plan, or this one stored. Raises RunFolderError for one with other choices."""
        file = self.home / PLAN
        if file.is_file():
            stored = orjson.loads(file.read_bytes())
            kept = _Plan(**{**stored, "split": Split.of(stored["split"])})
            mine = replace(self.plan, id=kept.id, race_repeats=kept.race_repeats)
            if self.options.candidates is None or kept.candidates < mine.candidates:
                mine = replace(mine, candidates=kept.candidates)
            if mine != kept:
                changed = [key for key in asdict(mine) if getattr(mine, key) != getattr(kept, key)]
                raise RunFolderError(
                    f"{self.home} was begun with other choices ({', '.join(changed)} changed)",
                    hint=Advice("give the new one a name of its own: {called}", called="second"),
                )
            self.plan = kept
            return
        self.plan = replace(self.plan, id=uuid.uuid4().hex)
        record = asdict(self.plan) | {"split": self.plan.split.record()}
        self.home.mkdir(parents=True, exist_ok=True)
        write_output(file, orjson.dumps(record, option=orjson.OPT_INDENT_2))

    def _asker(self) -> Asker:
        return Asker(self.run.spec, self.run.base, self.home, self.options.budget, self.costs.dearest, self.quiet)

    # Candidates.

    def _candidates(self, asker: Asker) -> tuple[list[Proposal], list[Lost]]:
        file = self.home / FOUND
        if not file.is_file():
            made, lost = candidates.proposals(self._material(self._told(asker)), self.plan.candidates, self.longest)
            record = {"proposals": [asdict(each) for each in made], "lost": [asdict(each) for each in lost]}
            write_output(file, orjson.dumps(record, option=orjson.OPT_INDENT_2))
        stored = orjson.loads(file.read_bytes())
        lost = [Lost(**each) for each in stored["lost"]]
        if self.plan.writer is None:  # nothing was lost that nobody was asked for
            lost = [each for each in lost if each.loss != "no answer"]
        return [
            Proposal(**each | {"scale": None if each["scale"] is None else tuple(each["scale"])})
            for each in stored["proposals"]
        ], lost

    def _told(self, asker: Asker) -> dict[str, str | LostError]:
        """The writer's text by task; a refusal or lost answer is a LostError."""
        if self.plan.writer is None:
            return {}
        material = self._material({})
        tasks = {name: text for task in TASKS.values() for name, text in task(material).items()}
        told: dict[str, str | LostError] = {}
        for name, each in zip(tasks, asker.written(tasks, self.plan.writer), strict=True):
            if each.status in ("ok", "cut"):
                told[name] = each.raw or each.text
            elif each.status in ("refused", "filtered"):
                told[name] = LostError("refused", "the writer declined")
            elif each.status == "empty":
                told[name] = LostError("empty", "an answer without a word")
            else:
                told[name] = LostError("no answer", each.why or "the writer gave no answer")
        return told

    # Race and test.

    def _asked(
        self, asker: Asker, name: str, part: Sequence[Sequence[str]], among: Sequence[Proposal], how: tuple[int, int]
    ) -> tuple[arrays.Answers, dict[str, Stage]]:
        """Answers about a part by the original, asked twice, and these candidates, with equal repeats, and each
        Eval-Prompt's stage. `how` are repeats and what is added to the run's seed, where it has one: different, or
        nothing would be asked afresh."""
        run, (repeats, seed) = self.run, how
        stories, base = run.stories_of(part), {ORIGINAL: run.prompt.source}
        plain = {ask: text for each in among if each.scale is None for ask, text in each.asks.items()}
        main = asker.stage(name, stories, base | plain, run.criteria, repeats, seed)
        again = asker.stage(f"{name}-again", stories, base, run.criteria, repeats, seed + repeats)
        stages = dict.fromkeys((ORIGINAL, *plain), main) | {AGAIN: again}
        for scale in dict.fromkeys(each.scale for each in among if each.scale is not None):
            these = [each for each in among if each.scale == scale]
            texts = {ask: text for each in these for ask, text in each.asks.items()}
            on = [these[0].criterion(criterion) for criterion in run.criteria]
            called = f"{name}-scale-{scale[1]:g}"
            stages |= dict.fromkeys(texts, asker.stage(called, stories, texts, on, repeats, seed, scaled=True))
        asker.ask(list(stages.values()))
        names = [criterion.name for criterion in run.criteria]
        told = arrays.answers_of(main.result.path, names, self.groups, run.matrix.systems)
        told = told.beside(again.result.path, {ORIGINAL: AGAIN})
        for each in among:
            if each.scale is not None:
                told = told.beside(stages[each.name].result.path, {each.name: each.name})
                own = [criterion.scale for criterion in run.criteria if criterion.name in told.criteria]
                told = told.mapped(each.name, Scale(*each.scale), own)
            elif len(each.of) > 1:
                told = told.combined(each, self._weights(asker, each, told.criteria) if each.weighted else None)
        return told, stages

    def _weights(self, asker: Asker, proposal: Proposal, criteria: Sequence[str]) -> Floats:
        """Weights of a candidate's sub-scores on each criterion, (c, k), fitted on the train part, asked once."""
        if proposal.name not in self.weights:
            stories = self.run.stories_of(self.split.train)
            stage = asker.stage("train", stories, proposal.parts, self.run.criteria, 1, 0)
            asker.ask([stage])
            told = arrays.answers_of(stage.result.path, criteria, self.groups, self.run.matrix.systems)
            scores = np.stack([told.ratings(name) for name in proposal.parts], axis=-1)
            fitted = [shrunk_weights(x, y) for x, y in zip(scores, told.people, strict=True)]
            self.weights[proposal.name] = np.stack(fitted)
        return self.weights[proposal.name]

    def _race(
        self, asker: Asker, label: str, part: Sequence[Sequence[str]]
    ) -> tuple[Race, list[arrays.Answers], dict[str, str]]:
        """The race on one part: its rounds, each round's answers, and candidates that lost too many answers."""
        by_name = {each.name: each for each in self.proposals}
        pools = [
            [name for name, each in by_name.items() if (each.paraphrase, name == MORE) == pool]
            for pool in ((False, False), (True, False), (False, True))
        ]
        number = rounds_for(max(1, *(len(pool) for pool in pools)), len(part))
        until = [0, *steps(len(part), number)]
        told: list[arrays.Answers] = []
        faults: dict[str, str] = {}

        def scores(names: Sequence[str], step: int) -> dict[str, float]:
            among = [by_name[name] for name in names if name != ORIGINAL]
            new = part[until[step] : until[step + 1]]
            told.append(self._asked(asker, f"{label}select-{step + 1}", new, among, (self.plan.race_repeats, 0))[0])
            so_far = arrays.joined(told)
            found = {name: so_far.score(name) for name in names}
            found[ORIGINAL] = float(np.mean([so_far.score(name) for name in BASE]))
            for name in names:
                more = so_far.missing(name) - so_far.missing(ORIGINAL)
                if more > MOST_MISSING:
                    faults[name] = f"{100 * more:.1f} % points more answers without a rating than the original"
                    found[name] = float("nan")
            return found

        return race(ORIGINAL, pools, len(until) - 1, scores), told, faults

    def _test(
        self, asker: Asker, label: str, part: Sequence[Sequence[str]], raced: Race, winner: str, on: arrays.Answers
    ) -> tuple[Tested, dict[str, Stage]]:
        # Where more repeats won, the wording is the original's, and no paraphrase is asked.
        paraphrase = None if winner == MORE else raced.winners[1]
        among = [each for each in self.proposals if each.name in (MORE, winner, paraphrase)]
        # Seeds, where the run has one, differ from those of the race: everything is asked afresh.
        told, stages = self._asked(asker, f"{label}test", part, among, (self.plan.repeats, 1000))
        return Tested(told, winner, paraphrase, raced.promised(winner), on), stages

    def walk(self) -> Improvement:
        """All steps, as far as the budget allows."""
        plan_only = self._improvement()
        if self.options.budget == 0 or (self.options.budget is None and opened.paid(self.run.spec)):
            return plan_only
        self._begin()
        asker = self._asker()
        self.proposals, lost = self._candidates(asker)
        labels = ("",) if self.split.design == "split" else ("a-", "b-")
        raced = [self._race(asker, label, part) for label, part in zip(labels, self.split.chooses, strict=True)]
        joined = [arrays.joined(told) for _, told, _ in raced]
        found = replace(
            self._improvement(),
            proposals=tuple(self.proposals),
            lost=tuple(lost),
            races=tuple(each for each, _, _ in raced),
            faults={name: why for _, _, faults in raced for name, why in faults.items()},
        )
        winners = [each.winner for each in found.races if each.winner is not None]
        promised = [each.promised(name) for each, name in zip(found.races, winners, strict=False)]
        if len(promised) == len(raced) and max(promised) > 0:
            # From here on the test part is used, whatever becomes of this process.
            uses.note(self.plan.id, self.split.test_keys, self.ledgers)
            use = uses.number_of_use(self.plan.id, self.split.test_keys, self.ledgers)
            parts = zip(labels, self.split.tests, found.races, winners, joined, strict=True)
            tested = [self._test(asker, *each) for each in parts]
            weights = {name: rows.round(3).tolist() for name, rows in self.weights.items()}
            told = verdict([each for each, _ in tested], use, self.plan.repeats)
            found = replace(found, weights=weights, verdict=told)
            found = deliver(self.run, found, [told for _, told, _ in raced], [stages for _, stages in tested])
        found = replace(found, spent=asker.spent() if opened.paid(self.run.spec) else None, page=self.home / PAGE)
        write_page(found, self.home)
        return found

    def _improvement(self) -> Improvement:
        run, plan = self.run, self.plan
        return Improvement(
            run=str(run.folder.path),
            dataset=f"{run.matrix.dataset}:{len(run.stories)}",
            judge=run.spec.judge,
            base=run.prompt.name,
            base_source=run.prompt.source,
            criteria=tuple(criterion.name for criterion in run.criteria),
            split=self.split,
            repeats=plan.repeats,
            race_repeats=plan.race_repeats,
            before=self.before,
            folder=self.home,
            notes=self._notes(),
        )

    def _notes(self) -> tuple[str, ...]:
        notes = []
        if self.writer is None:
            notes.append("no writer was asked: candidates are made of the original and of rated stories alone")
        elif self.writer == self.run.spec.judge:
            notes.append("the writer is the judge itself: its taste may become the rule")
        if self.options.comments:
            notes.append(f"people's comments on train stories were sent to {self.writer}")
        low = self.before.criteria_without
        if low:
            notes.append(f"one more person does not agree with the others on {', '.join(low)}")
        return tuple(notes)


def improve(
    table: RatingsTable, options: ImproveOptions, *, whole: RatingsTable, runs: Sequence[Path | str], quiet: bool
) -> Improvement:
    """Better Eval-Prompts for the judge of a run: `table` is its narrowed ratings table, `whole` that before.

    Raises SpecError for a run that cannot be improved, JudgeError where the budget or the server ends it early; the
    same call then goes on.
    """
    return Walk(opened.opened(table, runs), whole, options, quiet=quiet).walk()
