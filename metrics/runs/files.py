"""From a path or an upload to a stream of unpacked bytes or single-spaced text, within a limit."""

import errno
import io
import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from io import BytesIO
from itertools import islice
from math import inf
from pathlib import Path, PurePath
from stat import S_ISDIR, S_ISREG
from typing import IO, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from metrics.errors import ReadError, UsageError, needs
from metrics.runs.named_judgments import PREFIX, read_named_judgments
from metrics.support.arrays import IntArray
from metrics.support.cached import cached_property

MAX_BYTES = 2 * 2**30
"""Largest file, unpacked, unless the environment sets another limit."""
MAX_FILE = "TIESCOPE_MAX_FILE_MB"
_MOST_DIGITS = 12
MAX_GROWTH, FREE_BYTES = 100, 2**28
"""Files may unpack to so many times their own size, or to so many bytes.

Runs and tables grow at most 60 times. Files made to fill the memory grow 400 times and more.
"""
_UNCOUNTED_BYTES = 2**26
"""Bytes that are read before a packed file is counted to its end."""
BLOCK = 2**17
"""Bytes read at once; larger blocks are not faster and hold more memory."""

_HEAD = 65536
_BINARY_KINDS = {b"\x89PNG": "a PNG picture", b"%PDF": "a PDF", b"PK\x03\x04": "a ZIP or Excel file"}
_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_SUFFIXES = {
    *(".gz", ".zst", ".trec", ".run", ".txt", ".csv", ".tsv", ".qrels", ".res"),
    *(".json", ".jsonl", ".ndjson", ".parquet"),
}
STDIN = Path("/dev/stdin")
"""What `-` stands for; a file of that name is `./-`."""
_OPEN_ALREADY = re.compile(r"/dev/(stdin|fd/\d+)|/proc/(self|\d+)/fd/\d+")
"""Standard input and the shell's <(command): pipes that already have a writer."""
_NO_FILE = "not a regular file"
_BOM = b"\xef\xbb\xbf"
_NO_TEXT = re.compile("[\ud800-\udfff]")
"""Bytes of a file name that are not UTF-8."""


def byte_limit(variable: str, default: int) -> int:
    """Return the megabytes that a variable sets, in bytes; a UsageError unless it is a whole number."""
    text = os.environ.get(variable)
    if not text:
        return default
    if not (text.isascii() and text.isdecimal() and len(text) <= _MOST_DIGITS):
        raise UsageError(f"{variable} is {text[:40]!r}. Give a whole number of megabytes.")
    return int(text) * 10**6


def place_of(path: str | PurePath) -> Path:
    """Return a path on disk, or for URLs that fsspec opens (`s3://`, `https://`, `memory://` ...) a `UPath`.

    Raises:
        MissingPackageError: a URL, without the extra `distributed`.
        ReadError: no installed package opens such URLs.
    """
    if "://" not in str(path):
        return Path(path)
    with needs("distributed"):
        from upath import UPath  # noqa: PLC0415 of an extra
    try:
        return cast("Path", UPath(path))
    except (ImportError, ValueError) as error:
        hint = "Install the package that opens them."
        raise ReadError(str(path), f"such URLs cannot be opened ({error})", hint) from error


