"""TieScope under its installed name: `tiescope` has all public names of `metrics`.

If a project has its own `metrics.py`, Python finds that first. Using a name of `tiescope` then raises an
ImportError that names the file.
"""

from importlib.util import find_spec
from pathlib import Path

_METRICS = Path("metrics", "__init__.py")
ROOT = next(folder for folder in Path(__file__).resolve().parents if (folder / _METRICS).is_file())
"""The folder that holds the packages, in a checkout or an installation."""


def __getattr__(name: str) -> object:
    """Return a public name of `metrics`, which is imported on first use."""
    spec = find_spec("metrics")
    origin = spec.origin if spec else None
    if origin is None or Path(origin).resolve() != ROOT / _METRICS:
        raise ImportError(
            f"{origin or 'Another package'} hides the package `metrics` that tiescope needs, because both have "
            "the same name. Rename the other package, or remove its folder from Python's path (sys.path). The "
            "command `tiescope` works without this change."
        )
    import metrics  # noqa: PLC0415 whether it is ours is asked first

    value = globals()[name] = getattr(metrics, name)
    return value


def __dir__() -> list[str]:
    """Return the public names of `metrics`."""
    return __getattr__("__dir__")()  # type: ignore[operator,no-any-return]
