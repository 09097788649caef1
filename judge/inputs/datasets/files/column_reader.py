"""Takes each column of a table for what it is, the surest first: texts, labels, raters, criteria, ids, numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from judge.base.errors import DataError
from judge.base.late_pattern import late
from judge.base.wording import Advice, few
from judge.inputs.datasets.files.cell_patterns import (
    LEAST_GROUPS,
    by_stem,
    finest,
    fits,
    longest,
    number_of,
    says,
)
from judge.inputs.datasets.files.column_evidence import LEAST_IDS, REPEATS, SAID
from judge.inputs.datasets.files.column_labels import Labelled
from judge.inputs.datasets.files.column_names import bare, is_count, is_given_name, named, named_column, stem
from judge.inputs.datasets.files.column_words import MEANS, NAMES, NO_ANSWERS, TITLES_OF_TEXTS, WEAK_HUMAN, fold
from judge.inputs.datasets.files.layouts.survey_rows import RESPONDENT
from judge.inputs.datasets.files.layouts.total_rows import TOTALS
from judge.inputs.datasets.files.layouts.workbook import SHEET
from judge.inputs.datasets.files.reading import Reading, Role
from judge.inputs.datasets.files.table_cells import TableCells, leaves_out
from judge.inputs.datasets.files.table_file import is_column
from judge.inputs.datasets.files.verdict_codes import Twins, stories_in_a_row, twins_in, written_by_both

# Characters of a rating that is written in another way, such as 85 % or 4/5.
_SHORT, _FIGURE = 10, late(r"\W*\d")
# How far a mean that was rounded to two digits may be off.
_ROUNDED = 0.0051
# Names that are a story-prompt's where they hold long texts.
_LONG_PROMPTS = frozenset(("source", "document", "article"))
# Rows at the end among which those of sums stand.
_LAST = 3
_STEM_SUFFIX = late(r"^(.+)[ _.-]+([^ _.-]+)$")
_WORDS = late(r"[^\W\d_]+")


def read_columns(table: TableCells, given: Mapping[Role, str] | None = None, taken: Iterable[str] = ()) -> Reading:
    """The reading of a table's columns. `given` fields' columns are kept, and `taken` are columns of ratings, as the
    user said."""
    reader = _Reader(table)
    for role, column in (given or {}).items():
        if column in table.columns:
            reader.take(column, role, SAID)
        elif role == "id" and is_column(column, table.columns):
            reader.together = column
    reader.said = [column for column in taken if column in table.columns]
    return reader.read()


class _Reader(Labelled):
    together: str | None = None
    """Columns that name a story together, as the user said."""

    def read(self) -> Reading:
        for column in self.said:
            # Words may be labels of an order that is known.
            if self.table.scale is not None or self._rated(column):
                self.take(column, "rating", SAID)
        self._without_values()
        twins = None if self.has("text", "rating") else twins_in(self.free(), self.values, self.table.values)
        if twins is not None:
            for column, because in twins.because.items():
                self.take(column, "verdict" if column in twins.verdicts else "text", because)
        labels = self._labels(compared=twins is not None)
        for column in self.said:
            if column not in self.roles or self.roles[column].role != "label":
                self.take(column, "rating", SAID)
        if twins is None and not self.has("text"):
            self._refuse_series()
        self._raw_answers()
        self._texts()
        self._raters()
        pair_story = None if twins is None else self._pair(twins)
        self._names()
        if twins is None:
            self._titles()
            self._texts_of_no_story()
        by_prompt = twins is None and self.together is None and self._ids()
        story = self.together or (pair_story if twins is not None or by_prompt else self._story())
        if twins is None and self.together is None:
            by_prompt, story = self._item(by_prompt, story)
        self._refuse_totals()
        self._refuse_ranks()
        self._numbers()
        self._refuse_unread_judges()
        for column in self.free():
            self.take(column, "ignored", self._reason(column))
        columns = {column: self.roles[column] for column in self.table.columns}
        for column, read in columns.items():
            if read.role == "rating" and (mixed := self.table.mixed(column)) is not None:
                message = f"numbers are written in several ways, such as {mixed}"
                raise DataError(message, file=self.table.path, column=column, hint="write all of them in one way")
        return Reading(self.table, columns, labels, twins, by_prompt, story, tuple(self.shares))

    def _without_values(self) -> None:
        forms = [column for column in self.table.columns if column.startswith(("Answer.", "Input."))]
        if any(column.startswith("Answer.") for column in forms):
            for column in self.free():
                if column not in forms and not named_column("rater", [column]) and bare(column) != "hitid":
                    self.take(column, "ignored", "kept by the crowd-sourcing site")
        for column in self.free():
            if bare(column) in NO_ANSWERS and (RESPONDENT in self.table.columns or self._leaves_rows_out(column)):
                self.take(column, "ignored", "says which rows are answers")
                continue
            within = [name for name in self.table.columns if name.startswith(f"{column}.")]
            if not self.values(column):
                self.take(column, "ignored", "empty")
            elif within and not self._by_rater(column):
                self.take(column, "ignored", f"read by its keys {few(within, 3)}")
            elif within:
                for name in within:
                    self.take(name, "ignored", f"within {column}")
            elif not bare(column) or column.startswith("Unnamed:"):
                self.take(column, "ignored", "without a name")

    def _leaves_rows_out(self, column: str) -> bool:
        return any(leaves_out(column, str(value)) for value in self.values(column))

    def _refuse_series(self) -> None:
        texts = [column for column in self.free() if fits("text", self.values(column))]
        series = stories_in_a_row(texts) or written_by_both(texts)
        if series:
            hint = "write each story with its ratings on a row of its own, e.g. with pandas.wide_to_long"
            message = f"each row holds {len(series)} stories ({few(series, 3)})"
            raise DataError(message, file=self.table.path, hint=hint)

    def _pair(self, twins: Twins) -> str | None:
        """Takes the column that tells apart pairs of the same two systems and prompt, where rows hold no texts; `a+b`
        where it does so beside the story-prompt, as the turn of a dialogue."""
        if twins.systems != (twins.first, twins.second):
            return None
        given = [name for name, read in self.roles.items() if read.role in ("story_prompt", "rater")]
        known = [twins.first, twins.second, *given]
        free = [c for c in self.free() if fits("id", self.values(c)) and not self._parted(self.values(c))]
        own = [c for c in free if len(self.values(c)) == len(self.table.rows)]
        rows = len(self.table.rows)
        if self._told_by(known) == rows:
            return None
        column = next((c for c in own if self._told_by([*known, c]) == rows), None)
        if column is None:
            return None
        self.take(column, "id", "tells apart comparisons of the same two systems")
        prompt = next((name for name, read in self.roles.items() if read.role == "story_prompt"), None)
        alone = self._told_by([c for c in (column, *given) if c != prompt]) == rows
        return None if alone or prompt is None else f"{prompt}+{column}"

    def _told_by(self, names: Sequence[str]) -> int:
        """Number of rows that differ in these columns."""
        return len({*zip(*([*map(str, self.table.values(name))] for name in names), strict=True)})

    def _story(self) -> str | None:
        """Two columns that name a story together, `a+b`, where none does alone; takes the one that does by its pattern.
        Where a column names who rated, rows may share a story: DataError where it cannot be known which."""
        roles = {read.role: name for name, read in self.roles.items()}
        rater, ids, system = roles.get("rater"), roles.get("id"), roles.get("system")
        known = rater is not None or bool(self._sided("human", "judge"))
        both = f"{ids}+{system}"
        if ids is not None and system is not None and known and not self._same_within(ids, system):
            if not self._tells_rows(both) or self._judges_in_rows(ids, rater):
                return None
            role: Role = "ignored" if "story_prompt" in roles else "story_prompt"
            self.take(ids, role, "what several systems wrote to")
            return both
        if self.has("id", "verdict") or not self.has("rater", "criterion"):
            return None
        if "text" in roles and "story_prompt" in roles and self._holds_several_texts(roles["story_prompt"]):
            return f"{roles['story_prompt']}+{roles['text']}"
        prompt = roles.get("story_prompt")
        single = [column for column in self.free() if self._may_be_ids(column)]
        single += [prompt] if prompt is not None and self._may_be_ids(prompt) else []
        proven = [column for column in single if self._names_stories(column)]
        if proven:
            ids = max(proven, key=lambda column: len({*map(str, self.table.values(column))}))
            self.take(ids, "id", "all rows with one name tell the same of a story")
            return None
        both = f"{prompt}+{system}"
        if prompt is not None and system is not None:
            # A person rated what several systems wrote to one prompt, and each of these once.
            rated = rater is not None and self._tells_rows(both) and not self._tells_rows(prompt)
            if self._names_stories(both) or (rated and not self._judges_in_rows(prompt, rater)):
                return both
        words = [c for c in single if not self._numeric(self.values(c)) and len({*map(str, self.values(c))}) > 1]
        words = [column for column in words if not self.table.unique(column)]
        if not self.has("text") and system is not None:
            pairs = [f"{c}+{system}" for c in words if self._tells_rows(f"{c}+{system}") and not self._tells_rows(c)]
            if len(pairs) == 1 and prompt is None and not self._judges_in_rows(pairs[0].split("+")[0], rater):
                self.take(pairs[0].split("+")[0], "story_prompt", "what several systems wrote to")
                return pairs[0]
        tells = [column for column in words if self._tells_rows(column)]
        ids = tells[0] if len(tells) == 1 else finest(words, self.table.values)
        if ids is not None:
            self.take(ids, "id", "a name for the rows of each story")
        if ids is not None or self.has("text") or rater is None:
            return None
        message = f"{rater!r} names who rated each row, and no column is known to name the stories"
        hint = Advice("say which column does ({story}), or write one that does", story="COLUMN")
        raise DataError(message, file=self.table.path, hint=hint)

    def _item(self, by_prompt: bool, story: str | None) -> tuple[bool, str | None]:
        """What was found as the stories' names or, where these name no stories, the columns that do together."""
        ids = next((name for name, read in self.roles.items() if read.role == "id"), None)
        if by_prompt or (ids is not None and self.roles[ids].because == SAID):
            return by_prompt, story
        columns = self._item_columns(story or ids)
        if columns is None:
            return by_prompt, story
        if ids is not None and ids not in columns:
            self.take(ids, "ignored", "numbers rows, and names no story")
        if not columns[1:]:
            self.take(columns[0], "id", "all rows with one name are about one story")
            return False, None
        for column in columns:
            if column not in self.roles or self.roles[column].role not in ("system", "story_prompt"):
                role: Role = "ignored" if self.has("story_prompt") else "story_prompt"
                self.take(column, role, "names stories together with others")
        return False, "+".join(columns)

    def _refuse_totals(self) -> None:
        """A row of means below the stories is no story."""
        ids = next((name for name, read in self.roles.items() if read.role == "id"), None)
        for value in self.values(ids)[-_LAST:] if ids is not None else ():
            if fold(str(value)).rstrip(".:") in MEANS | TOTALS:
                message = f"a row is named {str(value)!r}: it holds means or sums, and no story's ratings"
                raise DataError(message, file=self.table.path, column=ids, hint="delete the row")

    def _refuse_unread_judges(self) -> None:
        """A judge's column whose cells are nearly numbers is told, and no other column taken in its place."""
        if any(read.role in ("rating", "label") and read.named.side == "judge" for read in self.roles.values()):
            return
        for column in self.free():
            values = [str(value) for value in self.values(column) if not isinstance(value, Mapping)]
            figures = sum(_FIGURE.match(value) is not None and len(value) < _SHORT for value in values)
            odd = next((value for value in values if number_of(value) is None), None)
            if odd is not None and named(column).side == "judge" and not is_count(column) and 2 * figures > len(values):
                message = f"the column {column!r} is named as a judge's, and {odd!r} is no rating"
                raise DataError(message, file=self.table.path, hint="a rating is a number such as 4, 4.5, 80% or 4/5")

    def _raw_answers(self) -> None:
        """A column of texts that hold the numbers of a column beside them is what these were read of."""
        numbers = [c for c in self.free() if self._rated(c) and named(c).side != "human" and not is_count(c)]
        for column in self.free():
            if numbers and not self._rated(column) and not self._numeric(self.values(column)[:LEAST_IDS]):
                of = self._holds_answer_to(column, numbers)
                if of is not None:
                    self.take(column, "explanation", f"holds the numbers of {of}: the answer that they were read of")

    def _texts(self) -> None:
        for name in ("explanation", "text", "story_prompt", "reference"):
            if self.has(name):
                continue
            free = [column for column in self.free() if fits(name, self.values(column)) and not self._rated(column)]
            if name == "explanation":
                for column in free:
                    if says(column, NAMES[name]):
                        self.take(column, name, "what was said of it")
                continue
            if name == "story_prompt":
                free = [column for column in self.free() if fits(name, self.values(column))]
                free = [c for c in free if not (named_column("criterion", [c]) and self._asks(c))]
            match = named_column(name, free)
            if match is None and name == "text":
                match = longest(free, self.values)
            if match is None and name == "story_prompt":
                match = next((c for c in free if bare(c) in _LONG_PROMPTS and fits("text", self.values(c))), None)
            if match is not None:
                self.take(match, name, "long texts" if name == "text" else "by its name")

    def _titles(self) -> None:
        """A title that stories of one system share is no story-prompt: they may be called alike by chance."""
        roles = {read.role: name for name, read in self.roles.items()}
        title, text, system = roles.get("story_prompt"), roles.get("text"), roles.get("system")
        if title is None or text is None or bare(title) not in TITLES_OF_TEXTS or self.roles[title].because == SAID:
            return
        if self._told_by([title, *([system] if system else [])]) < self._told_by([text]):
            self.take(title, "ignored", "a title, which several texts of one system share")

    def _answers(self, text: str, prompt: str) -> bool:
        """Whether the stories to one prompt differ, and are more than the prompts."""
        many = len({*map(str, self.values(text))}) > len({*map(str, self.values(prompt))})
        return many and not self._same_within(prompt, text)

    def _asks(self, column: str) -> bool:
        return self._asked_of_each_story(column) or self._asked_of_one_text(column)

    def _texts_of_no_story(self) -> None:
        """Takes a long text that stands beside several stories for the story-prompt, and one that differs between the
        rows of a story for what was said of it. DataError where a text repeats and it cannot be known which it is."""
        taken = [name for name, read in self.roles.items() if read.role == "text" and read.because != SAID]
        long = [c for c in self.free() if fits("text", self.values(c)) and not self._rated(c)]
        prompt = next((name for name, read in self.roles.items() if read.role == "story_prompt"), None)
        if taken and taken[0] not in self.said:
            finer = self._finer(taken[0], long)
            if finer is not None:
                self.take(taken[0], "ignored" if prompt else "story_prompt", f"one for several of {finer}")
                self.take(finer, "text", f"answers {taken[0]}")
                taken, long, prompt = [], [c for c in long if c != finer], prompt or taken[0]
            elif (prompt is not None and self._answers(taken[0], prompt)) or any(self._finer(c, taken) for c in long):
                taken = []
        for column in [*taken, *long]:
            if self._of_several_stories(column):
                role: Role = "ignored" if self.has("story_prompt") else "story_prompt"
                self.take(column, role, "one text for several stories: what they answer")
            elif column in taken and self._said_of_a_story(column):
                self.take(column, "explanation", "differs between the rows of one story: what was said of it")
            elif (column in taken or not self.has("text")) and self._repeats_unexplained(column):
                message = f"the texts in {column!r} repeat, in rows with other ratings: stories, or what they answer"
                hint = Advice(
                    "where they are stories: {text}; where they are prompts: {prompt}", text=column, prompt=column
                )
                raise DataError(message, file=self.table.path, hint=hint)
        left = [column for column in long if column not in self.roles and not self._said_of_a_story(column)]
        if taken and not self.has("text") and left:
            self.take(named_column("text", left) or longest(left, self.values) or left[0], "text", "long texts")

    def _raters(self) -> None:
        if self.has("rater") or self._grid_of_persons():
            return
        people = [c for c in self._sided("human") if not named_column("rater", [c])]
        # Who answered in each row, with people's ratings of its story repeated beside it, is no rater.
        free = [c for c in self.free() if not people or not self._names_models(c)]
        other = named_column("rater", [c for c in free if not is_given_name(c) and bare(c) != "source"])
        other = other if other is not None and self._names_raters(other) else None
        for usual in NAMES["rater"]:
            for column in free:
                source = usual == "source" and (people or other is not None or not self._all_sided(column))
                if bare(column) != usual or source:
                    continue
                if self._names_raters(column):
                    self.take(column, "rater", "names who rated each row")
                    return
        lists = [c for c in self.free() if all(isinstance(value, list) for value in self.values(c))]
        beside = named_column("rater", lists)
        if beside is not None and not any(isinstance(name, Mapping) for of in self.values(beside) for name in of):
            self.take(beside, "rater", "names who rated, in a list beside the ratings")
            return
        if other is not None:
            self.take(other, "rater", "names who rated each row")
            return
        for column in free:
            words = any(WEAK_HUMAN.search(part) for part in _WORDS.findall(fold(column)))
            if words and not self._rated(column) and self._repeats(column) and self._names_raters(column):
                self.take(column, "rater", "names who rated each row")
                return
        if SHEET in self.free() and self._by_sheets():
            self.take(SHEET, "rater", "each sheet holds one rater's ratings of the same stories")
            return
        for column in self.free() if not people else ():
            if fits("rater", self.values(column)) and self._calls_people(column) and not self.table.unique(column):
                self.take(column, "rater", "names people")
                return

    def _grid_of_persons(self) -> bool:
        """Whether columns are STEM x SUFFIX, with the same suffixes under several stems, in a row for each story: of
        criteria and persons, beside which a code names no rater of the row."""
        rated = [c for c in self.free() if self._rated(c) and not is_count(c) and named(c).side is None]
        ends: dict[str, set[str]] = {}
        for match in map(_STEM_SUFFIX.match, rated):
            if match:
                ends.setdefault(match[1], set()).add(match[2])
        grids = [suffixes for suffixes in ends.values() if len(suffixes) > 1]
        whole = len(grids) > 1 and all(suffixes == grids[0] for suffixes in grids)
        judged = any(named(c).side == "judge" and self._rated(c) for c in self.free())
        return whole and judged and any(self.table.unique(c) for c in self.free() if c not in rated)

    def _by_sheets(self) -> bool:
        """Whether a workbook's sheets, none of them named for a criterion, hold the same names, each once."""
        if self._calls("criterion", SHEET) or self._all_sided(SHEET):
            return any(self.table.values(SHEET)) and "human" in {named(str(v)).side for v in self.values(SHEET)}
        ids = [c for c in self._id_names(SHEET) if self._told_by([c, SHEET]) == len(self.table.rows)]
        return any(2 * self._told_by([column]) <= len(self.table.rows) for column in ids)

    def _names(self) -> None:
        for name in ("system", "criterion", "panel"):
            if self.has(name):
                continue
            free = [column for column in self.free() if fits(name, self.values(column))]
            if name == "criterion":
                ids = [column for column in free if named_column("id", [column])]
                free = [c for c in free if (self._names_criteria(c) and {*ids} != {c}) or self._asks(c)]
            if name == "system":
                free = [column for column in free if not self._rated(column) or named(column).side != "judge"]
            match = named_column(name, free)
            if match is not None:
                self.take(match, name, "by its name")
                continue
            nameless = [c for c in free if not any(named_column(f, [c]) for f in ("id", "story_prompt", "rater"))]
            match = next((column for column in nameless if self._calls(name, column)), None)
            if match is not None:
                self.take(match, name, "by its cells")

    def _ids(self) -> bool:
        """Takes the column of ids; whether an id stands for one story-prompt's stories by several systems."""
        system = next((name for name, read in self.roles.items() if read.role == "system"), None)
        if self.has("id"):
            several = [c for c in self._id_names() if system is not None and self._tells_rows(f"{c}+{system}")]
            if several and not self.has("story_prompt", "rater", "criterion") and self._repeats(several[0]):
                self.take(several[0], "story_prompt", "what several systems wrote to")
            return False
        free = [
            column
            for column in self.free()
            if fits("id", self.values(column)) and not self._parted(self.values(column))
        ]
        usual = [column for name in NAMES["id"] for column in free if bare(column) == name]
        usual += [c for c in free if bare(c).endswith(("id", "nr", "nummer", "number")) and c not in usual]
        usual += [other] if not usual and (other := named_column("id", free)) is not None else []
        if not usual:
            return False
        rows_of_a_story = self.has("rater", "criterion") or "source" in map(bare, self.table.columns)
        own = None if rows_of_a_story else next((c for c in usual if self.table.unique(c)), None)
        written = (c for c in usual if system is not None and self._tells_rows(f"{c}+{system}"))
        shared = None if own is not None or rows_of_a_story else next(written, None)
        ids = own or shared or usual[0]
        if shared is not None:
            self.take(ids, "ignored" if self.has("story_prompt") else "story_prompt", "what several systems wrote to")
            return True
        role: Role = "id"
        if self._holds_several_texts(ids):
            role = "ignored" if self.has("story_prompt") else "story_prompt"
        self.take(ids, role, "by its name" if role == "id" else "several texts share it, and one person rated each")
        return False

    def _holds_several_texts(self, ids: str) -> bool:
        """Whether rows of one name are about several texts: only with the text does the rater tell the rows apart."""
        roles = {read.role: name for name, read in self.roles.items()}
        if "text" not in roles or "rater" not in roles:
            return False
        more = [roles["rater"], *([roles["criterion"]] if "criterion" in roles else [])]
        rows = len(self.table.rows)
        return self._told_by([ids, *more]) < rows == self._told_by([ids, roles["text"], *more])

    def _mean_of(self, column: str, free: Sequence[str]) -> list[str] | None:
        """The numbered columns whose mean a column without a number holds in each row, to its digits; None for none."""
        if stem(column) is not None and stem(column) in by_stem(free):
            return None
        own = self.table.numbers(column)
        for group in by_stem(free).values():
            columns = [self.table.numbers(name) for name in group]
            if own is None or len(group) < 2 or None in columns or len({*own}) < LEAST_GROUPS:
                continue
            cells = zip(own, *(given for given in columns if given is not None), strict=True)
            rows = [[*map(float, filter(None, row))] for row in cells if None not in row]
            if len(rows) >= LEAST_IDS and all(abs(sum(row[1:]) / len(group) - row[0]) < _ROUNDED for row in rows):
                return group
        return None

    def _numbers(self) -> None:
        free = [c for c in self.free() if not is_count(c) and bare(c) not in REPEATS and self._rated(c)]
        for group in by_stem(free).values():
            if len(group) > 2 and self._adds_to_one(group):
                self.shares.append(tuple(group))
                for column in group:
                    self.take(column, "probability", "with its neighbours it adds to 1")
        free = [column for column in free if column not in self.roles]
        for column in free:
            values = self.values(column)
            if self._of_one_rater(column):
                self.take(column, "ignored", "tells of the raters: the same in all rows of each")
                continue
            whole = len({*map(str, values)}) == len(self.table.rows) >= LEAST_IDS and self._whole(values)
            if whole:
                self.take(column, "ignored", "another whole number in each row")
            elif (of := self._mean_of(column, free)) is not None:
                self.take(column, "ignored", f"the mean of {few(of, 3)}")
            elif named(column).side or self._few(values) or self._same_for_raters(column):
                self.take(column, "rating", "numbers on a scale")
        if not any(read.role in ("rating", "label") and read.named.side != "judge" for read in self.roles.values()):
            left = [column for column in free if column not in self.roles]
            usual = named_column("rating", left) or (left[0] if len(left) == 1 and self.has("rater") else None)
            if usual is not None:
                self.take(usual, "rating", "the only numbers that people may have given")
