"""Calls of Large results into metrics, kept; keyed by the file and the moment it was written."""

import numpy as np
import pandas as pd
import streamlit as st

from dashboard.library.turns import DEAR_ROWS, turn
from metrics.scale.stored import Stored
from metrics.studies.gaps.stored_summary import StoredSummary, stored_summary


@st.cache_resource(show_spinner="Counting every list …", max_entries=64)
def summarize_stored(
    file: tuple[str, int, int], measure: str, traditional: str, _stored: Stored
) -> StoredSummary:
    """Return what ties do to a measure, over a stored evaluation.

    Args:
        file: path, size and time of change, as `cache.file_version` gives them.
        measure: name of the measure.
        traditional: the treatment taken as traditional.
        _stored: the stored evaluation in that file.
    """
    with turn(is_dear=_stored.n_lists >= DEAR_ROWS):
        return stored_summary(_stored, measure, traditional)


@st.cache_data(show_spinner=False, max_entries=64)
def largest_gaps(file: tuple[str, int, int], measure: str, traditional: str, _stored: Stored) -> pd.DataFrame:
    """Return the lists with the largest gap, with their queries.

    Args:
        file: path, size and time of change, as `cache.file_version` gives them.
        measure: name of the measure.
        traditional: the treatment taken as traditional.
        _stored: the stored evaluation in that file.
    """
    lists = summarize_stored(file, measure, traditional, _stored).farthest
    return lists.assign(query_id=_stored.at(lists["row"].to_numpy(np.int64), ["query_id"])["query_id"])
