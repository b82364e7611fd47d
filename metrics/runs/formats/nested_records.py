"""Records inside records: fields get dotted names, and each object of an array a row of its own."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from metrics.errors import ReadError
from metrics.runs.findings import Finding, make_finding
from metrics.runs.reading.columns import ColumnChoice, recognise
from metrics.runs.reading.provenance import FileProvenance
from metrics.support.cached import cached_property
from metrics.support.wording import describe_part

Record = Mapping[str, object]
MAX_VALUES = 50_000_000
"""Most values of a JSON file: counted before any is parsed, and again as rows repeat those of a record."""


@dataclass(frozen=True)
class FlatRecords:
    """Rows made of records.

    Attributes:
        rows: column → value, of each row.
        origin: the file, and the line of a row.
        usual: our column → the one it is read from where nothing else is chosen: fields of opened arrays.
        noted: what was left out on the way.
    """

    rows: Sequence[Record]
    origin: FileProvenance
    usual: Mapping[str, str]
    noted: tuple[Finding, ...] = ()

    @cached_property
    def header(self) -> list[str]:
        """Names of all columns, in order of appearance."""
        return list(dict.fromkeys(chain.from_iterable(self.rows)))


def flatten(
    records: Sequence[Record], origin: FileProvenance, choice: ColumnChoice, *, always: bool = False
) -> FlatRecords:
    """Return the rows that records hold; as they are where their own fields hold all that is read.

    `{"q": {"id": 7}}` has the column `q.id`; of `{"q": 7, "hits": [{"d": 1}, {"d": 2}]}` each hit is a row with
    `q` and `hits.d`. An array is opened where a column is read from it.

    Args:
        records: as the file holds them.
        origin: the file, and the line of a record.
        choice: columns the user chose, perhaps by dotted names.
        always: whether objects are opened even where they hold nothing that has to be read.

    Raises:
        ReadError: it is not clear which of several arrays holds the documents.
    """
    flat = FlatRecords(records, origin, {})
    if not always and _is_complete(flat, choice):
        return flat
    flat = replace(flat, rows=[dict(leaf_fields(record)) for record in records])
    while not _is_complete(flat, choice) and (array := _array_to_open(flat, choice)):
        flat = _open_array(flat, array)
    return flat


def _is_complete(flat: FlatRecords, choice: ColumnChoice) -> bool:
    """Return whether all columns that were chosen, and those of a run or judgments, are there."""
    header = flat.header
    if any("." in theirs and theirs not in header for theirs in choice.columns.values()):
        return False
    mapping = recognise(header, replace(choice, strict=False).among(header, flat.usual))
    return {"query_id", "doc_id"} <= mapping.keys() and bool({"score", "relevance"} & mapping.keys())


def leaf_fields(record: Record, prefix: str = "") -> Iterator[tuple[str, object]]:
    """Yield the fields of a record and of the objects in it, by dotted names."""
    for name, value in record.items():
        if isinstance(value, dict):
            yield from leaf_fields(value, f"{prefix}{name}.")
        else:
            yield prefix + name, value


def _array_to_open(flat: FlatRecords, choice: ColumnChoice) -> str | None:
    """Return the array of objects to read columns from, None without any; a ReadError where none is chosen."""
    arrays: dict[str, set[str]] = {}
    for row in flat.rows:
        for name, value in row.items():
            if isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
                arrays.setdefault(name, set()).update(chain.from_iterable(value))
    for theirs in choice.columns.values():
        if theirs not in flat.header:
            for name in arrays:
                if theirs.startswith(f"{name}."):
                    return name
    candidates = [name for name, fields in arrays.items() if "doc_id" in recognise(list(fields))] or [*arrays]
    if len(candidates) > 1:
        problem = f"several arrays may hold the documents: {', '.join(candidates)}"
        raise ReadError(
            flat.origin.file, problem, f"Choose a column by its dotted name: doc_id={candidates[0]}.NAME."
        )
    return candidates[0] if candidates else None


def _open_array(flat: FlatRecords, array: str) -> FlatRecords:
    """Return the rows with each object of an array in a row of its own; those without any are left out."""
    rows: list[Record] = []
    owners: list[int] = []
    n_empty = n_values = 0
    for number, row in enumerate(flat.rows):
        entries = row.get(array)
        outer = {name: value for name, value in row.items() if name != array}
        inner = entries if isinstance(entries, list) else []
        if not all(isinstance(entry, dict) for entry in inner):
            raise flat.origin.error(number, f"{array} holds more than objects", "Give an object a document.")
        n_values += len(outer) * len(inner)
        if n_values > MAX_VALUES:
            problem = f"the documents in {array} would repeat more than {MAX_VALUES:,} values of their records"
            raise flat.origin.error(number, problem, "Leave out fields that are not needed, or write Parquet.")
        rows += [outer | dict(leaf_fields(entry, f"{array}.")) for entry in inner]
        owners += [number] * len(inner)
        n_empty += not inner
    before = flat.origin.line_of
    origin = replace(flat.origin, line_of=lambda row: before(owners[row]))
    fields = dict.fromkeys(name for row in rows for name in row if name.startswith(f"{array}."))
    leaves = {name.removeprefix(f"{array}."): name for name in fields}
    inside = {ours: leaves[leaf] for ours, leaf in recognise(list(leaves)).items()}
    usual = {**flat.usual, **inside}
    noted = flat.noted
    if n_empty:
        message = f"{describe_part(n_empty, len(flat.rows), 'record', f'have nothing in {array}')}."
        noted = (*noted, make_finding("records-empty", origin.file, message, count=n_empty))
    return FlatRecords(rows, origin, usual, noted)
