"""Fixtures for every test."""

import os
from pathlib import Path

import pytest

from tests.served_app import served_app  # noqa: F401 - one server for the whole session

REPOSITORY = Path(__file__).resolve().parents[1]
SHARED_DATA = REPOSITORY.parent / "shared" / "data"


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The labelled photos and scans beside the checkout (marker `shared_data`)."""
    assert SHARED_DATA.is_dir(), f"{SHARED_DATA} is missing; leave out the marker shared_data"
    return SHARED_DATA


def pytest_sessionfinish(session: pytest.Session) -> None:
    """In CI a skipped test is a failure: nothing may be left out for want of a tool."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") == "true" and reporter is not None and reporter.stats.get("skipped"):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
