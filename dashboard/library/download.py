"""The download of a board: a zip of its files as uploaded, and of its published results."""

import re
from collections.abc import Sequence
from io import BytesIO
from itertools import count
from zipfile import ZIP_DEFLATED, ZipFile

from dashboard.library.uploads import uploaded_blocks
from metrics.runs import File


def zipped(files: Sequence[File]) -> bytes:
    """Return a zip of files; LibraryError if a stored file is missing or damaged."""
    packed = BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED, compresslevel=1) as archive:
        for name, file in zip(zip_names([file.name for file in files]), files, strict=True):
            with archive.open(name, "w", force_zip64=True) as stream:
                for block in uploaded_blocks(file):
                    stream.write(block)
    return packed.getvalue()


def zip_names(names: Sequence[str]) -> list[str]:
    """Return distinct names without folders, which unpack on every system."""
    used: set[str] = set()
    distinct = []
    for name in names:
        plain = re.sub(r'[\x00-\x1f\x7f\\/:*?"<>|]', "-", name).strip(". ") or "file"
        stem, dot, ending = plain.partition(".")
        tries = (plain if number == 1 else f"{stem}-{number}{dot}{ending}" for number in count(1))
        distinct.append(next(text for text in tries if text.casefold() not in used))
        used.add(distinct[-1].casefold())
    return distinct
