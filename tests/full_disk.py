"""A disk on which no file may grow larger."""

import resource
import sys
from contextlib import contextmanager


@contextmanager
def largest_file(size):
    """Have the system refuse to let any file grow larger; Python, which would cut its bytecode, writes none."""
    writes_none, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        sys.dont_write_bytecode = writes_none
