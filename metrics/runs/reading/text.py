"""The text of a file as a stream: unpacked, and its spaces single where they separate."""

import io
import re
from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa

from metrics.errors import ReadError
from metrics.runs.reading.files import File

MAX_LINE = 2**24
"""Longest line read, in bytes."""
_TWO_SPACES = 0x2020
_AT_ENDS = re.compile(rb"(?m)^[ \t]|[ \t]\r?$")


class Text(io.RawIOBase):
    """Bytes read once, from the first block to the last."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        """It can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """So many bytes, fewer only at the end.

        For pyarrow takes a line feed that is all it is given, after a carriage return, for the end.
        """
        if size < 0:
            return super().read(size) or b""
        found = []
        while size:
            if not self._rest:
                block = next(self._blocks, None)
                if block is None:
                    break
                self._rest = memoryview(block)
            found.append(self._rest[:size])
            size, self._rest = size - len(found[-1]), self._rest[size:]
        return b"".join(found)

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        """Fill as much of `into` as there is at hand."""
        found = self.read(len(into))
        into[: len(found)] = found
        return len(found)


def as_given(file: File) -> Text:
    """The text as it is.

    Raises:
        ReadError: while it is read: the file is damaged or too large, or a line too long.
    """
    return Text(whole_lines(file))


def spaced(file: File, *, tidy: bool = False) -> Text:
    """The text with one space for any run of spaces and tabs; lines stay where they are.

    Args:
        file: what to read.
        tidy: whether lines lose the spaces at their ends, too.

    Raises:
        ReadError: while it is read: as above, or a line is too long.
    """
    blocks = whole_lines(file)
    if tidy:
        return Text(b"\n".join(b" ".join(line.split()) for line in block.split(b"\n")) for block in blocks)
    return Text(map(_single_spaced, blocks))


def quickest(file: File, *, single: bool) -> Text | pa.NativeFile:
    """The same for pyarrow: without Python between where the file is neither packed nor oddly spaced.

    Args:
        file: what to read.
        single: whether runs of spaces and tabs separate.

    Raises:
        ReadError: the file is too large, or as above.
    """
    if single and _AT_ENDS.search(file.head):
        return spaced(file, tidy=True)
    if file.packed or (single and _oddly_spaced(file)):
        return spaced(file) if single else as_given(file)
    file.refuse_too_large(file.size)
    return file.given()


def whole_lines(file: File) -> Iterator[bytes]:
    """Blocks that end where a line does.

    Raises:
        ReadError: the file is damaged or too large, or a line too long.
    """
    rest, before = b"", 0
    for block in file.blocks():
        cut = block.rfind(b"\n") + 1
        if cut:
            yield rest + block[:cut]
            before, rest = before + len(rest) + cut, b""
        rest += block[cut:]
        if len(rest) > MAX_LINE:
            raise too_long(file, _lines(file, before) + 1)
    yield rest


def too_long(file: File, line: int) -> ReadError:
    """The error of a line past the limit."""
    problem = f"a line of more than {MAX_LINE // 2**20} MB"
    return ReadError(file.name, problem, "Leave out the column that holds it.", line=line)


def _lines(file: File, end: int) -> int:
    """Lines that end within so many bytes."""
    count = 0
    for block in file.blocks():
        count += block.count(b"\n", 0, end)
        end -= len(block)
        if end <= 0:
            break
    return count


def _oddly_spaced(file: File) -> bool:
    """Whether there are tabs, or two spaces in a row."""
    last = b""
    for block in file.blocks():
        if b"\t" in block or _doubled(block) or (last == block[:1] == b" "):
            return True
        last = block[-1:]
    return False


def _single_spaced(block: bytes) -> bytes:
    if b"\t" in block:
        block = block.replace(b"\t", b" ")
    while _doubled(block):
        block = block.replace(b"  ", b" ")
    return block


def _doubled(block: bytes) -> bool:
    """Whether two spaces stand in a row; looks at two letters at a time, from each of two starts."""
    return any(
        (np.frombuffer(block, np.uint16, (len(block) - shift) // 2, shift) == _TWO_SPACES).any()
        for shift in (0, 1)
        if len(block) > shift
    )
