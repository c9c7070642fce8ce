"""What both tools stand on: texts, uploads, errors; and the server around them.

That is limits, headers, health, its log, and tidying up.
"""
