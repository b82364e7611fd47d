"""What noise of the scores does to a leaderboard, in sentences."""

import numpy as np
import pandas as pd

from metrics.studies.prose import NOTHING_SCORED, Prose, Strong, decimal
from metrics.studies.robustness.noise_curves import LEVEL, lead_ends


def robustness_finding(curves: pd.DataFrame, measure: str, even: float | None) -> Prose:
    """Say until what noise the leader leads, and until what noise the order is as likely to hold as not.

    Args:
        curves: of `noise_curves`.
        measure: how the measure is called, such as `MTRR`.
        even: of `even_point`, over the chance of the whole order.
    """
    tied = curves.iloc[0]
    if not tied.notna().all():
        return NOTHING_SCORED
    largest = written_noise(curves.index[-1])
    leaders = [str(name) for name in curves.columns[tied >= tied.max() - LEVEL]]
    if len(curves.columns) == 1:
        end = float(curves.iloc[-1, 0])
        return (
            Strong(leaders[0]),
            f" scores {decimal(float(tied.iloc[0]))} {measure} without noise, and {decimal(end)} with noise as "
            "large as the spread of its scores.",
        )
    if len(leaders) > 1:
        return (f"{len(leaders)} rerankers lead level without noise: there is no leader for noise to change.",)
    ends = lead_ends(curves)
    if ends is None:
        lead: Prose = (Strong(leaders[0]), f" leads under every noise up to σ = {largest}. ")
    else:
        lead = (
            Strong(leaders[0]),
            f" leads until σ = {written_noise(ends[0])}, then ",
            Strong(ends[1]),
            " does. ",
        )
    return (*lead, *_order_sentence(curves, even))


def written_noise(noise: float) -> str:
    """Write a noise with two figures: `0.019`, `1`."""
    return np.format_float_positional(float(f"{noise:.2g}"), trim="-")


def _order_sentence(curves: pd.DataFrame, even: float | None) -> Prose:
    smallest, largest = (written_noise(curves.index[place]) for place in (1, -1))
    count = len(curves.columns)
    order = "The order of both" if count == 2 else f"The order of all {count}"  # noqa: PLR2004 both
    if even is None:
        return (f"{order} holds in half of the draws or more up to σ = {largest}.",)
    if even <= curves.index[1]:
        return (f"{order} holds in fewer than half of the draws at σ = {smallest} already.",)
    return (f"{order} holds in half of the draws at σ = {written_noise(even)}.",)
