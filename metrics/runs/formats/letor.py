"""LETOR lines, which hold grades and features but no scores, and the predictions of a model for them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pyarrow as pa

from metrics.errors import ReadError, TieScopeError
from metrics.runs.columns import ColumnChoice
from metrics.runs.files import File, FileProvenance, lines_of
from metrics.runs.findings import make_finding
from metrics.runs.source import Source, build_source
from metrics.support.wording import count_of

LETOR, PREDICTIONS = "letor", "predictions"
_LINE = re.compile(r"(?P<label>\S+)\s+qid:(?P<qid>\S+)[^#]*(?:#(?P<comment>.*))?", re.ASCII)
_DOCUMENT = re.compile(r"docid\s*=\s*(\S+)", re.ASCII | re.IGNORECASE)
_LINE_HINT = "Write GRADE qid:QUERY FEATURE:VALUE ... # docid = DOCUMENT."
_UNNAMED = "The lines do not name their documents (# docid = DOCUMENT), so documents are named by their lines."


def _lines(file: File) -> Iterator[tuple[int, str]]:
    """Yield the lines that are neither blank nor comments, and their numbers; a ReadError if not UTF-8."""
    for number, line in enumerate(lines_of(file), 1):
        try:
            text = line.strip().decode()
        except UnicodeDecodeError as error:
            problem = "the text is not UTF-8"
            raise ReadError(file.name, problem, "Save it as UTF-8.", line=number) from error
        if text and not text.startswith("#"):
            yield number, text


def read_letor(file: File, choice: ColumnChoice) -> Source:
    """Read the grade, query and document of each line; a ReadError names a line of another form."""
    numbers, labels, queries, documents = list[int](), list[str](), list[str](), list[str]()
    n_named = 0
    for number, text in _lines(file):
        match = _LINE.fullmatch(text)
        if match is None:
            raise ReadError(file.name, f"{text[:40]!r} has no qid:", _LINE_HINT, line=number)
        document = _DOCUMENT.search(match["comment"] or "")
        n_named += document is not None
        numbers.append(number)
        labels.append(match["label"])
        queries.append(match["qid"])
        documents.append(document[1] if document else f"line-{number}")
    noted = [] if n_named else [make_finding("columns-told", file.name, _UNNAMED)]
    raw = {"label": pa.array(labels), "qid": pa.array(queries), "docid": pa.array(documents)}
    origin = FileProvenance(file.name, numbers.__getitem__)
    mapping = {"query_id": "qid", "doc_id": "docid", "relevance": "label"}
    return build_source(raw, mapping, origin, LETOR, [*raw], noted, choice.missing_score)


def read_predictions(file: File, choice: ColumnChoice) -> Source:
    """Read a score from each line."""
    numbers, texts = zip(*_lines(file), strict=True)
    origin = FileProvenance(file.name, numbers.__getitem__)
    raw = {"prediction": pa.array(texts, pa.string())}
    mapping = {"score": "prediction"}
    return build_source(raw, mapping, origin, PREDICTIONS, [*raw], missing_score=choice.missing_score)


def with_predictions(
    contents: Sequence[Source | TieScopeError], judgments: Sequence[Source] = ()
) -> list[Source | TieScopeError]:
    """Give predictions the queries and documents of the LETOR file that has as many lines.

    Predictions without such a file among `contents` and `judgments` become an error.
    """
    files = [file for file in (*contents, *judgments) if isinstance(file, Source) and file.format == LETOR]
    return [
        _paired(content, files) if isinstance(content, Source) and content.format == PREDICTIONS else content
        for content in contents
    ]


def _paired(predictions: Source, files: Sequence[Source]) -> Source | ReadError:
    n_rows = len(predictions.table)
    equal = [file for file in files if len(file.table) == n_rows]
    if len(equal) != 1:
        sizes = "".join(f" {file.file} has {count_of(len(file.table), 'line')}." for file in files)
        problem = f"{count_of(n_rows, 'number')}, one per line, without queries and documents"
        hint = f"If they are predictions, give the one LETOR file (GRADE qid:QUERY ...) of these lines.{sizes}"
        return ReadError(predictions.file, problem, hint)
    (file,) = equal
    table = file.table.select(["query_id", "doc_id"]).append_column("score", predictions.table["score"])
    mapping = {"query_id": "qid", "doc_id": "docid", "score": "prediction"}
    header = tuple(mapping.values())
    return replace(predictions, format=LETOR, table=table, mapping=mapping, header=header)
