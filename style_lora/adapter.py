"""The LoRA on the UNet: added with peft, read out, put back, and how peft describes it."""

from typing import TYPE_CHECKING, Any, Final

from style_lora.data_order import derive_seed

if TYPE_CHECKING:
    import torch

# The attention's projections, as all guides and the scripts of diffusers train them.
_TARGETS: Final = ("to_k", "to_q", "to_v", "to_out.0")


def add_lora(unet: Any, rank: int, alpha: float, seed: int) -> None:
    """Give a UNet a LoRA that changes nothing yet, its weights in 32 bit.

    Args:
        unet: `UNet2DConditionModel`, frozen.
        rank: Of the LoRA.
        alpha: Of the LoRA.
        seed: Of its first weights.
    """
    import torch
    from peft import LoraConfig

    settings = LoraConfig(
        r=rank, lora_alpha=alpha, init_lora_weights=True, target_modules=list(_TARGETS)
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(derive_seed(seed, "lora"))
        unet.add_adapter(settings)
    # 16 bit lose most of a step of 1e-4, so only the frozen weights have them.
    for weights in list_weights(unet).values():
        weights.data = weights.data.float()


def list_weights(unet: Any) -> dict[str, "torch.nn.Parameter"]:
    """Return the trained weights by their names, in the model's order."""
    return {name: one for name, one in unet.named_parameters() if one.requires_grad}


def read_lora(unet: Any) -> dict[str, "torch.Tensor"]:
    """Return a copy of the LoRA on the CPU, under the names that peft saves."""
    from peft.utils import get_peft_model_state_dict

    weights = get_peft_model_state_dict(unet)
    return {name: one.detach().to("cpu", copy=True).contiguous() for name, one in weights.items()}


def write_lora(unet: Any, weights: dict[str, "torch.Tensor"]) -> None:
    """Put weights that `read_lora` gave back into the LoRA.

    Args:
        unet: With a LoRA of the same rank.
        weights: By name.
    """
    from peft.utils import set_peft_model_state_dict

    set_peft_model_state_dict(unet, weights)


def describe_lora(unet: Any) -> dict[str, Any]:
    """Return peft's settings; without them diffusers takes the rank for alpha when it loads."""
    settings: dict[str, Any] = unet.peft_config["default"].to_dict()
    # The order of a set changes with the process.
    return {key: sorted(one) if isinstance(one, set) else one for key, one in settings.items()}
