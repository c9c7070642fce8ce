"""Triage of cattle from photos: visible signs, how urgent, whom to call, what to do now."""

__version__ = "0.1.0"
