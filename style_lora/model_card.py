"""The model card of a LoRA: what it is, how it was made, how it is used."""

import json
from dataclasses import dataclass
from pathlib import Path

from style_lora.base_source import is_hub_id
from style_lora.checkpoints import Standing
from style_lora.config import TrainConfig
from style_lora.estimate import Plan
from style_lora.lora_file import WEIGHTS_NAME

_CARD = """---
{base_line}library_name: diffusers
pipeline_tag: text-to-image
tags:
- text-to-image
- lora
- diffusers
- stable-diffusion-xl
- template:sd-lora
---

# {title}

A LoRA of rank {rank} and alpha {alpha:g} on the UNet of `{base}`, trained on {pictures} pictures
of `{dataset}`. Captions look like this: {caption}

| | |
|---|---|
| steps | {steps} of at most {ceiling}; the weights are those of step {best_step} |
| validation loss | {loss} |
| resolution | {resolution} px, aspect buckets |
| learning rate, pictures a step | {rate:g}, {batch} |
| noise offset, min-SNR gamma, caption dropout | {offset:g}, {gamma}, {dropout:g} |
| seed | {seed} |

```python
import torch
from diffusers import StableDiffusionXLPipeline

pipeline = StableDiffusionXLPipeline.from_pretrained({usable_base}, dtype=torch.float16).to("cuda")
pipeline.load_lora_weights("FOLDER OF THIS FILE", weight_name="{file}")
pipeline({caption}).images[0].save("picture.png")
```

`{kohya}` is the same for A1111, Forge and ComfyUI.

The licences of the pictures and of the base model apply. A LoRA can repeat pictures of its
dataset, the more so the fewer they are and the longer it was trained.
"""


@dataclass(frozen=True, slots=True)
class CardFacts:
    """What a card says beside the settings.

    Attributes:
        dataset: File name of the ZIP.
        caption: One caption of it.
        pictures: How many were trained on.
        kohya_name: File name of the LoRA in kohya form.
    """

    dataset: str
    caption: str
    pictures: int
    kohya_name: str


def write_card(config: TrainConfig, plan: Plan, standing: Standing, facts: CardFacts) -> str:
    """Return the model card as Markdown with the hub's YAML header.

    Args:
        config: Settings.
        plan: Of the training.
        standing: Where it has ended.
        facts: The rest.
    """
    # A folder of this machine says nothing elsewhere, and the hub refuses it.
    is_public = is_hub_id(config.base)
    base = config.base if is_public else Path(config.base).name
    loss = f"{standing.best_loss:.4f}" if standing.best_loss is not None else "not measured"
    return _CARD.format(
        base=base,
        base_line=f"base_model: {base}\n" if is_public else "",
        usable_base=json.dumps(base),
        title=Path(facts.kohya_name).stem.removesuffix("_kohya"),
        rank=config.rank,
        alpha=config.lora_alpha,
        pictures=facts.pictures,
        dataset=facts.dataset,
        caption=json.dumps(facts.caption, ensure_ascii=False),
        steps=standing.step,
        ceiling=plan.steps,
        best_step=standing.best_step,
        loss=loss,
        resolution=config.resolution,
        rate=config.learning_rate,
        batch=config.step_pictures,
        offset=config.noise_offset,
        gamma="off" if config.snr_gamma is None else f"{config.snr_gamma:g}",
        dropout=config.caption_dropout,
        seed=config.seed,
        file=WEIGHTS_NAME,
        kohya=facts.kohya_name,
    )
