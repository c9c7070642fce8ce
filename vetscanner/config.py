"""Limits and thresholds of one scan, each with its reason."""

MAX_PHOTOS = 12
"""Photos of one animal in one request: bounds memory (3 MB each) and the time on the device."""

MAX_WORKING_SIDE_PX = 1024
"""Photos are scaled down to this long side: the models look at 224 to 512 px."""

MIN_SIDE_PX = 32
"""Below this short side nothing can be seen, the photo is refused."""

MAX_ASPECT_RATIO = 10
"""A phone's panorama reaches about 6; a longer strip is not a photo of an animal."""

MAX_PIXELS = 50_000_000
"""Largest picture that is decoded whole (about 200 MB while it is decoded)."""

MAX_JPEG_PIXELS = 120_000_000
"""Largest JPEG: phones make 108 megapixels, and a JPEG can be decoded at 1/8 of its size."""

QUALITY_SIDE_PX = 320
"""The quality check looks at the photo at this long side, where its thresholds were measured."""

# Measured on the 2,995 development photos at 320 px: the three checks together flag 0.7 % of them.
MIN_GOOD_SIDE_PX = 100
"""Shorter photos are `tiny`: 0.1 % of the development photos."""

MIN_CLOSE_SIDE_PX = 300
"""Shorter photos are `small`: judged like good ones, since the model looks at 256 px and learnt
from such (30 % of the development photos). But a sore a tenth as wide has under 30 px for a vet.
"""

MIN_BRIGHT_LUMA = 60
"""`dark` when 95 % of the pixels are darker (0 to 255): 0.2 % of the development photos."""

MIN_SHARPNESS = 40.0
"""`blurred` when no tile has a Laplacian variance of at least this.

It flags 0.4 % of the development photos, and 94 % of them after a blur of 2 px (sigma).
"""
