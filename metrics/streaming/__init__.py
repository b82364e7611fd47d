"""Files larger than memory, scored a few lists at a time: each part is an evaluation by itself."""

from metrics.streaming.judged import Judged
from metrics.streaming.stream import Stream
from metrics.streaming.tally import Met, Parted, Tally, lists_in, refuse_unused

__all__ = ["Judged", "Met", "Parted", "Stream", "Tally", "lists_in", "refuse_unused"]
