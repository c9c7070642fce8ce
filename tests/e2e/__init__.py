"""The served page, driven from outside."""
