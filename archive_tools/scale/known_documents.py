"""Remote documents that earlier runs have seen whole, so that nobody fetches them to hash them.

What is known of one lies beside its shards, under a name that follows from its address, its
version there and the options of the run. The address itself may hold secrets and is not written.
"""

import hashlib
import tempfile
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from archive_tools.remote_source import RemoteFile
from archive_tools.scale.checked_json import decode_checked, encode_checked
from archive_tools.scale.documents import decode_found, encode_found
from archive_tools.scale.tasks import DocumentFound
from archive_tools.shard_store import ShardStore


class KnownDocuments:
    """What is known of documents at addresses, in the store of the shards."""

    def __init__(self, store: ShardStore, options_hash: str) -> None:
        """Prepare; nothing is read yet.

        Args:
            store: Where the shards are.
            options_hash: From `hash_options`.
        """
        self._store = store
        self._options_hash = options_hash

    def recall(self, file: RemoteFile, version: str) -> DocumentFound | None:
        """Return what an earlier run has found out about a document.

        Args:
            file: The document.
            version: From `ask_version`, not empty.

        Returns:
            None where nothing is known of this version.

        Raises:
            DatasetWriteError: The store cannot be reached.
        """
        name = self._name(file, version)
        if not self._store.exists(name):
            return None
        with self._store.open(name) as known:
            content = known.read()
        try:
            return decode_found(decode_checked(content))
        except (ValueError, TypeError, KeyError):
            # Damaged, or of another version of these tools: found out again.
            return None

    def remember(self, file: RemoteFile, version: str, found: DocumentFound) -> None:
        """Keep what was found out about a document.

        Args:
            file: The document.
            version: From `ask_version`, the same before and after it was fetched.
            found: What was found out; it can be used.

        Raises:
            DatasetWriteError: The store is full, refuses, or cannot be reached.
        """
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "known")
            path.write_bytes(encode_checked(encode_found(found)))
            self._store.write_atomic(self._name(file, version), path)

    def _name(self, file: RemoteFile, version: str) -> str:
        """Return the name under which a version of a document is known."""
        parts = urlsplit(file.url)
        # Whoever asks is given the same document.
        url = urlunsplit(parts._replace(netloc=parts.netloc.rpartition("@")[2]))
        what = "\n".join((url, version, self._options_hash))
        return f"documents/{hashlib.sha256(what.encode(errors='surrogateescape')).hexdigest()}.json"
