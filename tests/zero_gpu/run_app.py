"""Serve app.py as ZeroGPU does, on a machine with a CPU build of torch."""

import runpy

from tests.zero_gpu.cpu_torch import complete_torch, offer_devices

complete_torch()

import spaces  # noqa: E402, F401 - patches torch, which must be complete by then

offer_devices()

if __name__ == "__main__":
    runpy.run_path("app.py", run_name="__main__")
