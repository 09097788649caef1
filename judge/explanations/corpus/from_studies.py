r"""Explanations in studies' files: StoryER's comments and the audited answers of the HANNA judge study.

`<br>` and ``<\newline>``, with which StoryER's files mark line breaks, are decoded. The HANNA file has neither
criterion nor rating: the parser extracts the rating, and the criterion is inferred (`quoted_criterion`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from judge.answers.parsing import Parser
from judge.answers.parsing import parser as load_parser
from judge.base.records import Criterion, Response
from judge.explanations.corpus import corpus
from judge.inputs.criteria import load_criteria
from judge.inputs.datasets.files.source_file import check_count, csv_rows
from judge.inputs.datasets.locate import find, need
from judge.inputs.datasets.sources import FILES, OTHER_FILES
from judge.inputs.datasets.studies.storyer import NO_ASPECT, SYSTEM, is_shaped, read_commented
from judge.inputs.datasets.studies.ttcw import read_answers, read_stories, read_verdicts

# Explanations of Art or Artifice (TTCW): why experts, and five models, answered Yes or No to a test of creativity
# about a story.

NAME = "ttcw_explanations"
_DATASET = "ttcw+newyorker"
_PREFIX = "annotations_"


def ttcw_explanations() -> corpus.ExplanationTexts:
    """Explanations of verdicts in Art or Artifice (TTCW): those by experts, then those by models. Raises DataError
    where files are missing."""
    stories_path, verdicts_path = (need(file, "ttcw") for file in FILES["ttcw"])
    answers = [need(file, "ttcw_answers") for file in OTHER_FILES["ttcw_answers"]]
    criteria = load_criteria("ttcw").criteria
    stories = {story.id: story for story in read_stories(stories_path, verdicts_path, whole=True)}
    rows = list(_experts(verdicts_path))
    loaded = load_parser("ours")
    for path in answers:
        rows += _model(path, path.stem.removeprefix(_PREFIX), criteria, loaded)
    for row in rows:
        story = stories[row["story"]]
        row |= {"run": NAME, "dataset": _DATASET, "story_prompt": story.story_prompt, "system": story.system}
    without = sum(not story.text for story in stories.values())
    notes = (
        f"experts' explanations as released, models' as the parser {loaded.version} reads them out of their answers",
        "judge names the side; which of the experts wrote is left out",
        f"{without} of {len(stories)} stories are the magazine's, whose texts are not released",
    )
    known = [(_DATASET, s.id, s.story_prompt, s.system, s.text or None, None) for s in stories.values()]
    return corpus.ExplanationTexts(corpus.frame_of(rows), corpus.stories_of(known), criteria, (), notes)


def _experts(path: Path) -> Iterator[dict[str, Any]]:
    for verdict in read_verdicts(path):
        yield {
            "story": verdict.story,
            "judge": corpus.EXPERT,
            "side": corpus.EXPERT,
            "criterion": verdict.test,
            "rating": verdict.value,
            "status": "imported",
            "explanation": verdict.explanation,
        }


def _model(path: Path, name: str, criteria: tuple[Criterion, ...], parser: Parser) -> Iterator[dict[str, Any]]:
    for answer in read_answers(path):
        criterion = criteria[answer.test - 1]
        finished = "content_filter" if answer.blocked else None
        judgment = parser.parse(Response(answer.text or "", finished), criterion)
        yield {
            "story": answer.story,
            "judge": name,
            "side": name,
            "criterion": criterion.name,
            "answer": answer.text or "",
            **corpus.cells_of_judgment(judgment),
        }


# Name on the command line -> the released file.
NAMES: Mapping[str, str] = {
    "storyer_reasons": "storyer/train_rate_reason_data_small.json",
    "hanna_user_study": "hanna/user_study.csv",
}

_AUDITED, _BLOCK = 100, 3
_ID, _ANSWER = "Input.story_id", "Input.explanation"
_WORDING, _HUMAN = "hanna/eval_prompts.json", "hanna/hanna_llm_stories.csv"
# Shares of a guideline's pairs of words, and how far the best criterion must lead; see `quoted_criterion`.
_QUOTED, _LEAST, _AHEAD = 0.6, 0.3, 0.15


def study_of(named: str | Path) -> corpus.ExplanationTexts | None:
    """Explanations of a study, given by its name or a file with its columns; None for anything else."""
    if str(named) == NAME:
        return ttcw_explanations()
    path = Path(need(NAMES[str(named)], str(named))) if str(named) in NAMES else Path(named)
    if path.suffix.lower() == ".json":
        # A list of other objects is a table of anybody's.
        return storyer_reasons(path) if str(named) in NAMES or is_shaped(path) else None
    if path.suffix.lower() == ".csv" and path.is_file():
        header = next(iter(csv_rows(path)), None)
        if header is not None and {_ID, _ANSWER} <= set(header[1]):
            return hanna_user_study(path)
    return None


def storyer_reasons(path: Path) -> corpus.ExplanationTexts:
    """Human comments on ten aspects of StoryER's stories, each with its rating. Empty comments, with which the file is
    padded, are left out; so are comments without an aspect or a rating on the scale, which a note counts. Raises
    DataError unless the file has the structure that `read_commented` expects."""
    criteria = load_criteria("storyer").criteria
    rows: list[dict[str, Any]] = []
    stories: list[tuple[Any, ...]] = []
    unusable = 0
    for entry in read_commented(path):
        stories.append((path.stem, entry.id, entry.story_prompt, SYSTEM, entry.text, None))
        unusable += entry.left_out[NO_ASPECT]
        rows += [
            {
                "run": path.stem,
                "dataset": path.stem,
                "story": entry.id,
                "story_prompt": entry.story_prompt,
                "system": SYSTEM,
                "criterion": criteria[comment.aspect - 1].name,
                "rating": comment.rating,
                "status": "imported",
                "explanation": comment.text,
            }
            for comment in entry.comments
        ]
    notes = ["explanations are people's comments, not a judge's; who wrote which is unknown"]
    if unusable:
        notes.append(f"{unusable} comments without an aspect or a rating on the scale were left out")
    return corpus.ExplanationTexts(corpus.frame_of(rows), corpus.stories_of(stories), criteria, (), tuple(notes))


def hanna_user_study(path: Path) -> corpus.ExplanationTexts:
    """The 100 audited answers of one judge to Eval-Prompt 3, with the human stories if they are on this machine. Story
    ids and texts are those of dataset `hanna`. Guidelines come from `eval_prompts.json` (`judge data add
    hanna_eval_prompts PATH`); without it no criterion can be inferred, and a note says so."""
    answers: list[tuple[str, str]] = []
    count = 0
    for _, cells in csv_rows(path, (_ID, _ANSWER)):
        if count % _BLOCK == 0:
            answers.append((cells[_ID], cells[_ANSWER]))
        count += 1
    check_count("answers", count, _AUDITED * _BLOCK, path)
    wording, human = find(_WORDING), find(_HUMAN)
    criteria = load_criteria("hanna", wording=wording).criteria
    loaded = load_parser("ours")
    rows = []
    for story, answer in answers:
        criterion = quoted_criterion(answer, criteria) if wording else None
        # What follows of the judgment does not depend on the criterion but for a copied guideline's flag.
        judgment = loaded.parse(Response(answer), criterion or Criterion("the story", "", ""))
        rows.append(
            {
                "run": path.stem,
                "dataset": path.stem,
                "story": story,
                "system": "Human",
                "criterion": criterion.name if criterion else "",
                "eval_prompt": "ep3",
                "answer": answer,
                **corpus.cells_of_judgment(judgment),
            }
        )
    frame = corpus.frame_of(rows)
    recognised = int((frame["criterion"] != "").sum())
    share = f"{recognised} of {len(frame)}"
    notes = [f"the file names no criterion: {share} are recognised by the guideline or name in the answer"]
    if wording is None:
        notes = ["criteria are unknown without the study's guidelines: judge data add hanna_eval_prompts PATH"]
    notes.append("rows are in the order of the file's items; the file does not name its judge")
    stories = corpus.stories_of([])
    if human is not None:
        from judge.inputs.datasets.studies.hanna import read_human_stories

        told = read_human_stories(human)
        stories = corpus.stories_of([(path.stem, s.id, s.story_prompt, s.system, s.text, s.reference) for s in told])
    else:
        notes.append("the human stories are not on this machine (judge data fetch hanna_llm)")
    prompts = stories["story_prompt"].to_dict()
    frame["story_prompt"] = [prompts.get((path.stem, story), "") for story in frame["story"]]
    return corpus.ExplanationTexts(frame, stories, criteria if wording else (), (), tuple(notes))


def quoted_criterion(answer: str, criteria: Sequence[Criterion]) -> Criterion | None:
    """The criterion whose guideline an answer quotes, or the only criterion that it names; None where neither is clear.
    A criterion's score is the share of a guideline's word bigrams that occur in the answer, for the guideline with the
    largest share. Grammatical person is ignored ("surprised me" equals "surprised you"). The best criterion is clear if
    its score exceeds the next one's by 0.15 (`_AHEAD`). The rules are, in this order: the best criterion, if clear and
    at least 0.6 (`_QUOTED`); the only criterion that the answer names; the best criterion, if clear and at least 0.3
    (`_LEAST`); None."""
    words, pairs = corpus.plain_words(answer), corpus.word_pairs(answer)
    shares = sorted(((_share(criterion, pairs), -i) for i, criterion in enumerate(criteria)), reverse=True)
    best, share = criteria[-shares[0][1]], shares[0][0]
    plain = len(shares) == 1 or share - shares[1][0] >= _AHEAD
    if plain and share >= _QUOTED:
        return best
    named = [criterion for criterion in criteria if criterion.name.lower() in words]
    if len(named) == 1:
        return named[0]
    return best if plain and share >= _LEAST else None


def _share(criterion: Criterion, text_pairs: corpus.Pairs) -> float:
    guidelines = [corpus.word_pairs(guideline) for guideline in criterion.guidelines]
    return max((len(pairs & text_pairs) / len(pairs) for pairs in guidelines if pairs), default=0.0)
