"""The endpoints as tools of the Model Context Protocol: Gradio's server, answering in JSON.

Gradio hands an answer over in Python's notation, and a file by its path on the server, which is of
no use to a client.
"""

import importlib.util
import json
import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import gradio.mcp
from gradio_client.utils import is_file_obj_with_meta

from serving.uploads import file_address

if TYPE_CHECKING:
    from mcp.types import ImageContent, TextContent

SWITCH_VARIABLE = "GRADIO_MCP_SERVER"
"""Gradio's own variable: `false` leaves the tools out although their package is installed."""


class JsonToolServer(gradio.mcp.GradioMCPServer):
    """Gradio's MCP server with answers that a program can read."""

    def postprocess_output_data(
        self, data: Any, root_url: str
    ) -> "list[TextContent | ImageContent]":
        """Return an answer as texts: JSON, and the address of each file.

        Args:
            data: What the endpoint returned, in one or more lists around each other.
            root_url: Address of this server as the client knows it.
        """
        texts = _iter_texts(data, root_url)
        return [self.types.TextContent(type="text", text=text) for text in texts]


def serve_tools() -> bool:
    """Say whether the endpoints are served as tools, and prepare it.

    Returns:
        True where the package `mcp` is installed and the owner has not switched the tools off.
    """
    if os.environ.get(SWITCH_VARIABLE, "true").lower() != "true":
        return False
    # Gradio makes its server itself and asks nobody of which class.
    gradio.mcp.GradioMCPServer = JsonToolServer  # type: ignore[misc]
    return importlib.util.find_spec("mcp") is not None


def _iter_texts(data: Any, root_url: str) -> Iterator[str]:
    if isinstance(data, list | tuple):
        for entry in data:
            yield from _iter_texts(entry, root_url)
    elif is_file_obj_with_meta(data):
        yield root_url + file_address(data["path"])
    elif data is not None:
        yield json.dumps(data, ensure_ascii=False)
