"""`python -m archive_tools`."""

import sys

from archive_tools.cli import main

if __name__ == "__main__":
    sys.exit(main())
