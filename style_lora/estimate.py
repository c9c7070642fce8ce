"""How long a training takes, how long it should be, and how much disk it needs; pure arithmetic."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from style_lora.config import DEFAULT_BASE, TrainConfig
from style_lora.data_order import count_epoch_batches
from style_lora.schema import Examples, Size

# What guides and reports of users agree on: 500 to 4,000 steps, a style about 3,000, and about a
# hundred steps a picture where there are fewer than fifty.
_STEPS_A_PICTURE: Final = 100
_FEWEST_STEPS: Final = 500
_MOST_STEPS: Final = 3000
# One validation picture costs its noise levels forward, which is about this many training steps.
_VALIDATION_COST: Final = 1.0
# Seconds a step at 1024 and batch 1, as users of other trainers report them; not measured by us.
_REPORTED_STEP_S: Final = {"T4": (3, 6), "3090": (1.2, 1.2), "4090": (0.7, 1.0)}
_LORA_BYTES_A_RANK: Final = 6_000_000
# Weights and two moments, the old and the new checkpoint for a moment, best, two exports.
_LORA_COPIES: Final = 10
_CAPTION_BYTES: Final = 700_000


@dataclass(frozen=True, slots=True)
class Plan:
    """What a training will do.

    Attributes:
        steps: Ceiling in steps.
        epochs: Passes over the data that they are.
        recommended_steps: What guides recommend for so many pictures.
        validation_pictures: How many the loss is measured on.
        held_out: Whether they are kept apart from the training.
    """

    steps: int
    epochs: float
    recommended_steps: int
    validation_pictures: int
    held_out: bool


def make_plan(examples: Examples, buckets: Sequence[Size], config: TrainConfig) -> Plan:
    """Return how many steps a training has.

    Args:
        examples: The dataset.
        buckets: The bucket of each training picture.
        config: Settings; of `steps` and `epochs` the smaller ceiling counts.
    """
    epoch_batches = count_epoch_batches(buckets, config.batch_size)
    recommended = recommend_steps(len(examples.training), config.step_pictures)
    ceilings = [config.steps] if config.steps else []
    ceilings += [-(-config.epochs * epoch_batches // config.accumulate)] if config.epochs else []
    steps = min(ceilings, default=recommended)
    return Plan(
        steps,
        steps * config.accumulate / epoch_batches,
        recommended,
        len(examples.validation),
        examples.held_out,
    )


def recommend_steps(pictures: int, step_pictures: int) -> int:
    """Return the steps that guides recommend for a style.

    Args:
        pictures: Of the training.
        step_pictures: Pictures a step.
    """
    steps = min(max(_STEPS_A_PICTURE * pictures, _FEWEST_STEPS), _MOST_STEPS)
    return max(1, -(-steps // step_pictures))


def estimate_left_s(plan: Plan, config: TrainConfig, steps_done: int, step_s: float) -> float:
    """Return the seconds until all steps are done, validations included.

    Args:
        plan: Of the training.
        config: Settings.
        steps_done: So far.
        step_s: Seconds a step takes.
    """
    left = max(0, plan.steps - steps_done)
    validations = left / config.validate_every
    per_validation = plan.validation_pictures * _VALIDATION_COST / config.step_pictures
    return step_s * (left + validations * per_validation)


def estimate_bytes(pictures: int, config: TrainConfig) -> int:
    """Return the room that cache, checkpoints and exports of a training take.

    Args:
        pictures: Of the whole dataset.
        config: Settings.
    """
    latents = 2 * 4 * 4 * (config.resolution // 8) ** 2
    share = min(1.0, (config.resolution / 1024) ** 2)  # tiny models have tiny LoRAs
    lora = _LORA_COPIES * _LORA_BYTES_A_RANK * config.rank
    return int(pictures * (latents + _CAPTION_BYTES) + share * lora)


def tell_plan(plan: Plan, config: TrainConfig, pictures: int, device: str) -> str:
    """Say before anything slow what a training will do.

    Args:
        plan: Of the training.
        config: Settings.
        pictures: Of the training.
        device: Its name.
    """
    pictures_a_step = config.step_pictures
    lines = [
        f"{pictures} pictures, {plan.validation_pictures} for validation"
        + ("" if plan.held_out else " (also trained on: there are too few to hold any out)")
        + f"; {plan.steps} steps at most"
        + (f" of {pictures_a_step} pictures" if pictures_a_step > 1 else "")
        + f" = {plan.epochs:.1f} epochs, on {device}.",
        f"Guides recommend about {plan.recommended_steps} steps for a style from so many pictures. "
        "The ceiling is no aim: training stops when the validation loss no longer gets better, "
        "and the best weights are kept.",
    ]
    if plan.steps > 2 * plan.recommended_steps:
        lines.append("So many epochs mostly learn the pictures by heart; watch the samples.")
    reported = [span for name, span in _REPORTED_STEP_S.items() if name in device]
    if reported and config.base == DEFAULT_BASE:
        low, high = (seconds * plan.steps * pictures_a_step / 3600 for seconds in reported[0])
        lines.append(f"By reports of others about {low:.1f} to {high:.1f} hours; measured below.")
    return "\n".join(lines)


def tell_duration(left_s: float, step_s: float) -> str:
    """Say how long a training takes, from steps that were timed on this device."""
    return f"Timed here: {step_s:.2f} s a step, so at most about {tell_time(left_s)}."


def tell_time(seconds: float) -> str:
    """Return a duration in words, such as "2.5 hours"."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"
