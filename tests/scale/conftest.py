import pytest
from dask_cluster import scheduler


@pytest.fixture(scope="session")
def address():
    """Address of a scheduler in this process."""
    with scheduler() as address:
        yield address
