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
_SPACE = ord(" ")
_SPACE_AT_LINE_END = re.compile(rb"(?m)^[ \t]|[ \t]\r?$")


class BlockStream(io.RawIOBase):
    """A binary stream over blocks of bytes, read once from the first to the last."""

    def __init__(self, blocks: Iterable[bytes]) -> None:
        self._blocks = iter(blocks)
        self._unread = memoryview(b"")

    def readable(self) -> bool:
        """Return True: the stream can be read."""
        return True

    def read(self, size: int = -1) -> bytes:
        """Return `size` bytes, fewer only at the end.

        For pyarrow takes a line feed that is all it is given, after a carriage return, for the end.
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
        return b"".join(pieces)

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill as much of `buffer` as there are bytes for, and return how many."""
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def open_text(file: File, *, single_spaces: bool = False, strip_lines: bool = False) -> BlockStream:
    """Open the unpacked text of a file; lines stay where they are.

    Args:
        file: what to read.
        single_spaces: whether any run of spaces and tabs becomes one space.
        strip_lines: whether lines lose the spaces at their ends, too.

    Returns:
        A stream of blocks of whole lines.

    Raises:
        ReadError: while it is read: the file is damaged or too large, or a line too long.
    """
    blocks = whole_lines(file)
    if strip_lines:
        return BlockStream(
            b"\n".join(b" ".join(line.split()) for line in block.split(b"\n")) for block in blocks
        )
    return BlockStream(map(_single_spaced, blocks) if single_spaces else blocks)


def open_for_arrow(file: File, *, single_spaces: bool) -> BlockStream | pa.NativeFile:
    """Open the text for pyarrow: without Python in between where the file is neither packed nor oddly spaced.

    Args:
        file: what to read.
        single_spaces: whether runs of spaces and tabs separate.

    Raises:
        ReadError: the file is too large, or as of `open_text`.
    """
    if single_spaces and _SPACE_AT_LINE_END.search(file.head[: file.head.rfind(b"\n") + 1]):
        return open_text(file, strip_lines=True)
    if file.packed or (single_spaces and _has_odd_spaces(file)):
        return open_text(file, single_spaces=single_spaces)
    file.refuse_too_large(file.size)
    return file.given()


def whole_lines(file: File) -> Iterator[bytes]:
    """Yield the unpacked bytes in blocks that end where a line does; a ReadError where one is too long."""
    unfinished, n_before = b"", 0
    for block in file.blocks():
        cut = block.rfind(b"\n") + 1
        if cut:
            yield unfinished + block[:cut]
            n_before, unfinished = n_before + len(unfinished) + cut, b""
        unfinished += block[cut:]
        if len(unfinished) > MAX_LINE:
            raise line_too_long(file, _lines_within(file, n_before) + 1)
    yield unfinished


def line_too_long(file: File, line: int) -> ReadError:
    """Return the error of a line past the limit."""
    problem = f"a line of more than {MAX_LINE // 2**20} MB"
    return ReadError(file.name, problem, "Leave out the column that holds it.", line=line)


def _lines_within(file: File, size: int) -> int:
    """Return how many lines end within the first `size` bytes."""
    count = 0
    for block in file.blocks():
        count += block.count(b"\n", 0, size)
        size -= len(block)
        if size <= 0:
            break
    return count


def _has_odd_spaces(file: File) -> bool:
    """Return whether there are tabs, or two spaces in a row."""
    last = b""
    for block in file.blocks():
        if b"\t" in block or _has_two_spaces(block) or (last == block[:1] == b" "):
            return True
        last = block[-1:]
    return False


def _single_spaced(block: bytes) -> bytes:
    if b"\t" in block:
        block = block.replace(b"\t", b" ")
    while _has_two_spaces(block):
        block = block.replace(b"  ", b" ")
    return block


def _has_two_spaces(block: bytes) -> bool:
    """Return whether two spaces stand in a row."""
    is_space = np.frombuffer(block, np.uint8) == _SPACE
    return bool((is_space[1:] & is_space[:-1]).any())
