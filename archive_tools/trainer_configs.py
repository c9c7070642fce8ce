"""Settings of five LoRA trainers for a dataset, with paths relative to the unzipped folder.

The rules behind each key were read from the trainers' sources; tests/integration/
test_trainer_formats.py states them.
"""

import json
from collections.abc import Iterator
from typing import Any

from archive_tools.config import DatasetConfig, Fit
from archive_tools.schema import TRAIN, VALIDATION

BASE_MODEL = "stabilityai/stable-diffusion-xl-base-1.0"
# sd-scripts cuts the long side to 1024 by default, which shrinks every picture that is not square;
# the resolution itself must lie between the two.
_KOHYA_MIN_BUCKET_PX, _KOHYA_MAX_BUCKET_PX = 256, 2048

_KOHYA = """\
# kohya-ss/sd-scripts. From the unzipped folder:
#   accelerate launch PATH/TO/sdxl_train_network.py --dataset_config configs/kohya_dataset.toml
#     --pretrained_model_name_or_path {base_model} --network_module networks.lora
#     --network_train_unet_only --output_dir output
[general]
caption_extension = ".txt"
shuffle_caption = false

[[datasets]]
resolution = {size_px}
batch_size = 1
enable_bucket = true
min_bucket_reso = {min_bucket_px}
max_bucket_reso = {max_bucket_px}
bucket_reso_steps = 64
bucket_no_upscale = true

[[datasets.subsets]]
image_dir = "train"
num_repeats = 1
"""

_AI_TOOLKIT = """\
# ostris/ai-toolkit. From the unzipped folder: python PATH/TO/run.py configs/ai_toolkit.yaml
job: extension
config:
  name: scanned_illustrations
  process:
  - type: sd_trainer
    training_folder: output
    device: cuda:0
{trigger_line}    network:
      type: lora
      linear: 16
      linear_alpha: 16
    save:
      dtype: float16
      save_every: 250
      max_step_saves_to_keep: 4
    datasets:
    - folder_path: train
      caption_ext: txt
      caption_dropout_rate: 0.05
      resolution: [{size_px}]
      num_repeats: 1
    train:
      batch_size: 1
      steps: 2000
      lr: 1.0e-4
      optimizer: adamw8bit
      noise_scheduler: ddpm
      train_unet: true
      train_text_encoder: false
      gradient_checkpointing: true
      dtype: bf16
    model:
      name_or_path: {base_model}
      arch: sdxl
meta:
  name: scanned_illustrations
  version: "1.0"
"""

_DIFFUSERS = """\
#!/bin/sh
# diffusers: sh configs/diffusers_command.sh PATH/TO/train_text_to_image_lora_sdxl.py [OPTIONS...]
# The dreambooth script takes the same images with: --dataset_name train --image_column image
# --caption_column text (never --instance_data_dir, which opens every file as a picture).
set -eu
script=${{1:?"give the path to train_text_to_image_lora_sdxl.py of diffusers"}}
script=$(realpath "$script")
shift
cd "$(dirname "$0")/.."
exec accelerate launch "$script" \\
  --pretrained_model_name_or_path {base_model} \\
  --pretrained_vae_model_name_or_path madebyollin/sdxl-vae-fp16-fix \\
  --train_data_dir train --image_column image --caption_column text \\
  --resolution {size_px} --center_crop --train_batch_size 1 --gradient_accumulation_steps 4 \\
  --gradient_checkpointing --rank 16 --learning_rate 1e-4 --lr_warmup_steps 0 --snr_gamma 5.0 \\
  --max_train_steps 2000 --mixed_precision fp16 --seed 0 --output_dir output "$@"
"""


def iter_trainer_configs(
    config: DatasetConfig, trigger: str, splits: tuple[str, ...] = (TRAIN,)
) -> Iterator[tuple[str, str]]:
    """Write the settings of each trainer.

    Args:
        config: Options of the dataset.
        trigger: The trigger word as it stands in the captions; may be empty.
        splits: Splits of the dataset. kohya and ai-toolkit take no validation folder.

    Yields:
        File name inside `configs/`, and its text.
    """
    yield (
        "kohya_dataset.toml",
        _KOHYA.format(
            base_model=BASE_MODEL,
            size_px=config.size_px,
            min_bucket_px=min(_KOHYA_MIN_BUCKET_PX, config.size_px),
            max_bucket_px=max(_KOHYA_MAX_BUCKET_PX, config.size_px),
        ),
    )
    yield "simpletuner_multidatabackend.json", _to_json(_simpletuner_backends(config, splits))
    concepts = [_onetrainer_concept(split) for split in splits]
    yield "onetrainer_concepts.json", _to_json(concepts)
    # A JSON string is a YAML string.
    quoted = json.dumps(trigger, ensure_ascii=False)
    trigger_line = f"    trigger_word: {quoted}\n" if trigger else ""
    yield (
        "ai_toolkit.yaml",
        _AI_TOOLKIT.format(
            base_model=BASE_MODEL, size_px=config.size_px, trigger_line=trigger_line
        ),
    )
    yield "diffusers_command.sh", _DIFFUSERS.format(base_model=BASE_MODEL, size_px=config.size_px)


def _onetrainer_concept(split: str) -> dict[str, Any]:
    return {
        "__version": 2,  # without it OneTrainer migrates the concept as if it were years old
        "name": f"scanned illustrations, {split}",
        "path": split,
        "type": "VALIDATION" if split == VALIDATION else "STANDARD",
        "include_subdirectories": False,
        "balancing": 1.0,
        "balancing_strategy": "REPEATS",
        "text": {"prompt_source": "sample"},
    }


def _simpletuner_backends(config: DatasetConfig, splits: tuple[str, ...]) -> list[dict[str, Any]]:
    is_bucketed = config.fit is Fit.BUCKET
    images = [
        {
            "id": f"scanned-illustrations-{split}",
            "type": "local",
            "dataset_type": "eval" if split == VALIDATION else "image",
            "instance_data_dir": split,
            "caption_strategy": "textfile",
            "resolution": config.size_px,
            # "pixel" counts the shorter edge, which is below the resolution in most buckets.
            "resolution_type": "pixel_area" if is_bucketed else "pixel",
            "minimum_image_size": config.least_side_px if is_bucketed else config.size_px,
            "crop": False,
            "cache_dir_vae": f"cache/vae/{split}",
            "repeats": 0,  # SimpleTuner counts the extra passes
        }
        for split in splits
    ]
    return [
        *images,
        {
            "id": "text-embeds",
            "type": "local",
            "dataset_type": "text_embeds",
            "default": True,
            "cache_dir": "cache/text",
        },
    ]


def _to_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2) + "\n"
