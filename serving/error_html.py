"""What went wrong, on the page and not in a toast: it says what to do, and a toast is gone soon."""

from html import escape


def error_html(message: str) -> str:
    """Return why there is no answer and what to do, one paragraph a line.

    Args:
        message: May quote what a visitor sent: it is escaped.
    """
    lines = "".join(f"<p>{escape(line)}</p>" for line in message.splitlines())
    return f'<div class="user-error" role="alert">{lines}</div>'
