"""What a board file says of its board, as JSON; checked field by field, for anybody may have written it."""

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, NoReturn

from dashboard.library.boards import MOST_FILES, Columns
from dashboard.library.names import clean, file_name
from dashboard.library.storage.stored_upload import Reading
from metrics.errors import ReadError
from metrics.runs import COLUMNS, FORMATS, KINDS, Repeated
from metrics.runs.findings import Finding
from metrics.runs.reading.columns import MAX_COLUMNS

ENTRY = "board.json"
"""Name of the JSON inside the file."""
MOST_BYTES = 10**6
"""Largest JSON read or written, in bytes."""
AGAIN = "Have the board exported again."
"""What to do about a board file that cannot be read."""
View = Mapping[str, str | int | float | bool | list[str]]
"""Key of a control → its value."""

_FORMAT, _VERSION = "tiescope-board", 1
_LARGEST = 2**53
_MOST_VIEW, _MOST_NOTED = 100, 10_000
_UNITS = ("line", "row", "record", "entry")
_SEVERITIES = ("error", "warning", "info")
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Item:
    """An upload of the board.

    Attributes:
        name: of the file.
        sha256: of the bytes as they were uploaded.
        size: how many they were.
        columns: what the user chose.
        reading: what they were read as.
        parquet: sha256 of the Parquet.
    """

    name: str
    sha256: str
    size: int
    columns: Columns
    reading: Reading
    parquet: str


@dataclass(frozen=True)
class Contents:
    """A board, but for the Parquet of its uploads; see `BoardSpec` and `Record` for the attributes."""

    name: str
    repeated: Repeated
    names: tuple[tuple[str, str], ...] | None
    view: View
    files: tuple[Item, ...]

    def written(self) -> bytes:
        """As JSON; the same contents give the same bytes."""
        plain = {"format": _FORMAT, "version": _VERSION, **asdict(self)}
        plain["name"] = clean(self.name)
        for one in plain["files"]:
            one["name"] = file_name(one["name"])
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True)
        return text.encode("utf-8", "replace")


def read_contents(file: str, text: bytes) -> Contents:
    """What the JSON of a board file says.

    Args:
        file: name of the board file.
        text: the JSON.

    Raises:
        ReadError: it is not as `Contents.written` writes it.
    """
    check = _Check(file)
    given = check.json(text)
    if not isinstance(given, dict) or given.get("format") != _FORMAT:
        raise ReadError(file, f"{ENTRY} is not that of a board", AGAIN)
    version = check.whole(given.get("version"), "version")
    if version > _VERSION:
        problem = f"it was written by a newer TieScope (format {version}; this one knows {_VERSION})"
        raise ReadError(file, problem, "Update TieScope.")
    check.fields(given, "a field", {"format", "version", *Contents.__dataclass_fields__})
    names = given["names"]
    return Contents(
        check.name(given["name"], "name"),
        check.among(given["repeated"], "repeated", ("error", "first", "max")),
        None if names is None else check.pairs(names, "names"),
        check.view(given["view"]),
        tuple(
            check.item(one, f"files[{at}]")
            for at, one in enumerate(check.items(given["files"], "files", MOST_FILES))
        ),
    )


