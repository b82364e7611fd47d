"""A disk on which no file may grow larger."""

import resource
from contextlib import contextmanager


@contextmanager
def largest_file(size):
    """Have the system refuse to let any file grow larger."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