@dataclass(frozen=True)
class File:
    """A file, packed or not.

    Attributes:
        name: as the user knows it, with � for bytes that are not text.
        data: its bytes, or its path.
    """

    name: str
    data: bytes | Path

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", _NO_TEXT.sub("\N{REPLACEMENT CHARACTER}", self.name))

    @classmethod
    def open(cls, path: str | PurePath) -> "File":
        """Return a file on disk or at a URL, read when needed; reads pipes and standard input (`-`) at once.

        `ir_datasets:NAME` names the judgments of a dataset in the ir_datasets cache.

        Raises:
            ReadError: there is no such file, or it cannot be opened.
            MissingPackageError: a URL, without the extra `distributed`.
            UsageError: the environment's limit is not a number.
        """
        if (text := path if isinstance(path, str) else path.as_posix()).startswith(PREFIX):
            return cls(text, read_named_judgments(text.removeprefix(PREFIX)))
        place = STDIN if str(path) == "-" else place_of(path)
        limit = byte_limit(MAX_FILE, MAX_BYTES)
        try:
            with _open_to_read(place) as stream:
                data = place if place.is_file() else read_within(stream, limit)
            return cls(place.name, data)
        except ImportError as error:
            problem = f"a package that opens it is missing ({error})"
            raise ReadError(str(path), problem, "Install it.") from error
        except (OSError, ValueError) as error:
            raise ReadError(str(path) or "''", _reason(error), "Check the path.") from error

    @property
    def stem(self) -> str:
        """Name without folder and known suffixes (`llm` for `llm.trec.gz`)."""
        path = PurePath(self.name.replace("\\", "/"))
        while path.suffix.lower() in _SUFFIXES and path.stem:
            path = path.with_suffix("")
        return path.name

    @cached_property
    def size(self) -> int:
        """Bytes as given; a ReadError if the file no longer exists."""
        with self.given() as stream:
            return int(stream.size())

    @cached_property
    def sha256(self) -> str:
        """Hash of the bytes as given."""
        digest = sha256()
        with self.given() as stream:
            while block := stream.read(BLOCK):
                digest.update(block)
        return digest.hexdigest()

    def blocks(self) -> Iterator[bytes]:
        """Yield the unpacked bytes without a byte order mark, never more than the limit."""
        total, expected = 0, min(_UNCOUNTED_BYTES, self.limit)
        for block in self._unpack():
            total += len(block)
            if total > expected:
                expected = self.unpacked_size
            yield block.removeprefix(_BOM) if total == len(block) else block

    @cached_property
    def limit(self) -> float:
        """Most bytes that the file may unpack to."""
        return min(byte_limit(MAX_FILE, MAX_BYTES), max(FREE_BYTES, MAX_GROWTH * self.size))

    def refuse_too_large(self, size: int) -> None:
        """Raise a ReadError if so many unpacked bytes exceed the limit."""
        if size <= self.limit:
            return
        if self.limit == byte_limit(MAX_FILE, MAX_BYTES):
            problem = f"larger than {self.limit / 2**30:.3g} GB unpacked"
            raise ReadError(self.name, problem, "Split it by query.")
        problem = f"its {self.size:,} bytes unpack to more than {self.limit / 10**6:,.0f} MB"
        raise ReadError(self.name, problem, "Unpack it and give the plain file.")

    @cached_property
    def unpacked_size(self) -> float:
        """Unpacked bytes, counted without keeping them; infinity for files without a limit."""
        if self.limit == inf:
            return inf
        if not self.packed:
            self.refuse_too_large(self.size)
            return self.size
        total = 0
        for block in self._unpack():
            total += len(block)
            self.refuse_too_large(total)
        return total

    def unpacks_to(self, size: int) -> bool:
        """Return whether the file unpacks to so many bytes; reads no further."""
        total = 0
        return any((total := total + len(block)) >= size for block in self._unpack())

    def _unpack(self) -> Iterator[bytes]:
        kind = self.packed
        try:
            with self.given() as raw, pa.input_stream(raw, compression=kind) as stream:
                while block := stream.read_buffer(BLOCK).to_pybytes():  # read() loses its memory where it fails
                    yield block
        except (OSError, pa.ArrowInvalid) as error:
            problem = f"damaged {kind} file" if kind else str(error)
            raise ReadError(self.name, problem, "Pack it again." if kind else "Check the disk.") from error

    @cached_property
    def head(self) -> bytes:
        """The first bytes from the first line that is not blank, for recognition of the format."""
        head = b""
        for block in self.blocks():
            head += block
            n_blank = len(head) - len(head.lstrip())
            head = head[head.rfind(b"\n", 0, n_blank) + 1 :]
            if len(head) >= _HEAD:
                break
        if not head.strip():
            raise ReadError(self.name, "the file is empty", "Export it again and check its size.")
        return head[:_HEAD]

    def given(self) -> pa.NativeFile:
        """Open the bytes as given; a ReadError if the file no longer exists."""
        if isinstance(self.data, bytes):
            return pa.BufferReader(self.data)
        try:
            stream = _open_to_read(self.data)
        except FileNotFoundError as error:
            raise ReadError(self.name, "the file no longer exists", "Check the path.") from error
        except OSError as error:
            raise ReadError(self.name, _reason(error), "Check the path.") from error
        return pa.PythonFile(stream, mode="r")  # numpy can reuse the memory of its blocks

    @cached_property
    def packed(self) -> str | None:
        """`gzip` or `zstd`; None if the file is not packed."""
        with self.given() as stream:
            start = stream.read(4)
        return next((name for magic, name in _COMPRESSIONS.items() if start.startswith(magic)), None)

    def refuse_binary(self, hint: str = "Give a TREC run, qrels, a CSV or TSV table, JSON or Parquet.") -> None:
        """Raise a ReadError if the file is not UTF-8 text."""
        head = self.head
        if head.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise ReadError(self.name, "the text is UTF-16", "Save it as UTF-8.", line=1)
        kind = _BINARY_KINDS.get(head[:4], "a binary file" if b"\x00" in head else "")
        if kind:
            raise ReadError(self.name, f"this is {kind}, not a table", hint, line=1)


