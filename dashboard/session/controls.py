"""Moved to dashboard.controls."""

from dashboard.controls import *  # noqa: F403
from dashboard.controls import KEPT, SECTION, Texts  # noqa: F401
