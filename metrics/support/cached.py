"""A cached property without a lock."""

import functools
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

        def __get__(self, instance: Any, owner: type | None = None) -> Any:  # noqa: ANN401 as functools has it
            """Compute the value the first time, and return it."""
            if instance is None:
                return self
            value = vars(instance)[self.attrname] = self.func(instance)
            return value