class _Check:
    """Checks of values that came from somebody; each gives the value back, or raises a ReadError."""

    def __init__(self, file: str) -> None:
        self._file = file

    def refuse(self, where: str) -> NoReturn:
        raise ReadError(self._file, f"{where} in {ENTRY} is not as TieScope writes it", AGAIN)

    def json(self, text: bytes) -> Any:  # noqa: ANN401 whatever it holds
        try:
            return json.loads(text.decode(), object_pairs_hook=_once)
        except (ValueError, RecursionError) as error:
            raise ReadError(self._file, f"{ENTRY} inside is damaged", AGAIN) from error

    def fields(self, value: Any, where: str, names: set[str]) -> None:  # noqa: ANN401 here and below
        if not isinstance(value, dict) or value.keys() != names:
            self.refuse(where)

    def items(self, value: Any, where: str, most: int) -> list[Any]:  # noqa: ANN401
        if not isinstance(value, list) or len(value) > most:
            self.refuse(where)
        return value

    def text(self, value: Any, where: str) -> str:  # noqa: ANN401
        if not isinstance(value, str) or not _is_whole_text(value):
            self.refuse(where)
        return value

    def name(self, value: Any, where: str) -> str:  # noqa: ANN401
        if clean(self.text(value, where)) != value:
            self.refuse(where)
        return str(value)

    def file_name(self, value: Any, where: str) -> str:  # noqa: ANN401
        if file_name(self.text(value, where)) != value:
            self.refuse(where)
        return str(value)

    def among(self, value: Any, where: str, known: tuple[str, ...]) -> Any:  # noqa: ANN401
        if not isinstance(value, str) or value not in known:
            self.refuse(where)
        return value

    def sha256(self, value: Any, where: str) -> str:  # noqa: ANN401
        if not isinstance(value, str) or not _SHA256.fullmatch(value):
            self.refuse(where)
        return value

    def whole(self, value: Any, where: str) -> int:  # noqa: ANN401
        if type(value) is not int or not 0 <= value <= _LARGEST:
            self.refuse(where)
        return value

    def pairs(self, value: Any, where: str) -> tuple[tuple[str, str], ...]:  # noqa: ANN401
        found = [self.items(one, where, 2) for one in self.items(value, where, MOST_BYTES)]
        if any(len(one) != len(("ours", "theirs")) for one in found):
            self.refuse(where)
        pairs = tuple((self.text(one[0], where), self.text(one[1], where)) for one in found)
        if len(dict(pairs)) < len(pairs):
            self.refuse(where)
        return pairs

    def view(self, value: Any) -> View:  # noqa: ANN401
        if not isinstance(value, dict) or len(value) > _MOST_VIEW:
            self.refuse("view")
        for key, one in value.items():
            self.name(key, "view")
            texts = one if isinstance(one, list) else [one] if isinstance(one, str) else []
            for text in texts:
                if "\0" in self.text(text, "view"):
                    self.refuse("view")
            if not isinstance(one, str | list | bool | int | float) or not _is_usual(one):
                self.refuse("view")
        return value

    def item(self, value: Any, where: str) -> Item:  # noqa: ANN401
        self.fields(value, where, set(Item.__dataclass_fields__))
        columns = self.pairs(value["columns"], f"columns of {where}")
        for ours, _ in columns:
            self.among(ours, f"columns of {where}", _OURS)
        return Item(
            self.file_name(value["name"], f"name of {where}"),
            self.sha256(value["sha256"], f"sha256 of {where}"),
            self.whole(value["size"], f"size of {where}"),
            columns,
            self.reading(value["reading"], f"reading of {where}"),
            self.sha256(value["parquet"], f"parquet of {where}"),
        )

    def reading(self, value: Any, where: str) -> Reading:  # noqa: ANN401
        self.fields(value, where, set(Reading.__dataclass_fields__))
        self.among(value["format"], where, tuple(one.name for one in FORMATS))
        self.among(value["unit"], where, _UNITS)
        self.whole(value["first"], where)
        for name in self.items(value["header"], where, MAX_COLUMNS):
            self.text(name, where)
        if not isinstance(value["mapping"], dict):
            self.refuse(where)
        for ours, theirs in value["mapping"].items():
            self.among(ours, where, _OURS)
            self.text(theirs, where)
        if len(set(value["mapping"].values())) < len(value["mapping"]):
            self.refuse(where)
        for one in self.items(value["noted"], where, _MOST_NOTED):
            self.finding(one, where)
        return Reading.loaded(value)

    def finding(self, value: Any, where: str) -> None:  # noqa: ANN401
        self.fields(value, where, set(Finding.__dataclass_fields__))
        self.among(value["severity"], where, _SEVERITIES)
        self.among(value["code"], where, _CODES)
        for name in ("file", "message", "hint"):
            self.text(value[name], where)
        self.whole(value["count"], where)
        if value["line"] is not None:
            self.whole(value["line"], where)


_OURS = tuple(column.name for column in COLUMNS)
_CODES = tuple(kind.code for kind in KINDS)


def _is_whole_text(text: str) -> bool:
    """Whether there is no half of a letter in it."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _is_usual(value: object) -> bool:
    """Whether a number is one that every program can hold."""
    return not isinstance(value, int | float) or abs(value) <= _LARGEST


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found
