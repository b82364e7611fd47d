"""A Dask scheduler and its workers, given or started on this machine."""

import logging
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pandas as pd

from metrics.errors import TieScopeError, UsageError, needs

with needs("distributed"):
    import psutil
    from dask import config, dataframe
    from dask.delayed import delayed
    from dask.system import CPU_COUNT
    from distributed import Client, KilledWorker, Scheduler, SpecCluster
    from distributed.client import FutureCancelledError
    from distributed.comm.addressing import resolve_address
    from distributed.deploy.subprocess import SubprocessWorker
    from distributed.scheduler import NoWorkerError
    from distributed.utils import silence_logging_cmgr
    from distributed.worker_memory import parse_memory_limit

__all__ = ["Client", "connect", "map_frames", "results_in_order", "shuffle_frames"]

_HOST = "127.0.0.1"
_PATIENCE = "20 s"
_WITHOUT_WORKERS = "60 s"
"""How long a part waits on this machine without workers."""
_STEP = 1
"""Seconds of one wait."""
_LOG = logging.getLogger(__name__)
_WORKER_ENVIRONMENT = {
    "MALLOC_TRIM_THRESHOLD_": str(2**27),
    "MALLOC_MMAP_THRESHOLD_": str(2**25),
    "MALLOC_TOP_PAD_": str(2**26),
    "PYTHONSAFEPATH": "1",
}
"""Memory settings of glibc, and safe imports.

Dask's own settings return freed memory at once, which doubles the time of a part. With a safe path no worker
imports a `metrics.py` of its working folder.
"""
_START = "Start a scheduler with `dask scheduler`, and workers with `dask worker tcp://HOST:8786`."


@contextmanager
def connect(scheduler: str | None) -> Iterator[Client]:
    """Yield a client of a scheduler; None starts one with a worker per core on this machine."""
    with ExitStack() as stack:
        stack.enter_context(silence_logging_cmgr(logging.CRITICAL))  # errors are raised instead
        if scheduler is None:
            try:
                address = stack.enter_context(_local())
            except (OSError, RuntimeError) as error:
                raise UsageError(f"Dask cannot start a worker on this machine: {error}. {_START}") from error
        try:
            if scheduler is not None:
                resolve_address(scheduler)  # for a wrong address, closing a client takes a minute
            client = Client(scheduler or address, timeout=_PATIENCE, set_as_default=False)
        except (OSError, ValueError) as error:
            raise UsageError(f"{scheduler}: no Dask scheduler answers. {_START}") from error
        yield stack.enter_context(client)


class _WorkerProcess(SubprocessWorker):
    """A worker that ends before its child processes, because it would report their end."""

    async def close(self) -> None:
        """Kill the process and its children, and wait for the end."""
        if self.process and self.process.returncode is None:
            children = psutil.Process(self.process.pid).children(recursive=True)
            self.process.kill()
            for child in children:
                with suppress(psutil.NoSuchProcess):
                    child.kill()
            await self.process.communicate()
        await super().close()


@contextmanager
def _local() -> Iterator[SpecCluster]:
    """Yield workers on this machine, and end them after the block.

    A thread starts them, so that an exit during the start does not leave workers behind.
    """
    with ThreadPoolExecutor(1) as thread:
        start = thread.submit(_start_workers)
        try:
            yield start.result()
        finally:
            start.result().close()


def _start_workers() -> SpecCluster:
    """Start workers of one thread each, in processes that do not run the caller's script again."""
    limit = parse_memory_limit("auto", 1, CPU_COUNT, logger=_LOG)
    options = {"host": _HOST, "nthreads": 1, "memory_limit": limit, "silence_logs": logging.CRITICAL}
    worker = {"cls": _WorkerProcess, "options": {"worker_kwargs": options | {"dashboard": False}}}
    settings = {"host": _HOST, "port": 0, "dashboard": False, "dashboard_address": f"{_HOST}:0"}
    waiting = {"distributed.scheduler.no-workers-timeout": _WITHOUT_WORKERS}
    with _environment(_WORKER_ENVIRONMENT), config.set(waiting):
        return SpecCluster(
            workers=dict.fromkeys(range(CPU_COUNT), worker),
            scheduler={"cls": Scheduler, "options": settings},
            silence_logs=False,
        )


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    """Set environment variables for new processes, unless they are already set."""
    added = variables.keys() - os.environ.keys()
    os.environ.update({name: variables[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            del os.environ[name]


def results_in_order(futures: list[Any]) -> Iterator[Any]:
    """Yield the results of tasks in order, and empty the list of futures, so that results can be freed.

    Raises:
        TieScopeError: the error of a task.
        UsageError: a task kills its workers or fails on them, or the workers or the scheduler are lost.
    """
    futures.reverse()
    while futures:
        try:
            result = _result(futures.pop())
        except TieScopeError:
            raise
        except KilledWorker as error:
            hint = "Give each worker more memory, or write Parquet files with smaller row groups."
            raise UsageError(
                f"A part of the data was too large for {error.allowed_failures + 1} workers. {hint}"
            ) from error
        except NoWorkerError as error:
            hint = "Install tiescope on the workers, and give them enough memory."
            raise UsageError(f"All Dask workers were lost. {hint}") from error
        except FutureCancelledError as error:
            raise UsageError(f"The Dask scheduler was lost. {_START}") from error
        except (ImportError, MemoryError, OSError, RuntimeError) as error:
            hint = "The workers need tiescope, access to the files, and enough memory and disk space."
            raise UsageError(f"A Dask worker failed: {type(error).__name__}: {error}. {hint}") from error
        yield result


def _result(future: Any) -> Any:  # noqa: ANN401 of any task
    """Wait for a result step by step, because Python handles signals only between waits, then fetch it.

    A fetch in progress when a step ends would be cancelled, and with it later fetches.
    """
    while not future.done():
        with suppress(TimeoutError):
            future.exception(_STEP)
    return future.result()


def shuffle_frames(
    client: Client, read: Callable[..., pd.DataFrame], parts: Sequence[tuple[Any, ...]], pieces: int
) -> list[Any]:
    """Return delayed frames in which all rows of the same `key` are together."""
    columns = [list(column) for column in zip(*parts, strict=True)]
    with client.as_current():
        frame = dataframe.from_map(read, *columns, meta=read(None, *parts[0][1:]), enforce_metadata=False)
        return list(frame.shuffle("key", npartitions=pieces, shuffle_method="p2p").to_delayed())


def map_frames(client: Client, task: Callable[..., Any], frames: Sequence[Any], *arguments: Any) -> list[Any]:
    """Submit a task on each frame, with the same further arguments."""
    delayed_task = delayed(task)
    return list(client.compute([delayed_task(frame, *arguments) for frame in frames]))
