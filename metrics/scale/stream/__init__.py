"""Files larger than memory, scored a few lists at a time: each part is an evaluation by itself."""

from metrics.scale.stream.judged import QueryJudgments
from metrics.scale.stream.part_counter import (
    PartCounter,
    PartitionedRuns,
    PartStats,
    refuse_unused,
    split_by_reranker,
)
from metrics.scale.stream.stream import Stream

__all__ = [
    "PartCounter",
    "PartStats",
    "PartitionedRuns",
    "QueryJudgments",
    "Stream",
    "refuse_unused",
    "split_by_reranker",
]
