"""One file of a board, and how it is to be read."""

import json
from dataclasses import dataclass, replace
from hashlib import sha256

from dashboard.library.storage.stored_upload import MISSING_SCORE, StoredUpload, split_choices
from metrics.runs import File, Source, read
from metrics.support.cached import cached_property

Columns = tuple[tuple[str, str], ...]
"""Columns the user chose: ours and the file's; and what is done about scores that are no numbers."""


@dataclass(frozen=True)
class Entry:
    """A file, and how the user wants it read."""

    file: File
    columns: Columns = ()

    @cached_property
    def digest(self) -> str:
        """Hash of name, content and choice: what tells files of a board from each other."""
        return self._hash(self.columns)

    @cached_property
    def columns_digest(self) -> str:
        """Hash as `digest`, whatever is done about missing scores: the rerankers it holds are the same."""
        return self._hash(tuple(pair for pair in self.columns if pair[0] != MISSING_SCORE))

    def _hash(self, columns: Columns) -> str:
        identity = f"{self.file.name} {self.file.sha256} {columns}"
        return sha256(identity.encode("utf-8", "replace")).hexdigest()

    @cached_property
    def key(self) -> str:
        """Hash of all that shapes what is read, of kept files also their reading; results are kept under it."""
        if not isinstance(self.file, StoredUpload):
            return self.digest
        noted = tuple(replace(one, file="") for one in self.file.reading.noted)
        reading = json.dumps(replace(self.file.reading, noted=noted).to_json(), sort_keys=True)
        return sha256(f"{self.digest} {reading}".encode()).hexdigest()

    def read(self) -> Source:
        """Return what the file holds; TieScopeError where it cannot be read so."""
        if isinstance(self.file, StoredUpload):
            return self.file.read(dict(self.columns))
        columns, missing_score = split_choices(dict(self.columns))
        return read(self.file, columns, missing_score=missing_score)
