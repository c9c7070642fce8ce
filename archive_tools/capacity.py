"""How many worker processes this machine can feed; containers are asked for their share."""

import math
import os
from pathlib import Path

CGROUP_ROOT = Path("/sys/fs/cgroup")
OWN_CGROUPS = Path("/proc/self/cgroup")


def count_usable_cpus() -> int:
    """Return the number of CPUs that this process may keep busy, at least 1."""
    if hasattr(os, "sched_getaffinity"):
        allowed = len(os.sched_getaffinity(0))
    else:
        allowed = os.cpu_count() or 1
    quota = read_cpu_quota(CGROUP_ROOT, OWN_CGROUPS)
    return max(1, allowed if quota is None else min(allowed, math.ceil(quota)))


def read_cpu_quota(root: Path, own_cgroups: Path) -> float | None:
    """Return the CPU quota of this process's control groups.

    Args:
        root: Where the control group file system is mounted.
        own_cgroups: The list of this process's groups (`/proc/self/cgroup`).

    Returns:
        CPUs as a fraction (1.5 is one and a half), the smallest of all levels; None when there
        is no quota.
    """
    quotas = [
        quota
        for folder in _group_folders(root, own_cgroups)
        if (quota := _quota_of(folder)) is not None
    ]
    return min(quotas, default=None)


def _group_folders(root: Path, own_cgroups: Path) -> list[Path]:
    """Return the folders of this process's CPU groups and all their parents."""
    try:
        lines = own_cgroups.read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    # In a container the path is often that on the host, and only the root itself is visible.
    folders = [root, root / "cpu"]
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        base = root / "cpu" if controllers else root
        group = base / path.lstrip("/")
        folders += [folder for folder in (group, *group.parents) if folder.is_relative_to(base)]
    return folders


def _quota_of(folder: Path) -> float | None:
    """Return the quota that one group states, in version 2 or version 1 of the file format."""
    stated = _read_words(folder / "cpu.max")
    if not stated:
        stated = _read_words(folder / "cpu.cfs_quota_us") + _read_words(
            folder / "cpu.cfs_period_us"
        )
    if len(stated) != 2 or stated[0] in ("max", "-1"):
        return None
    return int(stated[0]) / int(stated[1])


def _read_words(path: Path) -> list[str]:
    """Return the words of a small file, none where it does not exist."""
    try:
        return path.read_text(encoding="ascii").split()
    except OSError:
        return []
