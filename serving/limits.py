"""What one visitor may ask of the server, in one place; what one page or photo may cost is with it.

README.md and the page state these.
"""

from typing import Final

from archive_tools.config import WorkerLimits
from archive_tools.image_file import MOST_PIXELS
from serving.page_texts import LANGUAGE_NAMES, PageTexts
from vetscanner.config import MAX_JPEG_PIXELS, MAX_PHOTOS, MAX_PIXELS

# Per file. Larger archives belong to the command line, which reads them where they lie.
MAX_UPLOAD_BYTES: Final = 2 * 2**30

# Seconds between two sweeps, and the age at which an upload or a result is deleted: longer than
# the longest job, since Gradio's sweep knows nothing of jobs that still run.
SWEEP_EVERY_S: Final = 3_600
KEPT_S: Final = 86_400

# Waiting requests of both tabs together; each holds no more than the names of its uploads. ZeroGPU
# would make it 1 if it were left unset.
MAX_QUEUE: Final = 128

# Visitors whose state of the page Gradio keeps, 0.1 MB each and for ever: its own default of 10,000
# would be a gigabyte. Whoever is evicted meets a page as freshly opened. Never fewer than may wait.
MAX_SESSIONS: Final = MAX_QUEUE


def fill_in_limits(texts: PageTexts) -> PageTexts:
    """Return texts with the figures of the limits in their gaps.

    Args:
        texts: Their gaps are named as the limits here.
    """
    million = 1_000_000
    limits = {
        "file_gb": MAX_UPLOAD_BYTES // 2**30,
        "photos": MAX_PHOTOS,
        "photo_megapixels": MAX_PIXELS // million,
        "jpeg_megapixels": MAX_JPEG_PIXELS // million,
        "picture_megapixels": MOST_PIXELS // million,
        "page_s": round(WorkerLimits().page_time_s),
        "page_mb": WorkerLimits().page_memory_mb,
        "queue": MAX_QUEUE,
        "hours": KEPT_S // 3_600,
    }
    filled = {
        language: {key: texts.tell(key, language, **limits) for key in texts.texts[language]}
        for language in LANGUAGE_NAMES
    }
    return PageTexts(texts.prefix, filled)
