"""Which column is the score and which says what is relevant, where the columns of all files have to tell."""

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import permutations

import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError, TieScopeError, UsageError
from metrics.runs.columns import BY_NAME, GRADES, is_distance, normalised, recognise
from metrics.runs.source import Source

Content = Source | TieScopeError
"""What a file holds, or why it cannot be read."""
Reader = Callable[[int, Mapping[str, str]], Content]
"""Takes the place of a file and columns to choose in it, ours → the file's; reads the file."""
_MOST_ASKED = 6
"""Most readings to choose from."""
_WHOLE = pa.array([float(grade) for grade in range(-10, 11)])
"""Values of a column that may be grades of relevance."""


@dataclass(frozen=True)
class Reading:
    """One way to read files: the column of scores, the column of relevance, and a row that shows both."""

    score: str
    relevance: str
    example: str

    @property
    def columns(self) -> dict[str, str]:
        """Our columns → the files'."""
        return {"score": self.score, "relevance": self.relevance}

    @property
    def command(self) -> str:
        """The options of a command that choose this reading."""
        return " ".join(f"--column {shlex.quote(f'{ours}={theirs}')}" for ours, theirs in self.columns.items())


class RolesError(UsageError):
    """Files can be read in several ways; `readings` are these, `places` the files' places."""

    def __init__(self, files: Sequence[str], readings: Sequence[Reading], places: Sequence[int]) -> None:
        self.files, self.readings, self.places = tuple(files), tuple(readings), tuple(places)
        names = ", ".join(dict.fromkeys(name for one in readings for name in (one.score, one.relevance)))
        self.problem = f"{', '.join(files)}: which of {names} is the score, and which says what is relevant?"
        choices = " or ".join(f"{one.command} ({one.example})" for one in readings)
        super().__init__(f"{self.problem} Choose {choices}.")

    def __reduce__(self) -> tuple[object, ...]:
        """Rebuild the error in the process that receives it from a worker."""
        return type(self), (self.files, self.readings, self.places)


def column_roles(
    contents: Sequence[Content], read: Reader, *, judged: bool = False, has_run: bool = False
) -> dict[int, dict[str, str]]:
    """Return the columns to choose in files whose names do not tell them: place → ours → the file's.

    A file with grades alone is judgments beside files with scores. Where relevance is elsewhere, or no file has
    scores, `GRADES` are scores, and so is a column of grades in which files disagree. Of other columns,
    relevance is the one of whole numbers that all files share, or else the one of zeros and ones.

    Args:
        contents: what each file holds, by the names of its columns.
        read: reads a file with other columns.
        judged: whether judgments are given apart.
        has_run: whether a file is a run even if it is alone.

    Raises:
        RolesError: several readings are left, or the values contradict the names.
    """
    has_scores = any(isinstance(file, Source) and file.kind == "run" for file in contents)
    unscored = [place for place, file in enumerate(contents) if not _has_scores(file)]
    grades = {place: name for place in unscored if (name := _mapping(contents[place]).get("relevance"))}
    further = {place: _further(contents[place]) for place in unscored}
    scores = {
        place: name
        for place, name in grades.items()
        if normalised(name) in GRADES or not (has_scores or _agree(contents, name))
    }
    truths = {
        place
        for place in grades.keys() - scores.keys()
        if scores or len(grades) < len(unscored) or not further[place]
    }
    roles: dict[int, dict[str, str]] = {}
    is_open = not (judged or has_scores or truths)
    if is_open and any(further.values()):
        roles = _roles_among(contents, {place: further[place] for place in unscored}, read, has_run=has_run)
    if judged or truths or (is_open and (has_run or len(contents) > 1)):
        alone = {place: {"score": name, "relevance": ""} for place, name in scores.items()}
        roles = {**alone, **roles}
    if not judged:
        _refuse_contradiction(contents)
    if judged or truths:
        roles |= _only_numbers({place: further[place] for place in unscored if place not in grades}, read)
    return roles


def _only_numbers(further: Mapping[int, list[str]], read: Reader) -> dict[int, dict[str, str]]:
    """Return the columns of scores of files that have a single column of numbers, and no grades."""
    roles = {}
    for place, names in further.items():
        choices = [{"score": name} for name in names[: _MOST_ASKED + 1]]
        numbers = [columns for columns in choices if isinstance(read(place, columns), Source)]
        if len(numbers) == 1:
            roles[place] = numbers[0]
    return roles


def _mapping(file: Content) -> Mapping[str, str]:
    return file.mapping if isinstance(file, Source | ReadError) else {}


def _has_scores(file: Content) -> bool:
    return not {"score", "rank"}.isdisjoint(_mapping(file)) or not isinstance(file, Source | ReadError)


def _further(file: Content) -> list[str]:
    """Return the columns of a file without scores that names do not tell, and that may be numbers."""
    names: Sequence[str] = []
    if isinstance(file, Source):
        names = [name for name in file.table.column_names if name not in BY_NAME]
    elif isinstance(file, ReadError) and {"query_id", "doc_id"} <= file.mapping.keys():
        names = [name for name in file.header if name not in file.mapping.values()]
    return [name for name in names if not is_distance(name)]


