"""The log of a training: one JSON object a line, one line a step."""

import json
from pathlib import Path
from typing import Any

from style_lora.atomic_files import write_text


class TrainingLog:
    """A JSONL file that grows, and is cut back to the checkpoint when a training goes on."""

    def __init__(self, path: Path, steps_done: int) -> None:
        """Open the log.

        Args:
            path: The file.
            steps_done: What was logged after that step is forgotten: those steps come again.
        """
        rows = [row for row in read_log(path) if row["step"] <= steps_done] if steps_done else []
        write_text(path, "".join(f"{json.dumps(row)}\n" for row in rows))
        self._path = path

    def add(self, step: int, **values: float | None) -> None:
        """Append a line.

        Args:
            step: Steps done.
            values: What to log; None is left out.
        """
        row = {"step": step, **{name: one for name, one in values.items() if one is not None}}
        with self._path.open("a", encoding="utf-8") as lines:
            lines.write(f"{json.dumps(row)}\n")


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return all whole lines of a log; a kill may have cut the last one short."""
    if not path.exists():
        return []
    rows = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if isinstance(row, dict) and isinstance(row.get("step"), int):
            rows.append(row)
    return rows
