"""`python -m vetscanner`."""

import sys

from vetscanner.cli import main

sys.exit(main())
