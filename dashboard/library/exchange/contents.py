"""What a board file says of its board, as JSON; checked field by field, for anybody may have written it."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    Strict,
    TypeAdapter,
    ValidationError,
    with_config,
)

from dashboard.library.boards import MOST_FILES
from dashboard.library.names import clean, file_name
from dashboard.library.storage.stored_upload import MISSING_SCORE, Reading
from metrics.errors import ReadError
from metrics.runs import COLUMNS, FORMATS, KINDS, Repeated
from metrics.runs.columns import MAX_COLUMNS
from metrics.runs.files import MAX_BYTES
from metrics.runs.findings import Severity

ENTRY = "board.json"
"""Name of the JSON inside the file."""
MOST_BYTES = 10**6
"""Largest JSON read or written, in bytes."""
MOST_PARQUET_BYTES = MAX_BYTES - 2 * MOST_BYTES
"""Bytes of all Parquet files of a board together, so that plain zip can hold them."""
AGAIN = "Have the board exported again."
"""What to do about a board file that cannot be read."""

_FORMAT, _VERSION = "tiescope-board", 1
_LARGEST = 2**53
"""Every program can hold whole numbers up to this."""
_T = TypeVar("_T")
_MOST_SETTINGS, _MOST_FINDINGS = 100, 10_000
_EXACT = ConfigDict(extra="forbid", allow_inf_nan=False)


def _check(is_valid: Callable[[Any], bool]) -> AfterValidator:
    """Return a validator that refuses values for which a condition does not hold."""

    def validate(value: Any) -> Any:  # noqa: ANN401 whatever the field holds
        if not is_valid(value):
            raise ValueError("not as TieScope writes it")
        return value

    return AfterValidator(validate)


_Text = Annotated[str, Strict(), _check(lambda text: text.encode() is not None)]
"""Whole letters: half of one cannot be encoded, which is a ValueError."""
_Name = Annotated[_Text, _check(lambda text: clean(text) == text)]
_Sha256 = Annotated[_Text, _check(re.compile(r"[0-9a-f]{64}").fullmatch)]
_WholeNumber = Annotated[int, Strict(), Field(ge=0, le=_LARGEST)]
_Column = Annotated[_Text, _check({column.name for column in COLUMNS}.__contains__)]
_Choice = Annotated[_Text, _check({MISSING_SCORE, *(column.name for column in COLUMNS)}.__contains__)]
_has_own_keys = _check(lambda pairs: len(dict(pairs)) == len(pairs))
_SettingText = Annotated[_Text, _check(lambda text: "\0" not in text)]
_Setting = (
    Annotated[bool, Strict()]
    | Annotated[int, Strict(), Field(ge=-_LARGEST, le=_LARGEST)]
    | Annotated[float, Strict(), Field(ge=-_LARGEST, le=_LARGEST)]
    | _SettingText
    | list[_SettingText]
)
View = Mapping[str, str | int | float | bool | list[str]]
"""Key of a control → its value."""


class _Finding(BaseModel):
    """A finding as `Reading.to_json` writes it."""

    model_config = _EXACT
    severity: Severity
    code: Annotated[_Text, _check({kind.code for kind in KINDS}.__contains__)]
    file: _Text
    line: _WholeNumber | None
    message: _Text
    hint: _Text
    count: _WholeNumber


class _Reading(BaseModel):
    """A reading as `Reading.to_json` writes it."""

    model_config = _EXACT
    format: Annotated[_Text, _check({known.name for known in FORMATS}.__contains__)]
    mapping: Annotated[dict[_Column, _Text], _check(lambda mapping: len({*mapping.values()}) == len(mapping))]
    header: Annotated[list[_Text], Field(max_length=MAX_COLUMNS)]
    unit: Literal["line", "row", "record", "entry"]
    first: _WholeNumber
    noted: Annotated[list[_Finding], Field(max_length=_MOST_FINDINGS)]


def _load_reading(plain: object) -> Reading:
    return Reading.from_json(_Reading.model_validate(plain).model_dump())


@with_config(_EXACT)
@dataclass(frozen=True)
class Item:
    """An upload of the board.

    Attributes:
        name: of the file.
        sha256: of the bytes as they were uploaded.
        size: how many they were.
        columns: what the user chose: our column and the file's.
        reading: what they were read as.
        parquet: sha256 of the Parquet.
    """

    name: Annotated[_Text, _check(lambda text: file_name(text) == text)]
    sha256: _Sha256
    size: _WholeNumber
    columns: Annotated[tuple[tuple[_Choice, _Text], ...], _has_own_keys]
    reading: Annotated[Reading, PlainValidator(_load_reading)]
    parquet: _Sha256


@with_config(_EXACT)
@dataclass(frozen=True)
class Contents:
    """A board, but for the Parquet of its uploads; see `BoardSpec` and `Record` for the attributes."""

    name: _Name
    repeated: Repeated
    names: Annotated[tuple[tuple[_Text, _Text], ...], _has_own_keys] | None
    view: Annotated[dict[_Name, _Setting], Field(max_length=_MOST_SETTINGS)]
    files: Annotated[tuple[Item, ...], Field(max_length=MOST_FILES)]

    def written(self) -> bytes:
        """Return the JSON; the same contents give the same bytes."""
        plain = {"format": _FORMAT, "version": _VERSION, **asdict(self)}
        plain["name"] = clean(self.name)
        for item in plain["files"]:
            item["name"] = file_name(item["name"])
        text = json.dumps(plain, ensure_ascii=False, allow_nan=False, indent=1, sort_keys=True)
        return text.encode("utf-8", "replace")


def read_contents(file: str, text: bytes) -> Contents:
    """Read the JSON of a board file of a name; ReadError where it is not as `Contents.written` writes it."""
    try:
        plain = json.loads(text.decode(), object_pairs_hook=_object)
    except (ValueError, RecursionError) as error:
        raise ReadError(file, f"{ENTRY} inside is damaged", AGAIN) from error
    if not isinstance(plain, dict) or plain.pop("format", None) != _FORMAT:
        raise ReadError(file, f"{ENTRY} is not that of a board", AGAIN)
    version = _validated(file, TypeAdapter(_WholeNumber), plain.pop("version", None), "version")
    if version > _VERSION:
        problem = f"it was written by a newer TieScope (format {version}; this one knows {_VERSION})"
        raise ReadError(file, problem, "Update TieScope.")
    return _validated(file, _contents(), plain)


@cache
def _contents() -> TypeAdapter[Contents]:
    return TypeAdapter(Contents)


def _validated(file: str, adapter: TypeAdapter[_T], plain: object, place: str = "") -> _T:
    try:
        return adapter.validate_python(plain)
    except ValidationError as error:
        raise ReadError(
            file, f"{place or _place(error)} in {ENTRY} is not as TieScope writes it", AGAIN
        ) from error


def _place(error: ValidationError) -> str:
    """Return where the first value stands that is refused, as a message says it."""
    first = error.errors(include_input=False)[0]
    is_field_wrong = first["type"] in ("missing", "unexpected_keyword_argument")
    match first["loc"][:-1] if is_field_wrong else first["loc"]:
        case ("files", int(position), str(name), *_):
            return f"{name} of files[{position}]"
        case ("files", int(position), *_):
            return f"files[{position}]"
        case (name, *_):
            return str(name)
    return "a field"


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError("a key stands twice")
    return fields
