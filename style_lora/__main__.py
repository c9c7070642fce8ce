"""`python -m style_lora`."""

import sys

from style_lora.cli import main

sys.exit(main())
