"""What reading a file says, and the most memory it takes: called in a process that has done nothing else."""

import re
from pathlib import Path

from pyarrow import parquet  # noqa: F401 what a reader imports is none of the memory it takes

from metrics import TieScopeError
from metrics.runs import File, Runs, files, read


def read_whole(file):
    Runs.from_sources([read(file)], judged=False)


def read_blocks(file):
    for _ in file.blocks():
        pass


def memory_of(path, use, limit):
    """What using a file says, where so many bytes may be read of one, and the megabytes it took at most."""
    files.MAX_BYTES = limit
    file, before, message = File.open(path), most_kilobytes(), "read"
    try:
        use(file)
    except TieScopeError as error:
        message = str(error)
    return message, (most_kilobytes() - before) // 1024


def most_kilobytes():
    return int(re.search(r"VmHWM:\s*(\d+)", Path("/proc/self/status").read_text())[1])
