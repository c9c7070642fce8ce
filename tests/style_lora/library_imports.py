"""What the server of `forked_commands` has at hand: the names that the package imports lazily."""

from diffusers import (  # noqa: F401
    AutoencoderKL,
    DDPMScheduler,
    EulerDiscreteScheduler,
    StableDiffusionXLPipeline,
    UNet2DConditionModel,
)
from peft import LoraConfig  # noqa: F401
from transformers import (  # noqa: F401
    CLIPTextModel,
    CLIPTextModelWithProjection,
    CLIPTokenizer,
)
