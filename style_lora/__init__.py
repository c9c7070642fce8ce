"""Style LoRA: train an SDXL LoRA on a dataset ZIP of the archive tools, and generate with it."""
