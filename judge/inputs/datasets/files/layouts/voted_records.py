"""Records of JSON that hold lists of what several raters said, as a row for each rater: exports of Label Studio, and
records with a list of people's votes beside one of judges'."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from judge.base.late_pattern import late
from judge.inputs.datasets.files.column_words import NAMES, fold
from judge.inputs.datasets.files.verdict_codes import WORDS, column_pairs

# Records that tell the form of all.
_LOOKED_AT = 20
# Keys of who voted, in the lists of votes, and the columns of their rows.
_WHO = frozenset((*NAMES["rater"], "voter", "judge", "model"))
# Keys of dialogues that a story answers.
_DIALOGUES = frozenset(("conversation", "dialogue", "dialog", "history", "context"))
RATER, CRITERION, RATING, VERDICT = "rater", "criterion", "rating", "verdict"
# Keys of the story that was shown at a place.
_SHOWN = late(r"(?i)shown|order|position|place")
_LISTS = 2

_Split = Callable[[Mapping[str, Any]], Iterator[dict[str, Any]]]


def rows_of_votes(rows: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """The rows, those of records with votes as one row for each vote; each keeps its record's number."""
    first = [*islice(rows, _LOOKED_AT)]
    records = [cells for _, cells in first]
    split: _Split | None = None
    called = _named_in_lists([record for record in records if isinstance(record, dict)])
    if records and all(isinstance(record, dict) for record in records):
        voted = _lists_of_votes(records)
        split = _tasks if all(map(_is_task, records)) else (lambda record: _votes(record, voted)) if voted else None
        if split is None and (battle := _battle(records)) is not None:
            split = battle.rows
    for row, whole in chain(first, rows):
        cells = _with_turns(whole, called) if isinstance(whole, dict) else whole
        if split is None or not isinstance(cells, dict):
            yield row, cells
        else:
            yield from ((row, vote) for vote in split(cells))


def _named_in_lists(records: Sequence[Mapping[str, Any]]) -> set[str]:
    """Keys of who voted that hold a name in some records, and in others a list of a name and more, such as a prompt."""
    keys = {key for record in records for key, value in record.items() if fold(key) in _WHO and isinstance(value, str)}
    return {key for key in keys if any(isinstance(record.get(key), list) for record in records)}


def _with_turns(record: dict[str, Any], called: Collection[str]) -> dict[str, Any]:
    """The record, with each list of a dialogue's turns (`role`, `content`) as one text, and the name alone of
    who is `called` by a list."""
    record = record | {key: record[key][0] for key in called if isinstance(record.get(key), list) and record[key]}
    turns = {key: value for key, value in record.items() if fold(key) in _DIALOGUES and _turns(value)}
    return record | {
        key: "\n".join(f"{turn['role']}: {turn['content']}" for turn in value) for key, value in turns.items()
    }


def _turns(value: Any) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(turn, Mapping) and isinstance(turn.get("content"), str) and "role" in turn for turn in value)
    )


def _is_task(record: Mapping[str, Any]) -> bool:
    """Whether a record is a task of Label Studio's export in JSON."""
    annotated = record.get("annotations")
    return (
        isinstance(record.get("data"), dict)
        and isinstance(annotated, list)
        and all(isinstance(each, dict) and isinstance(each.get("result"), list) for each in annotated)
    )


