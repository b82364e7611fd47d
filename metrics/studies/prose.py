"""Sentences written from data. A name inside them is the user's text, so it stays apart until shown."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Strong:
    """A word that carries the sentence: a name or a figure."""

    text: str


Prose = tuple[str | Strong, ...]
"""A sentence in parts; whoever shows it escapes each part and sets the strong ones apart."""


def plain(prose: Prose) -> str:
    """The sentence as text, without emphasis."""
    return "".join(part.text if isinstance(part, Strong) else part for part in prose)


def percent(share: float) -> str:
    """A share of one as a whole percent; neither 0% nor 100% unless it is."""
    if 0 < share <= 0.005:  # noqa: PLR2004 rounds to 0
        return "under 1%"
    return "over 99%" if 0.995 <= share < 1 else f"{share:.0%}"  # noqa: PLR2004 rounds to 100


def signed(value: float, digits: int = 3, *, plus: bool = True) -> str:
    """A number with its sign, a true minus, and no sign on zero; without `plus`, only the minus."""
    text = f"{value:{'+' * plus}.{digits}f}"
    return text.replace("-", "−") if float(text) else f"{0:.{digits}f}"


def chance(p: float) -> str:
    """A p as it is said: `p = 0.012`, `p < 0.001`; of 0.0496 not that it is 0.050."""
    if p < 0.001:  # noqa: PLR2004 what three decimals show
        return "p < 0.001"
    return f"p = {p:.4f}" if 0.0495 <= p < 0.05 else f"p = {p:.3f}"  # noqa: PLR2004 the usual bound
