"""ZeroGPU without its hardware: a device service on loopback, and what a CPU torch lacks for it."""
