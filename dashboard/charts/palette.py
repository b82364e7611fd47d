"""Colours of the light and dark themes. Blue is tied, orange is traditional, on every page."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Palette:
    """The colours of one theme."""

    tied: str  # tied scores
    traditional: str  # traditional scores, and scores that are too high
    bounds: str  # worst to best case, and brackets of ties
    other: str  # scores that are too low, and neutral bars
    faint: str  # context
    ground: str  # background
    text: str  # words and mean lines
    muted: str  # axis titles and notes
    grid: str  # grid lines
    heat: tuple[str, ...]  # sequential scale
    warm: tuple[str, ...]  # sequential scale for gaps
    rerankers: tuple[str, ...]  # one colour per reranker, in board order

    def reranker(self, index: int) -> str:
        """Return the colour of the reranker at this position of the board."""
        return self.rerankers[index % len(self.rerankers)]


LIGHT = Palette(
    tied="#0072B2",
    traditional="#D55E00",
    bounds="#D0E5F2",
    other="#B6BEC7",
    faint="#E7E9EC",
    ground="#FFFFFF",
    text="#15181C",
    muted="#5C6670",
    grid="#ECEEF0",
    heat=("#F1F6FA", "#C2DBED", "#7FB4D9", "#3985BA", "#0E5387", "#083B63"),
    warm=("#FCE0C8", "#F6B27C", "#E58A42", "#D55E00", "#9A4300", "#6B2F00"),
    rerankers=("#00695C", "#7B3F8C", "#2B2F3A", "#A8871B", "#6B4E3D", "#CE6F97", "#838B96", "#4B9B61"),
)

DARK = Palette(
    tied="#5AB4F0",
    traditional="#FF8F45",
    bounds="#25455B",
    other="#55606C",
    faint="#262E38",
    ground="#11151B",
    text="#E7EAEE",
    muted="#A3ADB8",
    grid="#222A34",
    heat=("#16263A", "#17344F", "#1C5880", "#2F84B6", "#70B4DF", "#CDE6F8"),
    warm=("#4A2C17", "#7A431A", "#B0601F", "#E07B33", "#FFA566", "#FFD9B8"),
    rerankers=("#1FA88A", "#B07AE0", "#F1F3F6", "#E3CF6B", "#A9805F", "#FFB3CC", "#7D8896", "#74B86B"),
)


def theme_palette(theme: Literal["light", "dark"] | str | None) -> Palette:  # noqa: PYI051 what Streamlit says
    """Return the colours of a theme; light if the theme is unknown."""
    return DARK if theme == "dark" else LIGHT


def faded(colour: str, share: float) -> str:
    """Return a colour with an opacity of `share`."""
    red, green, blue = _parts(colour)
    return f"rgba({red},{green},{blue},{share:g})"


def blend(low: str, high: str, share: float) -> str:
    """Return the colour at `share` of the way from `low` to `high`, all as `#RRGGBB`."""
    ends = _parts(low), _parts(high)
    return "#" + "".join(f"{round(a + share * (b - a)):02X}" for a, b in zip(*ends, strict=True))


def ink(ground: str) -> str:
    """Return white or dark text, whichever contrasts more with the background."""
    return max(LIGHT.ground, LIGHT.text, key=lambda words: contrast(words, ground))


def contrast(words: str, ground: str) -> float:
    """Return the contrast ratio of two colours, 1 to 21 (WCAG 2.2, 1.4.3)."""
    dark, light = sorted((_luminance(words), _luminance(ground)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    """Return the relative luminance of a colour (WCAG 2.2)."""
    shares = (part / 255 for part in _parts(colour))
    red, green, blue = (x / 12.92 if x <= 0.04045 else ((x + 0.055) / 1.055) ** 2.4 for x in shares)  # noqa: PLR2004 sRGB
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _parts(colour: str) -> tuple[int, int, int]:
    red, green, blue = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return red, green, blue
