"""`python -m archive_tools`."""

import sys

from archive_tools.quick_loading import quick_loading

if __name__ == "__main__":
    with quick_loading():
        from archive_tools.cli import main
    sys.exit(main())
