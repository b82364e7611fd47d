"""Bytes in: from a path or an upload to text bytes, unpacked and within a limit."""

import re
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path, PurePath

import pyarrow as pa

from metrics.errors import ReadError

MAX_BYTES = 2 * 2**30
"""Largest file read, unpacked, in bytes."""

_COMPRESSIONS = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
_SUFFIXES = {".gz", ".zst", ".trec", ".run", ".txt", ".csv", ".tsv", ".qrels", ".res"}
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class File:
    """A file as given: its name and its bytes, packed or not."""

    name: str
    data: bytes

    @classmethod
    def open(cls, path: str | PurePath) -> "File":
        """Read a file from disk.

        Raises:
            ReadError: there is no such file, or it cannot be opened.
        """
        try:
            return cls(PurePath(path).name, Path(path).read_bytes())
        except (OSError, ValueError) as error:
            reason = (getattr(error, "strerror", None) or "cannot be opened").lower()
            raise ReadError(str(path), reason, "Check the path.") from error

    @property
    def stem(self) -> str:
        """Name without folder and known endings: `llm.trec.gz` gives `llm`."""
        path = PurePath(self.name.replace("\\", "/"))
        while path.suffix.lower() in _SUFFIXES and path.stem:
            path = path.with_suffix("")
        return path.name

    @cached_property
    def sha256(self) -> str:
        """Hash of the bytes as given."""
        return sha256(self.data).hexdigest()

    @cached_property
    def text(self) -> bytes:
        """The unpacked bytes, without a byte order mark.

        Raises:
            ReadError: damaged, too large, empty, or not text.
        """
        data = self._unpacked().removeprefix(_BOM)
        if re.search(rb"\S", data) is None:
            raise ReadError(self.name, "the file is empty", "Export it again and check its size.", line=1)
        self._refuse_binary(data)
        return data

    def _unpacked(self) -> bytes:
        kind = next((name for magic, name in _COMPRESSIONS.items() if self.data.startswith(magic)), None)
        if kind is None and len(self.data) <= MAX_BYTES:
            return self.data
        try:
            with pa.input_stream(pa.BufferReader(self.data), compression=kind) as stream:
                data: bytes = stream.read(MAX_BYTES + 1)
        except (OSError, pa.ArrowInvalid) as error:
            raise ReadError(self.name, f"damaged {kind} file", "Pack it again.") from error
        if len(data) > MAX_BYTES:
            limit = f"{MAX_BYTES // 2**30} GB"
            raise ReadError(self.name, f"larger than {limit} unpacked", "Split it by query.")
        return data

    def _refuse_binary(self, data: bytes) -> None:
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise ReadError(self.name, "the text is UTF-16", "Save it as UTF-8.", line=1)
        head = data[:65536]
        if b"\x00" in head or data.startswith((b"\x89PNG", b"%PDF", b"PK\x03\x04", b"PAR1")):
            kind = {b"\x89PNG": "a PNG picture", b"%PDF": "a PDF", b"PK\x03\x04": "a ZIP or Excel file"}
            found = kind.get(data[:4], "a binary file")
            hint = "Give a TREC run, qrels, or a CSV or TSV table."
            raise ReadError(self.name, f"this is {found}, not a text table", hint, line=1)
