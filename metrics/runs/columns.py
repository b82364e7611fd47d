"""The columns of a long table: our names, what others call them, and what they hold."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from metrics.errors import ReadError, UsageError

SpreadKind = Literal["order", "run", "mean"]
"""What `score_std` is: of one run within its list, of one run, or of the mean of all (its standard error)."""
MissingScore = Literal["error", "last", "drop"]
"""What is done about a score that is no number: refuse it, put the document last, or leave it out."""
SUBTOPICS = "subtopics"
"""Column of joined judgments: subtopics of the query → grade of the document for each."""
MAX_COLUMNS = 1000
"""Most columns of a table."""


@dataclass(frozen=True)
class Column:
    """One column of a long table.

    Attributes:
        name: ours.
        kind: how it is read. `id`: text, never empty; `shared`: an id that many rows share; `word`: as
            shared, none where empty; `text`: anything; `number`; `measure`: a number, may be missing;
            `deviation`: a number of 0 or more; `grade`: a number, or true and false; `rank`: a number, left
            out where it is none.
        synonyms: what others call it, in small letters without spaces and marks.
        summary: one line for people.
    """

    name: str
    kind: Literal["id", "shared", "word", "text", "number", "measure", "deviation", "grade", "rank"]
    synonyms: tuple[str, ...]
    summary: str


COLUMNS: tuple[Column, ...] = (
    Column(
        "reranker",
        "shared",
        ("model", "system", "method", "run", "ranker", "runid", "modelname", "runname", "systemid"),
        "Who ranked.",
    ),
    Column(
        "query_id",
        "shared",
        (
            "qid",
            "queryid",
            "queryqid",
            "topicid",
            "questionid",
            "testtriple",
            *("queryno", "topicno", "topicnum", "topicnumber"),
            "topic",
            "query",
            "question",
        ),
        "What was asked.",
    ),
    Column(
        "doc_id",
        "id",
        (
            *("docid", "docno", "documentid", "passageid", "pid", "corpusid", "traintriple", "docname", "did"),
            *("chunkid", "itemid", "cordid", "productid", "entityid", "documentno", "docnumber", "candidateid"),
            *("candidate", "item", "doc", "paperid", "passage", "document"),
        ),
        "What was ranked.",
    ),
    Column(
        "score",
        "number",
        ("sim", "similarity", "logit", "tracinscore", "rerankscore", "relevancescore", "scores", "rsv"),
        "What the ranking is sorted by, highest first.",
    ),
    Column(
        "score_std",
        "deviation",
        ("scorestddev", "scoresd", "scoresigma", "scorestderr", "scorestandarddeviation"),
        "Standard deviation of the score, read by the treatment `noise`.",
    ),
    Column(
        "relevance",
        "grade",
        (
            *("rel", "label", "grade", "inpath", "isrelevant", "relevant", "qrel", "judgment", "judgement"),
            *("relevancegrade", "relevancelabel", "gold", "groundtruth", "isgold", "iscorrect"),
            *("gain", "gains", "rating", "relevancy", "relevancerating", "relevancelevel", "assessment"),
            *("relevancejudgment", "relevancejudgement", "grades", "labels", "qrels"),
        ),
        "How relevant the document is: a number, or true and false.",
    ),
    Column(
        "target_id",
        "word",
        ("target", "targetid", "answerid", "groundtruthid", "clusterid", "paperid"),
        "What the document satisfies; documents of one target count once in DR@k and Div@k.",
    ),
    Column(
        "subtopic",
        "word",
        ("subtopicid", "subtopicno", "subtopicnumber", "aspect", "intent"),
        "Which subtopic of the query the judgment is about, in a row of its own; for alpha_nDCG@k.",
    ),
    Column("rank", "rank", ("position", "place"), "Where the file says the document stands; only compared."),
    Column(
        "latency",
        "measure",
        ("latencys", "latencysec", "latencyseconds", "seconds", "secs", "elapsed", "duration", "responsetime"),
        "Seconds the list took, in every row of it.",
    ),
    Column(
        "segment",
        "word",
        ("querytype", "category", "slice", "group", "questiontype", "domain"),
        "What kind of query it is.",
    ),
    Column("query_text", "text", ("querystring", "questiontext", "query", "question"), "The query in words."),
    Column(
        "doc_text",
        "text",
        (
            "documenttext",
            "passagetext",
            "doccontents",
            "content",
            "contents",
            "body",
            "document",
            "passage",
            "text",
        ),
        "The document in words.",
    ),
)
"""Columns that are read, in the order they are shown."""

BY_NAME: Mapping[str, Column] = {column.name: column for column in COLUMNS}
_BEIR = {"query_id": "query-id", "doc_id": "corpus-id", "relevance": "score"}
_SYNONYMS = {column.name: column.synonyms for column in COLUMNS}


def recognise(header: Sequence[str], chosen: Mapping[str, str] | None = None) -> dict[str, str]:
    """Match a header with our columns: ours → the file's, each of the file's used once.

    An exact name wins over a synonym, a synonym over the only name that ends with "score", `chosen`
    wins over all; chosen as "", a column is not read. Case, spaces, dots, hyphens and underscores do
    not matter.

    Raises:
        UsageError: `chosen` names a column that does not exist, or one twice.
    """
    mapping = dict(chosen or {})
    _check_choice(header, mapping)
    free: dict[str, list[str]] = {}
    for name in dict.fromkeys(header):
        if name not in mapping.values():
            free.setdefault(normalised(name), []).append(name)
    for spellings in ({column.name: (normalised(column.name),) for column in COLUMNS}, _SYNONYMS):
        for ours, candidates in spellings.items():
            names = next((free[candidate] for candidate in candidates if free.get(candidate)), [])
            if ours not in mapping and names:
                mapping[ours] = names.pop(0)
    scores = [name for plain, names in free.items() if plain.endswith("score") for name in names]
    if "score" not in mapping and len(scores) == 1:
        mapping["score"] = scores[0]
    return {column.name: mapping[column.name] for column in COLUMNS if mapping.get(column.name)}


def beir_columns(header: Sequence[str]) -> dict[str, str]:
    """Return our column → the file's of judgments as BEIR and MTEB keep them; none for other headers."""
    names = {name.casefold(): name for name in header}
    return {ours: names[name] for ours, name in _BEIR.items()} if names.keys() == {*_BEIR.values()} else {}


