"""The columns of tables that people read: what each is called, how it is written, and what it means."""

from collections.abc import Mapping
from dataclasses import replace

from metrics.support.shown_column import ShownColumn
from metrics.support.shown_columns import comparisons, decisions, lists, values

_WORDS = {"tied": "Tied", "traditional": "Traditional", "order": "the traditional order"}


def shown_columns(*keys: str | tuple[str, str], **words: object) -> dict[str, ShownColumn]:
    """Choose the columns of a table.

    Args:
        keys: of `COLUMNS`, in order; where the table's column has another name, that name and the key.
        words: what stands for the words in braces; values are Tied and Traditional unless they say more.

    Returns:
        Column of the table → how it is shown.
    """
    words = _WORDS | words
    pairs = [(key, key) if isinstance(key, str) else key for key in keys]
    columns = {}
    for name, key in pairs:
        column = COLUMNS[key]
        columns[name] = replace(
            column, label=column.label.format_map(words), help=column.help.format_map(words)
        )
    return columns


COLUMNS: Mapping[str, ShownColumn] = {
    column.key: column for section in (values, lists, comparisons, decisions) for column in section.COLUMNS
}
"""Every column by its key."""
