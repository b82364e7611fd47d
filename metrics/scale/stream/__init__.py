"""Files larger than memory, scored a few lists at a time: each part is an evaluation by itself."""

from metrics.scale.stream.judged import Judged
from metrics.scale.stream.part_counter import PartCounter, PartitionedRuns, PartStats, lists_in, refuse_unused
from metrics.scale.stream.stream import Stream

__all__ = ["Judged", "PartCounter", "PartStats", "PartitionedRuns", "Stream", "lists_in", "refuse_unused"]