def _check_choice(header: Sequence[str], chosen: Mapping[str, str]) -> None:
    for ours, theirs in chosen.items():
        if ours not in BY_NAME:
            raise UsageError(f"There is no column {ours!r}. Columns: {', '.join(BY_NAME)}.")
        if theirs and theirs not in header:
            raise UsageError(f"The table has no column {theirs!r}. It has: {', '.join(header)}.")
    read_from = [theirs for theirs in chosen.values() if theirs]
    if len(set(read_from)) < len(read_from):
        raise UsageError("Two columns are read from one column of the table. Choose another for one of them.")


@dataclass(frozen=True)
class ColumnChoice:
    """Columns the user chose, ours → the file's, and how they are read.

    Attributes:
        columns: the choice.
        strict: whether the file must have them; else what it lacks is left to recognition.
        missing_score: what is done about a score that is no number.
        repeats: columns of scores that are repeats of one reranker; none: those of numbered names.
        spread: whose standard deviation `score_std` of repeats is.
        value: what the table is given for: scores, grades, or whichever it has.

    Raises:
        UsageError: that is none of `error`, `last` and `drop`.
    """

    columns: Mapping[str, str]
    strict: bool = True
    missing_score: MissingScore = "error"
    repeats: tuple[str, ...] = ()
    spread: SpreadKind = "order"
    value: Literal["score", "relevance", "either"] = "score"

    def __post_init__(self) -> None:
        """Check what is to be done about a score that is no number."""
        if self.missing_score not in get_args(MissingScore):
            raise UsageError(f"missing_score={self.missing_score!r}: it is 'error', 'last' or 'drop'.")

    def among(self, header: Sequence[str], usual: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the choice as far as it concerns this header, with `usual` where the choice leaves it free."""
        chosen = {
            ours: theirs
            for ours, theirs in self.columns.items()
            if self.strict or not theirs or theirs in header
        }
        free = {ours: theirs for ours, theirs in (usual or {}).items() if theirs not in chosen.values()}
        return free | chosen

    def mapping(
        self,
        file: str,
        header: Sequence[str],
        usual: Mapping[str, str] | None = None,
        *,
        only_usual: bool = False,
    ) -> dict[str, str]:
        """Return our column → the file's, for each column that is read.

        Raises:
            ReadError: too many columns, two of one name, or none that a run or judgments need.
            UsageError: the choice names a column that does not exist, or one twice.
        """
        refuse_many_columns(file, header)
        choice = self.among(header, beir_columns(header) | dict(usual or {}))
        mapping = recognise(header, choice)
        if only_usual:
            mapping = {ours: theirs for ours, theirs in mapping.items() if ours in choice}
        _check_mapping(file, header, mapping, self.value)
        return mapping


def refuse_many_columns(file: str, header: Sequence[str]) -> None:
    """Raise a ReadError where a table has more columns than may be read."""
    if len(header) > MAX_COLUMNS:
        problem = f"{len(header):,} columns, more than {MAX_COLUMNS:,}"
        raise ReadError(file, problem, "Leave out those that are not needed.", line=1)


def _check_mapping(file: str, header: Sequence[str], mapping: Mapping[str, str], value: str) -> None:
    """Raise a ReadError where neither a run nor judgments can be read by these columns."""
    twice = [name for name, count in Counter(header).items() if count > 1]
    if twice:
        raise ReadError(file, f"two columns are named {twice[0]!r}", "Rename one.", line=1)
    number = "relevance" if value == "relevance" else "score"
    needed = ["query_id", "doc_id", *([] if {"score", "relevance", "rank"} & mapping.keys() else [number])]
    for ours in needed:
        if ours not in mapping:
            hint = f"Name the column that holds it {ours}, or choose another one as {ours}."
            problem = f"no {ours} column among {', '.join(header)}"
            raise ReadError(file, problem, hint, line=1).with_columns(header, mapping)


def normalised(name: str) -> str:
    """Return a column's name in small letters, without spaces and marks."""
    return re.sub(r"[\s._()\[\]#-]+", "", name.strip().casefold())
