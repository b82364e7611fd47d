"""What users wrote, made harmless for the Markdown that Streamlit draws."""

import re
import unicodedata

_FOLDERS = re.compile(r"(?:(?<![\w.…:/])|(?<=://))/(?:[^\s/:;,()'\"]+/)+")


def escape_markdown(text: str) -> str:
    """Return a user's text for Markdown: every mark escaped, control characters left out."""
    plain = "".join(letter for letter in text if unicodedata.category(letter)[0] != "C")
    plain = re.sub(r"(?i)(://|www\.|@)", "\u2060\\1", plain)  # a word joiner: an address is not a link
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~$:&@/])", r"\\\1", plain)


def escape_copied(text: str) -> str:
    """Return a text for Markdown that is pasted elsewhere: only what would begin a mark is escaped."""
    plain = "".join(letter for letter in text if unicodedata.category(letter)[0] != "C")
    return re.sub(r"([\\`*_\[\]<])", r"\\\1", plain)


def without_folders(message: str) -> str:
    """Return a message for a page: of a path of the server, only the last part."""
    return _FOLDERS.sub("…/", message)


def error_markdown(error: Exception) -> str:
    """Return what an error says as Markdown for a page; the log and the commands have whole paths."""
    return escape_markdown(without_folders(str(error)))
