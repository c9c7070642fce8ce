"""Jobs of the real `gradio_client`, waited for."""

from typing import Any

from gradio_client.client import Job

LIMIT_S = 240.0


def wait_for_answers(job: Job) -> list[Any]:
    """Wait for a job and return everything that it gave, one entry for each yield.

    Iterating a job swallows its error; this does not.

    Raises:
        Exception: What the server answered instead of a result.
    """
    last = job.result(timeout=LIMIT_S)
    return job.outputs() or [last]
