"""Datasets of more scans than one machine can do: shards made anywhere, joined in order."""
