"""Command-line options of `build` that say what becomes of the pictures."""

import argparse
from typing import Any

from archive_tools.captions import CAPTION_FIELDS
from archive_tools.config import (
    NO_FINISHING,
    Content,
    DatasetConfig,
    DatasetFormat,
    Finishing,
    Fit,
    ImageFormat,
    Spreads,
)

_DEFAULTS = DatasetConfig()


def add_picture_options(parser: argparse.ArgumentParser) -> None:
    """Describe the options.

    Args:
        parser: The parser of `build`.
    """
    _add_content(parser)
    _add_fit(parser)
    _add_finishing(parser)
    _add_choice_of_pictures(parser)
    captions = parser.add_argument_group("captions")
    captions.add_argument("--trigger", metavar="WORD", default="", help="first word of each one")
    captions.add_argument(
        "--caption",
        metavar="TEMPLATE",
        default=_DEFAULTS.caption,
        help=f"fields: {', '.join(CAPTION_FIELDS)} (default: '%(default)s')",
    )


def read_picture_options(options: argparse.Namespace) -> dict[str, Any]:
    """Return the options as fields of `DatasetConfig`.

    Args:
        options: What the parser made of the command line.
    """
    finishing = Finishing(
        trim=not options.no_trim,
        deskew=not options.no_deskew,
        neutral_paper=options.paper == "neutral",
        descreen=options.descreen,
    )
    return {
        "content": Content(options.content),
        "min_region_area": options.min_region_area,
        "spreads": Spreads(options.spreads),
        "fit": Fit(options.fit),
        "size_px": options.size,
        "image_format": ImageFormat(options.image),
        "upscale": options.upscale,
        "min_size_px": options.min_size,
        "finishing": NO_FINISHING if options.no_finishing else finishing,
        "dedupe": not options.no_dedupe,
        "best_copy": options.best_copy,
        "validation_share": options.validation,
        "dataset_format": DatasetFormat(options.format),
        "trigger": options.trigger,
        "caption": options.caption,
    }


def _add_content(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("content")
    group.add_argument(
        "--content",
        choices=[content.value for content in Content],
        default=_DEFAULTS.content.value,
        help="pages: each kept page; regions: each illustration on it, cut out (default: "
        "%(default)s)",
    )
    group.add_argument(
        "--min-region-area",
        type=float,
        default=_DEFAULTS.min_region_area,
        metavar="SHARE",
        help="leave out illustrations that cover less of the page (default: %(default)s; larger "
        "than most ornaments)",
    )
    group.add_argument(
        "--spreads",
        choices=[spreads.value for spreads in Spreads],
        default=_DEFAULTS.spreads.value,
        help="with --filter auto, split: the two pages of a spread are parted at the gutter and "
        "judged one by one, unless a picture lies across it (default: %(default)s)",
    )


def _add_fit(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("size and format")
    group.add_argument(
        "--fit",
        choices=[fit.value for fit in Fit],
        default=_DEFAULTS.fit.value,
        help="square: padded with the paper's colour; crop: the square with the most picture; "
        "bucket: the SDXL size of the nearest shape; stretch: distorted (default: %(default)s)",
    )
    group.add_argument(
        "--size",
        type=int,
        default=_DEFAULTS.size_px,
        metavar="PX",
        help="side of the square images (default: %(default)s)",
    )
    group.add_argument("--upscale", action="store_true", help="enlarge what is smaller")
    group.add_argument(
        "--min-size",
        type=int,
        metavar="PX",
        help="drop pictures with fewer pixels than a square of this side (default: 3/8 of --size, "
        "of regions 1/4)",
    )
    group.add_argument(
        "--image",
        choices=[kind.value for kind in ImageFormat],
        default=_DEFAULTS.image_format.value,
        help="format of the images (default: %(default)s)",
    )
    group.add_argument(
        "--format",
        choices=[kind.value for kind in DatasetFormat],
        default=_DEFAULTS.dataset_format.value,
        help="a ZIP file, or a folder of files, tar shards or Parquet (default: %(default)s)",
    )


def _add_finishing(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("finishing")
    group.add_argument("--no-finishing", action="store_true", help="none of these steps")
    group.add_argument("--no-trim", action="store_true", help="keep the scanner's dark borders")
    group.add_argument("--no-deskew", action="store_true", help="leave slanted pages slanted")
    group.add_argument(
        "--paper",
        choices=["neutral", "keep"],
        default="neutral",
        help="neutral takes the yellow out of aged paper (default: %(default)s)",
    )
    group.add_argument(
        "--descreen",
        action="store_true",
        help="smooth the dots of printed halftones (cross-hatched engravings may suffer)",
    )


def _add_choice_of_pictures(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("near-duplicates and splits")
    group.add_argument("--no-dedupe", action="store_true", help="keep near-duplicates")
    group.add_argument(
        "--best-copy",
        action="store_true",
        help="of near-duplicates keep the largest and sharpest, not the first (looks at every "
        "page twice)",
    )
    group.add_argument(
        "--validation",
        type=float,
        default=_DEFAULTS.validation_share,
        metavar="SHARE",
        help="share of the pages for validation/, by whole documents where there are several "
        "(default: none)",
    )