def read_within(stream: IO[bytes], limit: int) -> bytes:
    """Return all bytes of a stream, or a little more than the limit."""
    data = BytesIO()  # a list of blocks would have to be joined, and held twice
    while data.tell() <= limit and (block := stream.read(BLOCK)):
        data.write(block)
    return data.getvalue()


def _open_to_read(place: Path) -> IO[bytes]:
    """Open a file; reject named pipes, devices and sockets, which may block forever."""
    if hasattr(place, "__fspath__"):
        return open(place, "rb", 0, opener=_open_at_once)
    return place.open("rb", buffering=0)  # of a URL


def _open_at_once(name: str, flags: int) -> int:
    descriptor = os.open(name, flags | os.O_NONBLOCK)
    kind = os.fstat(descriptor).st_mode
    if S_ISREG(kind) or S_ISDIR(kind) or _OPEN_ALREADY.fullmatch(os.fspath(name)):
        os.set_blocking(descriptor, True)
        return descriptor
    os.close(descriptor)
    raise OSError(errno.ENXIO, _NO_FILE)


def _reason(error: Exception) -> str:
    if isinstance(error, OSError) and error.errno == errno.ENXIO:  # also for a socket
        return _NO_FILE
    return (getattr(error, "strerror", None) or "cannot be opened").lower()


MAX_LINE = 2**24
"""Longest line, in bytes."""
_SPACE = ord(" ")
_TO_SPACES = bytes.maketrans(b"\t\v\f", b"   ")