def _agree(contents: Sequence[Content], name: str) -> bool:
    """Return whether the files with this column of grades give each document one grade."""
    files = [file for file in contents if isinstance(file, Source) and file.mapping.get("relevance") == name]
    return _is_shared([file.table for file in files if file.kind == "qrels"], "relevance") is not False


def _is_shared(tables: Sequence[pa.Table], column: str) -> bool | None:
    """Return whether files give a column one value for each document; None if they share no document."""
    if len(tables) < 2:  # noqa: PLR2004 files to compare
        return None
    keys = ["query_id", "doc_id"]
    parts = [
        pa.table({key: table[key].cast(pa.string()) for key in keys} | {"value": table[column]})
        for table in tables
    ]
    groups = (
        pa.concat_tables(parts).group_by(keys).aggregate([("value", each) for each in ("min", "max", "count")])
    )
    groups = groups.filter(pc.greater(groups["value_count"], 1))
    return pc.all(pc.equal(groups["value_min"], groups["value_max"])).as_py() if len(groups) else None


def _refuse_contradiction(contents: Sequence[Content]) -> None:
    """Raise a RolesError if files agree on what their names call scores, and disagree on the relevance."""
    places = [
        place
        for place, file in enumerate(contents)
        if normalised(_mapping(file).get("score", "")) in GRADES and "relevance" in _mapping(file)
    ]
    files = [file for place in places if isinstance(file := contents[place], Source)]
    names = {(file.mapping["score"], file.mapping["relevance"]) for file in files}
    judged = [(file.judgments or file).table for file in files]
    if len(names) != 1 or not all("relevance" in table.column_names for table in judged):
        return
    if _is_shared(judged, "relevance") is False and _is_shared([file.table for file in files], "score"):
        pair = names.pop()
        values = dict(zip(pair, (files[0].table["score"], judged[0]["relevance"]), strict=True))
        raise _question(files, places, list(permutations(pair)), values)


def _roles_among(
    contents: Sequence[Content], further: Mapping[int, list[str]], read: Reader, *, has_run: bool
) -> dict[int, dict[str, str]]:
    """Return the roles of the columns of files that have no scores by name; the same in all of them."""
    places = list(further)
    named = {_mapping(contents[place]).get("relevance") for place in places}
    truth = named.pop()
    shared = [name for name in further[places[0]] if all(name in names for names in further.values())]
    is_rated_twice = len(GRADES.intersection(map(normalised, [truth or "", *shared]))) > 1
    is_run = truth is None or has_run or len(places) > 1 or is_rated_twice
    if named or len(shared) > _MOST_ASKED or not is_run:
        return {}
    files: dict[str, list[Source]] = {}
    for name in [*shared, *([truth] if truth else [])]:
        sources = [read(place, {"score": name, "relevance": ""}) for place in places]
        sources_read = [source for source in sources if isinstance(source, Source)]
        if len(sources_read) == len(places):
            files[name] = sources_read
    if truth is None or normalised(truth) in GRADES or any("relevance" in recognise([name]) for name in shared):
        relevances = _relevances(files)
        if relevances == [truth] and not is_rated_twice:
            return {}
    else:
        relevances = [truth]
    pairs = [pair for pair in permutations(dict.fromkeys([*files, *relevances]), 2) if pair[1] in relevances]
    if len(pairs) == 1:
        return {place: dict(zip(("score", "relevance"), pairs[0], strict=True)) for place in places}
    if not 1 < len(pairs) <= _MOST_ASKED:
        return {}
    values = {name: of_files[0].table["score"] for name, of_files in files.items()}
    raise _question(next(iter(files.values())), places, pairs, values)


def _relevances(files: Mapping[str, Sequence[Source]]) -> list[str]:
    """Return the columns that may be relevance: of grades, the one that files share or the one of 0 and 1."""
    tables = {name: [file.table for file in of_files] for name, of_files in files.items()}
    values = {name: pc.unique(pa.concat_tables(parts)["score"]) for name, parts in tables.items()}
    grades = [
        name
        for name, distinct in values.items()
        if len(distinct) > 1 and pc.all(pc.is_in(distinct, _WHOLE)).as_py()
    ]
    shared = [name for name in grades if _is_shared(tables[name], "score")]
    binary = [name for name in shared or grades if len(values[name]) == 2 and pc.max(values[name]).as_py() == 1]  # noqa: PLR2004
    return next((names for names in (shared, binary) if len(names) == 1), grades)


def _question(
    files: Sequence[Source],
    places: Sequence[int],
    pairs: Sequence[tuple[str, ...]],
    values: Mapping[str, pa.ChunkedArray],
) -> RolesError:
    first, second = (values[name] for name in pairs[0])
    row = max(pc.index(pc.not_equal(first, second), value=True).as_py(), 0) if len(first) == len(second) else 0
    query, document = (files[0].table[name][row].as_py() for name in ("query_id", "doc_id"))
    readings = [
        Reading(
            score,
            relevance,
            f"document {document} of query {query}: score {values[score][row].as_py():g}, "
            f"relevance {values[relevance][row].as_py():g}",
        )
        for score, relevance in pairs
    ]
    return RolesError([file.file for file in files], readings, places)
