"""`python -m archive_tools`."""

import gc
import sys

if __name__ == "__main__":
    # Looking for garbage while everything loads would take a tenth of the time.
    gc.disable()
    from archive_tools.cli import main

    gc.freeze()
    gc.enable()
    sys.exit(main())
