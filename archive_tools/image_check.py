"""A last look at each image before it goes into a dataset."""

import io

from archive_tools.errors import DatasetWriteError
from archive_tools.schema import Record

_END_OF_IMAGE = {"jpg": b"\xff\xd9", "png": b"IEND\xaeB`\x82"}
_FORMATS = {"jpg": "JPEG", "png": "PNG"}


def check_image(record: Record, origin: str) -> None:
    """Check that an image is the JPEG or PNG that it claims to be.

    Only the header and the end are read: decoding every image again would cost as much as making
    it.

    Args:
        record: The image.
        origin: Where it comes from, for people.

    Raises:
        DatasetWriteError: It is torn, of another size, or not in RGB.
    """
    # Here, since it is not needed before the first page is done.
    from PIL import Image, UnidentifiedImageError

    kind = _FORMATS[record.extension]
    try:
        with Image.open(io.BytesIO(record.jpeg), formats=(kind,)) as image:
            is_right = image.size == (record.width, record.height) and image.mode == "RGB"
    except UnidentifiedImageError:
        is_right = False
    if not is_right or not record.jpeg.endswith(_END_OF_IMAGE[record.extension]):
        raise DatasetWriteError(
            f"The image of {origin} is no whole RGB {kind} of {record.width}x{record.height} "
            "pixels. This is a fault of the program: please report it with the file."
        )