def _tasks(task: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each number, or else each choice, that an annotator or a model gave; other results stand beside it."""
    base = {"id": task.get("id"), **{key: value for key, value in task["data"].items() if key != "id"}}
    given = [(each, _name(each.get("completed_by"))) for each in task["annotations"] if not each.get("was_cancelled")]
    predicted = task.get("predictions") or ()
    given += [(each, str(each.get("model_version"))) for each in predicted if isinstance(each, dict)]
    for each, who in given:
        results = [result for result in each.get("result") or () if isinstance(result, dict)]
        values = {str(result.get("from_name")): _value(result.get("value")) for result in results}
        rated: dict[str, Any] = {name: value for name, value in values.items() if isinstance(value, int | float)}
        rated = rated or {name: value for name, value in values.items() if isinstance(value, str)}
        beside = {name: _joined(value) for name, value in values.items() if name not in rated}
        for name, value in rated.items():
            yield base | {RATER: who, CRITERION: name, RATING: value} | beside


def _name(person: Any) -> str:
    if isinstance(person, Mapping):
        person = person.get("email") or person.get("username") or person.get("id")
    return str(person)


def _value(value: Any) -> Any:
    """The number of a result, its only choice, or what else it holds."""
    if not isinstance(value, Mapping):
        return None
    number = next((value[key] for key in ("rating", "number") if key in value), None)
    if number is not None:
        return number
    chosen = value.get("choices")
    if isinstance(chosen, list):
        return chosen[0] if len(chosen) == 1 else tuple(chosen)
    text = value.get("text")
    return tuple(text) if isinstance(text, list) else (text,) if text is not None else None


def _joined(value: Any) -> str | None:
    return "; ".join(map(str, value)) if isinstance(value, tuple) else value


@dataclass(frozen=True, slots=True)
class _Battle:
    """Keys of the two stories of a record, of objects of votes by voter, and of lists of votes with who and what."""

    first: str
    second: str
    votes: tuple[str, ...]
    lists: Mapping[str, tuple[str, str]]

    def rows(self, record: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """A row for each vote, with the stories' keys in pairs of columns."""
        used = {self.first, self.second, *self.votes, *self.lists}
        base = {key: value for key, value in record.items() if key not in used}
        for at, key in enumerate((self.first, self.second), 1):
            held = record[key] if isinstance(record[key], Mapping) else {"text": record[key]}
            base |= {f"{name}_{at}": value for name, value in held.items()}
        sides = {self.first: "first", self.second: "second"}
        for key in self.votes:
            for who, word in record[key].items():
                yield base | {RATER: who, VERDICT: sides.get(word, word)}
        for key, (who, what) in self.lists.items():
            for vote in _entries(record.get(key)):
                yield base | {RATER: vote.get(who), VERDICT: sides.get(str(vote.get(what)), vote.get(what))}


def _battle(records: Sequence[Mapping[str, Any]]) -> _Battle | None:
    """The votes of records that hold two stories under keys of one stem, which the votes name."""
    pairs = column_pairs([*records[0]], any_stem=True)
    for first, second in pairs:
        if not all(first in record and second in record for record in records):
            continue
        known = {first, second}
        votes = [key for key in records[0] if _are_votes([record.get(key) for record in records], known)]
        lists = {
            key: named
            for key in records[0]
            if (named := _vote_keys([vote for record in records for vote in _entries(record.get(key))], known))
        }
        if votes:
            return _Battle(first, second, tuple(votes), lists)
    return None


def _are_votes(values: Sequence[Any], known: Collection[str]) -> bool:
    """Whether objects hold, by voter, the names of two stories or a word for a tie."""
    if not all(isinstance(value, Mapping) and value for value in values):
        return False
    return _name_stories([word for value in values for word in value.values()], known)


def _vote_keys(votes: Sequence[Mapping[str, Any]], known: Collection[str]) -> tuple[str, str] | None:
    """The keys of who voted and of the story that was preferred, in a list of votes; not of that shown first."""
    keys = set.intersection(*({*vote} for vote in votes)) if votes else set()
    who = next((key for key in keys if fold(key) in _WHO), None)
    what = [key for key in sorted(keys) if _name_stories([vote[key] for vote in votes], known)]
    chosen = [key for key in what if not _SHOWN.search(key)]
    return (who, chosen[0]) if who is not None and len(chosen) == 1 else None


def _name_stories(words: Sequence[Any], known: Collection[str]) -> bool:
    texts = [word for word in words if isinstance(word, str)]
    others = {word for word in texts if word not in known}
    return len(texts) == len(words) and {*texts} >= {*known} and all(WORDS.get(fold(word)) == "tie" for word in others)


def _lists_of_votes(records: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Key of a list of votes -> key of who voted, where there are several such lists that share another key."""
    voted: dict[str, str] = {}
    shared: list[set[str]] = []
    for key in records[0]:
        votes = [vote for record in records for vote in _entries(record.get(key))]
        if not votes or not all(isinstance(record.get(key), list) for record in records):
            continue
        names = set.intersection(*({*vote} for vote in votes))
        who = next((name for name in names if fold(name) in _WHO), None)
        if who is not None:
            voted[key] = who
            shared.append(names - {who})
    return voted if len(voted) >= _LISTS and set.intersection(*shared) else {}


def _entries(value: Any) -> list[Mapping[str, Any]]:
    return [entry for entry in value if isinstance(entry, Mapping)] if isinstance(value, list) else []


def _votes(record: Mapping[str, Any], voted: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    base = {key: value for key, value in record.items() if key not in voted}
    for key, who in voted.items():
        for vote in _entries(record.get(key)):
            yield base | {RATER: vote.get(who)} | {name: value for name, value in vote.items() if name != who}
