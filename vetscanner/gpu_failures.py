"""What goes wrong with a GPU call, in plain words.

The `spaces` package raises `gr.Error` where the device service says no or the worker fails, and
lets everything else (a dropped connection, an answer that makes no sense) through as it comes.
"""

import re

import gradio as gr
import httpx

from serving.gpu_refusals import GpuRefusal, recognise_refusal
from vetscanner.errors import VetScannerError

GPU_CALL_FAILURES = (
    gr.Error,
    httpx.HTTPError,  # the device service cannot be reached, or hangs up
    OSError,  # no process can be forked, the worker died before it got its arguments
    RuntimeError,  # the device service answered 500, or ended the stream while we queued
    ValueError,  # it answered something that is not JSON, or not the JSON it should be
    LookupError,  # it left out a header
    AssertionError,  # the package's own checks
)
"""Everything that a GPU call can raise beside what is wrong with the visitor's own input."""

_SERVICE_ERROR = "the GPU service reported an error"
_VISITOR_LEFT = "Connection closed by visitor"

_WORDS = {
    GpuRefusal.NONE_IN_TIME: "no GPU became free in time",
    GpuRefusal.ANONYMOUS_QUOTA: (
        "the GPU time for visitors who are not signed in to Hugging Face is used up"
    ),
    GpuRefusal.RUNS_QUOTA: "your number of GPU runs is used up",
    GpuRefusal.TIME_QUOTA: "your GPU time is used up",
    GpuRefusal.TOO_LONG: "it would take more GPU time than one request may have",
    GpuRefusal.CREDITS_HELD: "your GPU credits are held by tasks that are still running",
    GpuRefusal.NONE_FREE: "no GPU was free",
    GpuRefusal.EXPIRED: "the sign-in to the GPU service has expired (reload the page)",
    GpuRefusal.ABORTED: "the GPU worker was stopped before it was done",
    GpuRefusal.OUT_OF_MEMORY: "the GPU had too little memory free",
    GpuRefusal.WORKER_FAILED: "the GPU worker failed",
}


def has_visitor_left(error: BaseException) -> bool:
    """Whether the GPU call ended because nobody waits for its answer any more.

    "Unexpected end of stream" is not that: the service hung up, the visitor is still there.
    """
    return isinstance(error, RuntimeError) and str(error).startswith(_VISITOR_LEFT)


def failure_in_plain_words(error: BaseException) -> str:
    """Say why a GPU call failed.

    Args:
        error: One of `GPU_CALL_FAILURES`.

    Returns:
        A clause without a full stop or markup.
    """
    if isinstance(error, gr.Error):
        return _refusal_in_plain_words(error)
    if isinstance(error, httpx.HTTPError | OSError):
        return "the GPU service could not be reached"
    return _SERVICE_ERROR


def model_failure(error: VetScannerError) -> gr.Error:
    """Make the error that a GPU worker raises when the model fails there.

    Only a `gr.Error` keeps its words on the way out of the worker: of any other exception the
    `spaces` package hands on the name of its class.
    """
    is_full = _is_out_of_memory(error)
    words = _WORDS[GpuRefusal.OUT_OF_MEMORY] if is_full else "the model failed on the GPU"
    return gr.Error(words, title="GPU failure", print_exception=False)


def _refusal_in_plain_words(refusal: gr.Error) -> str:
    # The package writes links into its messages; the report is plain text.
    message = re.sub(r"<[^>]*>", "", str(refusal.message))
    known = recognise_refusal(refusal.title, message)
    if known is not None:
        return _WORDS[known] + _when_to_try_again(message)
    return message.strip().rstrip(".") or _SERVICE_ERROR


def _when_to_try_again(message: str) -> str:
    """Keep the two facts of a quota message that a visitor can act on."""
    seconds = re.search(r"\d+s requested vs\. -?\d+s left", message)
    wait = re.search(r"Try again in ([\w, :]+)\.", message)
    facts = [
        *([seconds[0].replace("vs.", "and")] if seconds else []),
        *([f"try again in {wait[1]}"] if wait else []),
    ]
    return f" ({', '.join(facts)})" if facts else ""


def _is_out_of_memory(error: BaseException) -> bool:
    # By name: this module is read before anything needs torch.
    cause: BaseException | None = error
    while cause is not None:
        if type(cause).__name__ == "OutOfMemoryError":
            return True
        cause = cause.__cause__
    return False
