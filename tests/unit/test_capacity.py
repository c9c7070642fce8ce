"""How many CPUs a container may keep busy."""

from pathlib import Path

import pytest

from archive_tools.capacity import count_usable_cpus, read_cpu_quota


def write_group(root: Path, group: str, **files: str) -> None:
    folder = root / group
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name.replace("cpu_", "cpu.", 1)).write_text(text + "\n")


def read_quota(root: Path, own_cgroups: str) -> float | None:
    listing = root.parent / "own_cgroups"
    listing.write_text(own_cgroups)
    return read_cpu_quota(root, listing)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A control group file system without any group."""
    (tmp_path / "cgroup").mkdir()
    return tmp_path / "cgroup"


def test_version_2_quota_of_the_own_group(root: Path) -> None:
    write_group(root, "app/web", cpu_max="150000 100000")
    assert read_quota(root, "0::/app/web\n") == 1.5


def test_smallest_quota_of_all_levels_counts(root: Path) -> None:
    write_group(root, "app", cpu_max="100000 100000")
    write_group(root, "app/web", cpu_max="max 100000")
    assert read_quota(root, "0::/app/web\n") == 1.0


def test_container_sees_its_own_group_as_the_root(root: Path) -> None:
    write_group(root, ".", cpu_max="200000 100000")
    assert read_quota(root, "0::/docker/f00d\n") == 2.0


def test_version_1_quota(root: Path) -> None:
    write_group(root, "cpu/app", cpu_cfs_quota_us="250000", cpu_cfs_period_us="100000")
    assert read_quota(root, "5:cpu,cpuacct:/app\n3:memory:/other\n") == 2.5


@pytest.mark.parametrize("files", [{}, {"cpu_max": "max 100000"}, {"cpu_cfs_quota_us": "-1"}])
def test_no_quota(files: dict[str, str], root: Path) -> None:
    write_group(root, ".", **files)
    write_group(root, "cpu", **files)
    assert read_quota(root, "0::/\n1:cpu:/\n") is None


def test_no_control_groups_at_all(tmp_path: Path) -> None:
    assert read_cpu_quota(tmp_path / "none", tmp_path / "none") is None


def test_there_is_always_a_cpu() -> None:
    assert count_usable_cpus() >= 1
