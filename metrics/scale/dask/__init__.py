"""Other places where the same lists are scored in the same way: the only floor that knows Dask."""

from metrics.scale.dask.dataset import Dataset
from metrics.scale.dask.evaluating import evaluate_dataset

__all__ = ["Dataset", "evaluate_dataset"]
