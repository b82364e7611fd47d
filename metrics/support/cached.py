"""A cached property without a lock."""

import functools
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 it replaces that of functools
        """A cached property that two threads may compute at once.

        Before Python 3.12, functools has one lock for all instances of a class, so that a slow property of one
        board would block all others.
        """

        def __init__(self, function: Any) -> None:  # noqa: ANN401 as functools has it
            super().__init__(function)
            self.lock = nullcontext()
