"""Training, calibration and evaluation; never imported by the running app."""
