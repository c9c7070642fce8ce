"""What a worker does with its tasks: it works on pages, and opens and hashes files."""

import re
from pathlib import Path

from archive_tools.config import DatasetConfig, WorkerLimits
from archive_tools.errors import ArchiveToolsError
from archive_tools.extraction import PageExtractor
from archive_tools.open_documents import hash_document, probe_document
from archive_tools.schema import (
    HashResult,
    HashTask,
    ProbeResult,
    ProbeTask,
    Reply,
    Task,
    failed_reply,
)

MAX_REASON_CHARS = 200
DAMAGED = (
    "the file is damaged here. If it opens in a PDF viewer, print it to a new PDF; else copy or "
    "upload it again"
)


class TaskRunner:
    """Works on tasks and never raises: what goes wrong with a file becomes its reply."""

    def __init__(self, config: DatasetConfig, limits: WorkerLimits) -> None:
        """Prepare for tasks; nothing is opened yet.

        Args:
            config: Options of the run.
            limits: What one page may cost; here only for the words of a refusal.
        """
        self._config = config
        self._limits = limits
        self._extractor = PageExtractor(config, limits)

    def run(self, task: Task) -> Reply:
        """Work on one task.

        Args:
            task: A page to be extracted, or a file to be opened or hashed.

        Returns:
            The outcome; failed with a plain reason where the work raised.
        """
        # Any error at all: a page that fails costs itself, and the run goes on.
        try:
            if isinstance(task, ProbeTask):
                return self._probe(task.path)
            if isinstance(task, HashTask):
                return HashResult(hash_document(task.path))
            return self._extractor.extract(task)
        except Exception as error:  # noqa: BLE001
            return failed_reply(task, self._reason(error, task.path))

    def close(self) -> None:
        """Close the document that is still open."""
        self._extractor.close()

    def _probe(self, path: Path) -> ProbeResult:
        """Open a file."""
        return ProbeResult(*probe_document(path, self._config))

    def _reason(self, error: Exception, path: Path) -> str:
        """Say in a few words what went wrong; the same words wherever the file lies."""
        text = " ".join(str(error).split())
        if path.name:  # the folder "." has none, and each dot would go
            text = text.replace(str(path), path.name)
        if isinstance(error, MemoryError) or re.search(r"malloc|insufficient memory", text, re.I):
            return f"needs more than the {self._limits.page_memory_mb} MB of memory it may take"
        if isinstance(error, ArchiveToolsError):
            return text
        if isinstance(error, RuntimeError):
            # MuPDF's own; its words ("code=7: bad xref") help nobody.
            return DAMAGED
        return f"an unexpected error, please report it: {type(error).__name__}: {text}"[
            :MAX_REASON_CHARS
        ]
