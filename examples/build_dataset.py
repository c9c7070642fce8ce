"""Build a dataset from PDFs through the API of a running server.

    python app.py                                        # in another terminal
    python examples/build_dataset.py examples/magazine.pdf --out dataset.zip --trigger lindn

Progress goes to standard error, the report to standard output. Exit status: 0 done, 1 done with
failures recorded in the report, 2 no dataset (no server, wrong usage, files that cannot be used).
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import httpx
from gradio_client import Client, handle_file
from gradio_client.exceptions import AppError


def web_address(text: str) -> str:
    """Check --url: anything else would be taken for the name of a Space and looked up.

    Raises:
        argparse.ArgumentTypeError: It is no http address.
    """
    if not text.startswith(("http://", "https://")):
        raise argparse.ArgumentTypeError(f"{text!r} does not begin with http:// or https://")
    return text


def parse_arguments(arguments: list[str] | None = None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description="Build a dataset from PDFs through the API.")
    parser.add_argument("pdfs", nargs="+", type=Path, metavar="PDF")
    parser.add_argument("--out", type=Path, required=True, help="ZIP to write")
    parser.add_argument("--url", type=web_address, default="http://127.0.0.1:7860")
    parser.add_argument("--filter", help="which pages are kept (default: the server's)")
    parser.add_argument("--content", help="pages, or regions: each illustration cut out")
    parser.add_argument("--fit", help="how a page becomes square (default: the server's)")
    parser.add_argument("--trigger", help="word put first in every caption")
    return parser.parse_args(arguments)


def build_dataset(options: argparse.Namespace) -> dict[str, Any]:
    """Upload the PDFs, show progress, save the ZIP to `options.out`; returns the report.

    Raises:
        httpx.TransportError: No server answers at the address.
        ValueError: What answers there is another server.
        AppError: The server refuses the request; its text says why.
        OSError: The ZIP cannot be saved.
    """
    chosen = {name: getattr(options, name) for name in ("filter", "content", "fit", "trigger")}
    given = {name: value for name, value in chosen.items() if value is not None}
    # Beside the ZIP, so that the last step is a rename: no half-written file under its name.
    with tempfile.TemporaryDirectory(dir=options.out.absolute().parent) as folder:
        # No limit on reading: the server takes its time over an upload of gigabytes.
        patience = {"timeout": httpx.Timeout(None, connect=10)}
        client = Client(options.url, verbose=False, download_files=folder, httpx_kwargs=patience)
        pdfs = [handle_file(str(pdf)) for pdf in options.pdfs]
        job = client.submit(pdfs, api_name="/build_dataset", **given)
        for _, report in job:
            if report["state"] == "running":
                show_progress(report)
        job.result()  # raises what went wrong on the server, which the loop does not
        dataset, report = job.outputs()[-1]
        shutil.move(dataset, options.out)
    return dict(report)


def show_progress(progress: dict[str, Any]) -> None:
    """Write one line of progress to standard error."""
    print(
        f"{progress['file_name']}: page {progress['page_number']} of {progress['page_count']}, "
        f"{progress['pages_kept']} kept, {progress['pages_dropped']} dropped",
        file=sys.stderr,
    )


def main(arguments: list[str] | None = None) -> int:
    """Build the dataset of the command line; return the exit status."""
    options = parse_arguments(arguments)
    missing = [str(pdf) for pdf in options.pdfs if not pdf.is_file()]
    if missing or not options.out.absolute().parent.is_dir():
        absent = ", ".join(missing) or f"folder {options.out.absolute().parent}"
        print(f"Not found: {absent}", file=sys.stderr)
        return 2
    try:
        report = build_dataset(options)
    except httpx.TransportError as error:
        print(f"No server answers at {options.url} ({error}).", file=sys.stderr)
        print("Start it with `python app.py`, or give its address with --url.", file=sys.stderr)
        return 2
    except (AppError, OSError, ValueError) as error:
        print(f"No dataset was built: {error}", file=sys.stderr)
        return 2
    try:
        print(json.dumps(report, ensure_ascii=False, indent=2), flush=True)
    except BrokenPipeError:  # whoever reads our output has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return 0 if report["status"] == "success" else 1


if __name__ == "__main__":
    sys.exit(main())
