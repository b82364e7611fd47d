"""A property that is computed once, and whose computation nobody else waits for."""

import functools
from typing import TYPE_CHECKING, Any

__all__ = ["cached_property"]

if TYPE_CHECKING:
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 it takes the place of that of functools
        """A property kept in its instance once it is computed.

        Before Python 3.12, that of functools has one lock for all instances of a class: what is dear of a large
        board would keep every small one waiting. Two who ask at the same moment may both compute it.
        """

        def __get__(self, instance: Any, owner: type | None = None) -> Any:  # noqa: ANN401 as functools has it
            """Return the value, computed and kept the first time."""
            if instance is None:
                return self
            value = vars(instance)[self.attrname] = self.func(instance)
            return value
