"""Models that compare a photo with sentences (CLIP, SigLIP), used with the catalogue's prompts.

The sentences are read once while the model is loaded. It then looks like any image classifier
whose labels are the sign classes.
"""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from vetscanner.conditions import PROMPTS
from vetscanner.weights import load_whole


class ZeroShotNetwork:
    """A contrastive model with the features of the prompts of each sign class."""

    def __init__(self, model: Any, sign_features: Any) -> None:
        """Keep both; see `load_zero_shot`.

        Args:
            model: The contrastive model.
            sign_features: A tensor (signs, features), each row of length 1.
        """
        self._model, self._sign_features = model, sign_features
        labels = {index: str(sign) for index, sign in enumerate(PROMPTS)}
        self.config = SimpleNamespace(id2label=labels, num_labels=len(labels))

    def __call__(self, *, pixel_values: Any) -> SimpleNamespace:
        """Return `logits`, a tensor (photos, signs), for pixel values (photos, 3, H, W)."""
        features = _normalised(self._model.get_image_features(pixel_values=pixel_values))
        scale = self._model.logit_scale.exp()
        return SimpleNamespace(logits=scale * features @ self._sign_features.T)

    def modules(self) -> tuple[Any, ...]:
        """Return no layers: what shows where on the photo needs a linear head."""
        return ()

    def eval(self) -> "ZeroShotNetwork":
        """Return itself; the model is loaded in eval mode."""
        return self

    def cpu(self) -> None:
        """Move everything off the GPU."""
        self._model.cpu()
        self._sign_features = self._sign_features.cpu()


def load_zero_shot(path: Path, device: str) -> ZeroShotNetwork:
    """Load a contrastive model and read the prompts with it.

    Args:
        path: Folder with config, safetensors weights and tokenizer.
        device: "cpu" or "cuda".

    Raises:
        OSError: When a file is missing.
        ValueError: When weights are missing or the tokenizer cannot be used.
    """
    import torch
    from transformers import AutoModel, AutoTokenizer

    model = load_whole(AutoModel, path).eval().to(device)
    tokenizer = AutoTokenizer.from_pretrained(path, local_files_only=True)
    with torch.inference_mode():
        rows = [_read_prompts(model, tokenizer, list(prompts)) for prompts in PROMPTS.values()]
        return ZeroShotNetwork(model, torch.stack(rows))


def _read_prompts(model: Any, tokenizer: Any, prompts: list[str]) -> Any:
    """Return the mean direction of the prompts of one sign, a tensor (features,)."""
    # SigLIP was trained on sentences padded to the full length; CLIP does not mind.
    length = model.config.text_config.max_position_embeddings
    tokens = tokenizer(
        prompts, padding="max_length", truncation=True, max_length=length, return_tensors="pt"
    )
    known = {name: tokens[name].to(model.device) for name in tokenizer.model_input_names}
    mean = _normalised(model.get_text_features(**known)).mean(0)
    return mean / mean.norm()


def _normalised(output: Any) -> Any:
    """Return the pooled features of a model's output, each of length 1."""
    features = getattr(output, "pooler_output", output)
    return features / features.norm(dim=-1, keepdim=True)
