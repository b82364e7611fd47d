import io

import pandas as pd
import pytest
import streamlit


@pytest.fixture
def downloads(monkeypatch):
    """Name of each file offered by the pages opened since → a function that makes it and reads its rows."""
    tables, offer = {}, streamlit.download_button

    def note(label, **options):
        tables[options["file_name"].removeprefix("tiescope-").removesuffix(".csv")] = lambda: pd.read_csv(
            io.BytesIO(options["data"]())
        )
        return offer(label, **options)

    monkeypatch.setattr(streamlit, "download_button", note)
    return tables
