"""Files larger than memory, scored a few lists at a time: each part is an evaluation by itself."""

from metrics.streaming.judged import Judged
from metrics.streaming.stream import Stream
from metrics.streaming.tally import Met, Tally, lists_in, refuse_unused

__all__ = ["Judged", "Met", "Stream", "Tally", "lists_in", "refuse_unused"]
