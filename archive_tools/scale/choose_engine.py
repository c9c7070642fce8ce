"""Starts the engine that is asked for; each package is imported only where it is."""

import importlib.util
from functools import partial

from archive_tools.errors import EngineError
from archive_tools.scale.engines import Engine, EngineKind, EngineOptions, Work, work_unless_unfit


def open_engine(options: EngineOptions, work: Work) -> Engine:
    """Start an engine, or reach a running one; use it in a `with` block.

    Args:
        options: Which.
        work: What workers do with a task.

    Raises:
        EngineError: Its package is missing, or its address does not answer.
    """
    if options.address is not None:
        # Else all workers are on this machine, and what one cannot do none can.
        work = partial(work_unless_unfit, work)
    if options.kind is EngineKind.DASK:
        _check_installed("distributed", "dask")
        from archive_tools.scale.dask_engine import DaskEngine

        return DaskEngine(options.address, options.workers, work)
    if options.kind is EngineKind.RAY:
        _check_installed("ray", "ray")
        from archive_tools.scale.ray_engine import RayEngine

        return RayEngine(options.address, options.workers, work)
    from archive_tools.scale.process_engine import ProcessEngine

    return ProcessEngine(options.workers, work)


def _check_installed(module: str, extra: str) -> None:
    if importlib.util.find_spec(module) is None:
        raise EngineError(
            f"The engine {extra} needs a package that is not installed. Run: "
            f"pip install -r requirements-{extra}.txt"
        )
