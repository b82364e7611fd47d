"""Make user texts safe for the Markdown that Streamlit draws."""

import re
import unicodedata
from functools import lru_cache

_OPTIONS = re.compile(r" \([^()]*--[a-z][^()]*\)")
"""What a command offers, where a page has buttons."""
_FOLDERS = re.compile(r"(?:(?<![\w.…:/])|(?<=://))/(?:[^\s/:;,()'\"]+/)+")


@lru_cache(maxsize=4096)
def escape_markdown(text: str) -> str:
    """Escape all Markdown of a text and drop control characters."""
    plain = without_controls(text)
    plain = re.sub(r"(?i)(://|www\.|@)", "\u2060\\1", plain)  # a word joiner: an address is not a link
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~$:&@/])", r"\\\1", plain)


def without_controls(text: str) -> str:
    """Drop control characters."""
    return "".join(letter for letter in text if unicodedata.category(letter)[0] != "C")


def without_folders(message: str) -> str:
    """Shorten the paths of a message to their last part, so that pages do not show the server's folders."""
    return _FOLDERS.sub("…/", message)


def without_options(message: str) -> str:
    """Leave out what a message offers on the command line and in Python, in parentheses."""
    return _OPTIONS.sub("", message)


def error_markdown(error: Exception) -> str:
    """Return an error as Markdown for a page; logs and commands show full paths, and options in parentheses."""
    return escape_markdown(without_options(without_folders(str(error))))