class BlockStream(io.RawIOBase):
    """A binary stream over blocks of bytes, read once from the first to the last."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self._unread = memoryview(b"")

    def readable(self) -> bool:
        """Return True."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return `size` bytes, fewer at the end, and one fewer instead of a carriage return as the last.

        After a block that ends with a carriage return, pyarrow drops a line feed, even in quotes.
        """
        if size < 0:
            return super().read(size) or b""
        pieces = []
        while size:
            if not self._unread:
                block = next(self._blocks, None)
                if block is None:
                    break
                self._unread = memoryview(block)
            pieces.append(self._unread[:size])
            size, self._unread = size - len(pieces[-1]), self._unread[size:]
        data = b"".join(pieces)
        if len(data) > 1 and data.endswith(b"\r"):
            self._unread, data = memoryview(b"\r" + self._unread), data[:-1]
        return data

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill the buffer as far as there are bytes, and return how many."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def open_text(file: File, delimiter: str = "") -> BlockStream:
    """Open the unpacked text of a file; with a space or tab as `delimiter`, without other blanks around it.

    Raises:
        ReadError: while reading, if the file is damaged or too large, or a line too long.
    """
    blocks = whole_lines(file)
    if delimiter:
        return BlockStream(map(_single_spaced if delimiter == " " else _single_tabbed, blocks))
    return BlockStream(blocks)


def whole_lines(file: File) -> Iterator[bytes]:
    """Yield the unpacked bytes in blocks of whole lines; a ReadError if a line is too long."""
    unfinished = b""
    for n_read, block in enumerate(file.blocks(), 1):
        cut = block.rfind(b"\n") + 1
        if cut:
            yield unfinished + block[:cut]
            unfinished = b""
        unfinished += block[cut:]
        if len(unfinished) > MAX_LINE:
            n_lines = sum(earlier.count(b"\n") for earlier in islice(file.blocks(), n_read))
            raise line_too_long(file, n_lines + 1)
    yield unfinished


def lines_of(file: File) -> Iterator[bytes]:
    """Yield the lines of a file."""
    for block in whole_lines(file):
        yield from block.split(b"\n")[: -1 if block.endswith(b"\n") else None]


def line_too_long(file: File, line: int) -> ReadError:
    """Return the error of a line past the limit."""
    problem = f"a line of more than {MAX_LINE // 2**20} MB"
    return ReadError(file.name, problem, "Leave out the column that makes it so long.", line=line)


def _single_spaced(block: bytes) -> bytes:
    """Put one space in place of each run of blanks in a line, none at its ends."""
    if any(mark in block for mark in (b"\t", b"\v", b"\f")):
        block = block.translate(_TO_SPACES)
    is_blank = np.frombuffer(block, np.uint8) <= _SPACE
    if not (is_blank[:1].any() or (is_blank[1:] & is_blank[:-1]).any()):  # most blocks
        return block
    return b"\n".join(b" ".join(line.split()) for line in block.split(b"\n"))


def _single_tabbed(block: bytes) -> bytes:
    """Remove the blanks around each field of lines that are separated by tabs."""
    lines = (map(bytes.strip, line.split(b"\t")) for line in block.split(b"\n"))
    return b"\n".join(map(b"\t".join, lines))


def no_ranks() -> None:
    """Return None: the file states no ranks. A lambda could not be sent to a worker."""


@dataclass(eq=False)
class FileProvenance:
    """The file that rows came from, and their lines in it.

    Attributes:
        file: its name.
        line_of: row, the first 0 → its line, the first 1.
        unit: unit of `line_of`: line, row or entry.
        ranks: reads the ranks that the file states beside its scores, if any.
        tag: the tag in the first row of a TREC run; empty for other files.
    """

    file: str
    line_of: Callable[[int], int]
    unit: str = "line"
    ranks: Callable[[], pa.Array | None] = no_ranks
    tag: str = ""

    def move(self, copy: "FileProvenance") -> None:
        """Read lines and ranks from a copy of the file from now on, if it counts in the same unit."""
        if copy.unit == self.unit:
            self.line_of, self.ranks = copy.line_of, copy.ranks

    def refuse(
        self, is_bad: pa.Array, column: pa.Array, problem_of: Callable[[object], str], hint: str
    ) -> None:
        """Raise a ReadError at the first bad row, if any."""
        row = pc.index(is_bad, value=True).as_py()
        if row >= 0:
            raise self.error(row, problem_of(column[row].as_py()), hint)

    def error(self, row: int, problem: str, hint: str, kind: type[ReadError] = ReadError) -> ReadError:
        """Return the error of a row."""
        return kind(self.file, problem, hint, line=self.line_of(row), unit=self.unit)

    @classmethod
    def memory(cls, name: str) -> "FileProvenance":
        """Return the provenance of rows that came from no file."""
        return cls(name, lambda row: row + 1, "row")

    @classmethod
    def concat(cls, parts: Sequence["FileProvenance"], lengths: Sequence[int]) -> "FileProvenance":
        """Return the provenance of concatenated rows of several files."""
        if len(parts) == 1:
            return parts[0]
        ends = np.cumsum(lengths)

        def line_of(row: int) -> int:
            part = int(np.searchsorted(ends, row, side="right"))
            return parts[part].line_of(row - int(ends[part]) + lengths[part])

        return cls(", ".join(part.file for part in parts), line_of)

    def take(self, rows: IntArray | range | Sequence[int]) -> "FileProvenance":
        """Return the provenance of some of the rows."""
        return replace(self, line_of=partial(_line_of, self, rows), ranks=partial(_ranks_of, self, rows))


def _line_of(origin: FileProvenance, rows: IntArray | Sequence[int], row: int) -> int:
    return origin.line_of(int(rows[row]))


def _ranks_of(origin: FileProvenance, rows: IntArray | Sequence[int]) -> pa.Array | None:
    ranks = origin.ranks()
    return None if ranks is None else ranks.take(pa.array(np.asarray(rows)))
