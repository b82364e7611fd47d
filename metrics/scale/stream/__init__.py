"""Files larger than memory, scored a few lists at a time: each part is an evaluation by itself."""

from metrics.scale.stream.judged import Judged
from metrics.scale.stream.part_counter import Met, Parted, Tally, lists_in, refuse_unused
from metrics.scale.stream.stream import Stream

__all__ = ["Judged", "Met", "Parted", "Stream", "Tally", "lists_in", "refuse_unused"]
