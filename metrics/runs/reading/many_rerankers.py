"""How many rerankers one table may have: more are most likely queries or documents."""

import os

from metrics.errors import ReadError, UsageError
from metrics.support.environment import whole_number

MAX_RERANKERS = 10_000
"""Most rerankers of one table, where the environment does not say another limit."""
VARIABLE = "TIESCOPE_MAX_RERANKERS"
"""Environment variable: most rerankers of one table."""


def refuse_many_rerankers(file: str, column: str, n_rerankers: int, example: str) -> None:
    """Raise a ReadError where a table has so many rerankers that the column is most likely another one.

    Args:
        file: its name.
        column: the column that was read as the reranker.
        n_rerankers: how many it has.
        example: one of them.

    Raises:
        UsageError: the environment names no limit.
    """
    try:
        limit = whole_number(VARIABLE, MAX_RERANKERS)
    except ValueError as error:
        raise UsageError(str(error)) from error
    if n_rerankers > limit:
        problem = f"the column {column!r} names more than {limit:,} rerankers, such as {example!r:.60}"
        hint = (
            "Is it the column that says who ranked? If not, choose another as reranker, or none: then all "
            f"rows are of one. To allow more: --max-rerankers N, or {VARIABLE}=N in the environment."
        )
        raise ReadError(file, problem, hint)


def allow_rerankers(limit: int) -> None:
    """Set the most rerankers of one table for this process and those that it starts."""
    os.environ[VARIABLE] = str(limit)
