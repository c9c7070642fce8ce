"""Where on a photo a class shows: class activation maps from the pass that gives the answer.

In a network whose head is linear on the mean of its last feature map, the same head applied to each
place of the map says how much that place adds to each class; the mean over all places is the
answer. Nothing is computed twice, so the map costs almost nothing. Other networks get no map.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The head must see the mean of the map: half precision differs by less, other poolings by more.
_TOLERANCE = 0.02


@dataclass(slots=True)
class FeatureRecord:
    """What passed through a network; empty where it has no such parts.

    Attributes:
        head: The linear head, or None.
        feature_map: Last output of the body, a tensor (photos, channels, rows, columns).
        pooled: What the head was given, a tensor (photos, channels).
    """

    head: Any = None
    feature_map: Any = None
    pooled: Any = None

    def class_maps(self) -> NDArray[np.float64] | None:
        """Return what each place adds to each label: (photos, labels, rows, columns).

        Returns:
            None for a network that is not linear on the mean of its last feature map.
        """
        features, pooled = self.feature_map, self.pooled
        if features is None or pooled is None or features.ndim != 4:
            return None
        mean = features.mean((2, 3))
        if pooled.shape != mean.shape:
            return None
        if float((mean - pooled).abs().max()) > _TOLERANCE * float(mean.abs().max()):
            return None
        places = features.permute(0, 2, 3, 1) @ self.head.weight.T
        return np.asarray(places.permute(0, 3, 1, 2).float().cpu().numpy(), dtype=np.float64)


@contextmanager
def record_features(network: Any) -> Iterator[FeatureRecord]:
    """Record what the body gives and the head gets while the block runs.

    Args:
        network: An image classifier of transformers.
    """
    record = FeatureRecord(head=_find_head(network))
    if record.head is None:
        yield record
        return
    hooks = (
        network.base_model.register_forward_hook(_keep_map(record)),
        record.head.register_forward_pre_hook(_keep_pooled(record)),
    )
    try:
        yield record
    finally:
        for hook in hooks:
            hook.remove()


def _find_head(network: Any) -> Any:
    """Return the last linear layer with one output for each label, None if there is none."""
    labels = network.config.num_labels
    layers = [layer for layer in network.modules() if type(layer).__name__ == "Linear"]
    return layers[-1] if layers and layers[-1].out_features == labels else None


def _keep_map(record: FeatureRecord) -> Any:
    def keep(body: Any, given: Any, output: Any) -> None:  # noqa: ARG001 - what torch calls
        record.feature_map = getattr(output, "last_hidden_state", None)

    return keep


def _keep_pooled(record: FeatureRecord) -> Any:
    def keep(head: Any, given: tuple[Any, ...]) -> None:  # noqa: ARG001 - what torch calls
        record.pooled = given[0].flatten(1)

    return keep
