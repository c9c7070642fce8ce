"""Turn scanned PDFs into a clean image dataset for LoRA training, one page at a time."""

__version__ = "0.1.0"
