"""TieScope under the name it is installed by: every name of `tiescope` is that of `metrics`.

A project often has a `metrics.py` of its own, which Python finds first. The first name that is asked for then
raises an ImportError that names the file.
"""

from importlib.util import find_spec
from pathlib import Path

_METRICS = Path("metrics", "__init__.py")
ROOT = next(folder for folder in Path(__file__).resolve().parents if (folder / _METRICS).is_file())
"""The folder of the packages: of a checkout, or where they are installed."""


def __getattr__(name: str) -> object:
    """Return a public name of `metrics`, which is imported when one is first asked for."""
    spec = find_spec("metrics")
    origin = spec.origin if spec else None
    if origin is None or Path(origin).resolve() != ROOT / _METRICS:
        raise ImportError(
            f"{origin or 'Another package'} hides the package `metrics` that tiescope needs. Rename it, or "
            "remove its folder from Python's path (sys.path). The command `tiescope` is not affected."
        )
    import metrics  # noqa: PLC0415 whether it is ours is asked first

    value = globals()[name] = getattr(metrics, name)
    return value


def __dir__() -> list[str]:
    """Return the public names, as `metrics` does."""
    return __getattr__("__dir__")()  # type: ignore[operator,no-any-return]
