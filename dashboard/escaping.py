"""What users wrote, made harmless for the Markdown that Streamlit draws."""

import re
import unicodedata


def escape_markdown(text: str) -> str:
    """Return a user's text for Markdown: every mark escaped, control characters left out."""
    plain = "".join(letter for letter in text if unicodedata.category(letter)[0] != "C")
    plain = re.sub(r"(?i)(://|www\.|@)", "\u2060\\1", plain)  # a word joiner: an address is not a link
    return re.sub(r"([\\`*_{}\[\]()<>#+\-.!|~$:&@/])", r"\\\1", plain)
