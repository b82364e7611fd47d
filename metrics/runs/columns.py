"""The columns of a long table: TieScope's names, their synonyms and the kinds of their values."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from metrics.errors import ReadError, UsageError

MissingScore = Literal["error", "last", "drop"]
"""Handling of a document without a numeric score: raise an error, rank it last, or drop it."""
MISSING_SCORE_HINT = (
    "Or rank documents without a score last, or drop them (--missing-score last or drop; "
    "in Python, missing_score)."
)
"""Addition to an error on a document without a numeric score."""
MAX_COLUMNS = 1000


@dataclass(frozen=True)
class Column:
    """One column of a long table; synonyms are separated by spaces.

    An `id` is text that is not empty; many rows have the same `shared` ID. A `word` is shared text and may be
    empty, a `measure` is a number that may be missing, a `deviation` is a number of 0 or more. A `grade` is a
    number, true or false. A `rank` column is skipped unless all values are numbers.
    """

    name: str
    kind: Literal["id", "shared", "word", "text", "number", "measure", "deviation", "grade", "rank"]
    synonym_words: str
    summary: str

    @property
    def synonyms(self) -> tuple[str, ...]:
        """Other names, normalised."""
        return tuple(self.synonym_words.split())


COLUMNS: tuple[Column, ...] = (
    Column(
        "reranker",
        "shared",
        "model system method run ranker runid modelname runname systemid",
        "The reranker.",
    ),
    Column(
        "query_id",
        "shared",
        "qid queryid queryqid topicid questionid testtriple queryno topicno topicnum topicnumber topic "
        "userinput query question",
        "ID of the query.",
    ),
    Column(
        "doc_id",
        "id",
        "docid docno documentid passageid pid corpusid traintriple docname did chunkid itemid cordid "
        "productid entityid documentno docnumber candidateid candidate item doc paperid passage document",
        "ID of the document.",
    ),
    Column(
        "score",
        "number",
        "sim similarity logit logits tracinscore rerankscore relevancescore scores rsv prediction predictions "
        "pred prob probability llmgrade llmrating modelgrade",
        "Score of the document; higher scores rank first.",
    ),
    Column(
        "score_std",
        "deviation",
        "scorestddev scoresd scoresigma scorestderr scorestandarddeviation",
        "Standard deviation of the score, for noise in draws of a leaderboard.",
    ),
    Column(
        "relevance",
        "grade",
        "rel label inpath isrelevant relevant qrel judgment judgement relevancegrade relevancelabel "
        "gold groundtruth isgold iscorrect gain gains relevancy relevancerating relevancelevel "
        "assessment relevancejudgment relevancejudgement labels qrels grade rating grades ratings",
        "Relevance grade of the document: a number, true or false.",
    ),
    Column(
        "target_id",
        "word",
        "target targetid answerid groundtruthid clusterid paperid",
        "Target (distinct answer) that the document finds; DR@k and Div@k count each target once.",
    ),
    Column(
        "rank",
        "rank",
        "position place",
        "Rank in the file. If there are scores, TieScope only checks that ranks agree with them. Otherwise it "
        "ranks by this column.",
    ),
    Column(
        "latency",
        "measure",
        "latencys latencysec latencyseconds seconds secs elapsed duration responsetime",
        "Time to rank the list, in seconds, repeated in each row of the list.",
    ),
    Column(
        "segment",
        "word",
        "querytype category slice group questiontype domain",
        "Query group.",
    ),
    Column(
        "query_text",
        "text",
        "querystring questiontext query question",
        "Text of the query.",
    ),
    Column(
        "doc_text",
        "text",
        "documenttext passagetext doccontents content contents body document passage text",
        "Text of the document.",
    ),
)
"""The columns that TieScope reads, in display order."""

BY_NAME: Mapping[str, Column] = {column.name: column for column in COLUMNS}
_NAMES = [
    *((column.name, (column.name.replace("_", ""),)) for column in COLUMNS),
    *((column.name, column.synonyms) for column in COLUMNS),
]
"""Our columns and the normalised names by which they are recognised, exact names before synonyms."""
GRADES = frozenset({"grade", "rating", "grades", "ratings"})
"""Normalised names of columns that are scores where relevance has another column or file, else relevance."""
_DISTANCES = re.compile(r"(?:.*distances?|dist|loss|perplexity)")
"""Normalised names of columns whose smaller values rank first, which are no scores."""
_BEIR = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}


def recognise(header: Sequence[str], choice: Mapping[str, str] | None = None) -> dict[str, str]:
    """Map our column names to those of a header, each column of the header used once.

    `choice` wins over an exact name, an exact name over a synonym, a synonym over the only name that ends with
    "score", that over the only one of `GRADES` beside relevance that is chosen or has another name. PyTerrier's
    `docno` wins over its `docid`, the number of the document in the index. A column chosen as "" is not read.
    Case, spaces, dots, hyphens and underscores are ignored.

    Raises:
        UsageError: `choice` names a column that does not exist, or one column twice.
    """
    mapping = dict(choice or {})
    if mapping:
        _check_choice(header, mapping)
    free: dict[str, list[str]] = {}
    for name in dict.fromkeys(header):
        if name not in mapping.values():
            free.setdefault(normalised(name), []).append(name)
    if "docno" in free and "docid" in free:
        free["docid"] = [name for name in free["docid"] if name.casefold() != "docid"]
    for ours, candidates in _NAMES:
        names = next((free[candidate] for candidate in candidates if free.get(candidate)), [])
        if ours not in mapping and names:
            mapping[ours] = names.pop(0)
    scores = [name for plain, names in free.items() if plain.endswith("score") for name in names]
    # Which of two grades is the relevance, only their values can tell.
    is_told = "relevance" in (choice or {}) or normalised(mapping.get("relevance", "grade")) not in GRADES
    grades = [name for plain in GRADES & free.keys() if is_told for name in free[plain]]
    if "score" not in mapping and len(scores or grades) == 1:
        mapping["score"] = (scores or grades)[0]
    return {column.name: mapping[column.name] for column in COLUMNS if mapping.get(column.name)}


def beir_columns(header: Sequence[str]) -> dict[str, str]:
    """Map our column names to those of BEIR and MTEB judgments; empty for other headers."""
    names = {name.casefold(): name for name in header}
    return {ours: names[name] for ours, name in _BEIR.items()} if names.keys() == {*_BEIR.values()} else {}


def _check_choice(header: Sequence[str], choice: Mapping[str, str]) -> None:
    for ours, theirs in choice.items():
        if ours not in BY_NAME:
            raise UsageError(f"{ours!r} is not a column. Columns: {', '.join(BY_NAME)}.")
        if theirs and theirs not in header:
            raise UsageError(f"The table has no column {theirs!r}. It has: {', '.join(header)}.")
    counts = Counter(theirs for theirs in choice.values() if theirs)
    if any(count > 1 for count in counts.values()):
        raise UsageError(
            "One column of the table is assigned to two TieScope columns. Choose another for one of them."
        )


@dataclass(frozen=True)
class ColumnChoice:
    """The user's choice of columns, and how to read them.

    Attributes:
        columns: our column → the file's.
        strict: require these columns; otherwise, recognise missing ones by name.
        missing_score: handling of documents without a numeric score.
        by_file: name of a file → further columns of this file.
        value: the needed values: scores, grades or either.

    Raises:
        UsageError: an unknown `missing_score`.
    """

    columns: Mapping[str, str]
    strict: bool = True
    missing_score: MissingScore = "error"
    by_file: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    value: Literal["score", "relevance", "either"] = "score"

    def __post_init__(self) -> None:
        """Check the choice."""
        if self.missing_score not in get_args(MissingScore):
            raise UsageError(f"missing_score must be 'error', 'last' or 'drop', not {self.missing_score!r}.")

    @classmethod
    def of(
        cls, columns: Mapping[str, str | Mapping[str, str]] | None, missing_score: MissingScore
    ) -> "ColumnChoice":
        """Return the choice for several files: our column → theirs, or name of a file → such a mapping."""
        shared = {ours: theirs for ours, theirs in (columns or {}).items() if isinstance(theirs, str)}
        by_file = {name: own for name, own in (columns or {}).items() if not isinstance(own, str)}
        return cls(shared, False, missing_score, by_file)

    def of_file(self, *names: str) -> "ColumnChoice":
        """Return the choice for one file, under any of its names."""
        own = {ours: theirs for name in names for ours, theirs in self.by_file.get(name, {}).items()}
        return replace(self, columns={**self.columns, **own}, by_file={})

    def among(self, header: Sequence[str], usual: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the choice as far as it concerns this header, filled up with `usual` columns."""
        choice = {
            ours: theirs
            for ours, theirs in self.columns.items()
            if self.strict or not theirs or theirs in header
        }
        taken_names = {*choice.values()} - {""}
        free = {ours: theirs for ours, theirs in (usual or {}).items() if theirs not in taken_names}
        return free | choice

    def mapping(
        self,
        file: str,
        header: Sequence[str],
        usual: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """Map our column names to the file's, for each column that is read.

        Raises:
            ReadError: too many columns, two of one name, or no columns of a run or of judgments.
            UsageError: the choice names a column that does not exist, or one column twice.
        """
        refuse_many_columns(file, header)
        choice = self.among(header, beir_columns(header) | dict(usual or {}))
        mapping = recognise(header, choice)
        twice = [name for name, count in Counter(header).items() if count > 1]
        if twice:
            raise ReadError(file, f"two columns are named {twice[0]!r}", "Rename one.", line=1)
        number = "relevance" if self.value == "relevance" else "score"
        needed = ["query_id", "doc_id", *([] if {"score", "relevance", "rank"} & mapping.keys() else [number])]
        for ours in needed:
            if ours not in mapping:
                problem = f"no {ours} column among {', '.join(header)}"
                hint = f"Rename the correct column to {ours}, or choose it as {ours}."
                if ours == "score" and (name := next(filter(is_distance, header), "")):
                    hint = f"Smaller values of {name} rank first. Write their negatives into a column score."
                raise ReadError(file, problem, hint, line=1).with_columns(header, mapping)
        return mapping


def refuse_many_columns(file: str, header: Collection[object]) -> None:
    """Raise a ReadError if a table has more than `MAX_COLUMNS` columns."""
    if len(header) > MAX_COLUMNS:
        problem = f"{len(header):,} columns, more than {MAX_COLUMNS:,}"
        raise ReadError(file, problem, "Leave out columns that you do not need.", line=1)


def is_distance(name: str) -> bool:
    """Return whether the name of a column says that smaller values rank first."""
    return _DISTANCES.fullmatch(normalised(name)) is not None


def normalised(name: object) -> str:
    """Return a column name in lower case, without spaces and punctuation."""
    return re.sub(r"[\s._()\[\]#-]+", "", str(name).strip().casefold())
