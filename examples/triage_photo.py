"""Triage photos of one animal through the API of a running server.

    python app.py                                        # in another terminal
    python examples/triage_photo.py cow.jpg --sign fever --language de

The text goes to standard output, or with --json the whole report. Exit status: 0 with a report,
2 where there is none (no server, wrong usage, photos that the server refuses).
"""

import argparse
import json
import sys
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
    parser = argparse.ArgumentParser(description="Triage photos of one animal through the API.")
    parser.add_argument("photos", nargs="+", type=Path, metavar="PHOTO")
    parser.add_argument("--url", type=web_address, default="http://127.0.0.1:7860")
    parser.add_argument("--sign", action="append", default=[], help="what you see; may be repeated")
    parser.add_argument("--language", choices=["en", "de", "fr", "ru"], default="en")
    parser.add_argument("--json", action="store_true", help="print the whole report")
    return parser.parse_args(arguments)


def request_triage(options: argparse.Namespace) -> dict[str, Any]:
    """Upload the photos and wait for the report.

    Raises:
        httpx.TransportError: No server answers at the address.
        ValueError: What answers there is another server.
        AppError: The server refuses the request; its text says why.
    """
    client = Client(options.url, verbose=False)
    photos = [handle_file(str(photo)) for photo in options.photos]
    report: dict[str, Any] = client.predict(
        photos, options.sign, options.language, api_name="/triage"
    )
    return report


def to_text(report: dict[str, Any]) -> str:
    """Write a report out for people."""
    lines = [f"{report['level'].upper()}: {report['headline']}"]
    lines += [f"- {found['name']} ({found['probability']:.0%})" for found in report["findings"]]
    lines += [f"{number}. {step}" for number, step in enumerate(report["first_steps"], 1)]
    if report["call"]:
        lines.append(report["call"])
    return "\n".join([*lines, report["disclaimer"]])


def main(arguments: list[str] | None = None) -> int:
    """Triage the photos of the command line; return the exit status."""
    options = parse_arguments(arguments)
    missing = [str(photo) for photo in options.photos if not photo.is_file()]
    if missing:
        print(f"Not found: {', '.join(missing)}", file=sys.stderr)
        return 2
    try:
        report = request_triage(options)
    except httpx.TransportError as error:
        print(f"No server answers at {options.url} ({error}).", file=sys.stderr)
        print("Start it with `python app.py`, or give its address with --url.", file=sys.stderr)
        return 2
    except (AppError, ValueError) as error:
        print(f"The server did not take the request: {error}", file=sys.stderr)
        return 2
    print(json.dumps(report, ensure_ascii=False, indent=2) if options.json else to_text(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
