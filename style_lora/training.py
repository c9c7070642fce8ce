"""The story of a training, or of one slice of it."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from style_lora.adapter import add_lora
from style_lora.atomic_files import write_atomically, write_text
from style_lora.base_model import open_noise_schedule, open_unet, require_packages
from style_lora.base_source import check_base, check_vae, is_hub_id
from style_lora.checkpoints import Standing, read_standing, read_tensors
from style_lora.config import TrainConfig
from style_lora.dataset_zip import DatasetZip
from style_lora.devices import empty_caches, is_short_of_memory, name_device
from style_lora.errors import SettingsError, TrainingStoppedError
from style_lora.lora_file import CONFIG_NAME, WEIGHTS_NAME
from style_lora.lora_files import save_kohya
from style_lora.loss_picture import save_loss_picture
from style_lora.model_card import CardFacts, write_card
from style_lora.optimizers import require_optimizer
from style_lora.out_lock import hold_folder
from style_lora.preparation import Job, Tell, fetch_models, fill_cache, prepare
from style_lora.schema import Phase, StoppedBecause, TrainProgress, TrainResult
from style_lora.slice_clock import SliceClock
from style_lora.trainer import Trainer
from style_lora.training_log import read_log
from style_lora.training_loop import BEST, LAST, TrainingLoop, find_end

# What may change between two slices: how long, and what is shown meanwhile.
_FREE_SETTINGS: Final = frozenset(
    {
        "epochs",
        "steps",
        "patience",
        "sample_every",
        "sample_prompts",
        "sample_steps",
        "checkpoint_every",
        "max_duration_s",
        "gradient_checkpointing",
    }
)


def train_lora(
    dataset: Path,
    out: Path,
    config: TrainConfig,
    *,
    resume: bool = False,
    on_progress: Callable[[TrainProgress], None] | None = None,
) -> TrainResult:
    """Train a LoRA on a dataset ZIP, to its end or until the slice is over.

    Args:
        dataset: ZIP of the archive tools.
        out: Folder of the results.
        config: Settings.
        resume: Go on from the checkpoint in `out`; without one a training begins.
        on_progress: Told what goes on. What it raises ends the training between two steps, and
            the steps done are saved before.

    Returns:
        How it has ended. `lora_path` has the best weights so far.

    Raises:
        SettingsError: `out` has a training already, or one at this moment, or `resume` does not
            fit it.
        DatasetError: The ZIP cannot be trained on.
        BaseModelError: The base cannot be used, or packages are missing.
        HubError: The base lies on the hub only, which cannot be reached or does not give it.
        DiskSpaceError: There is too little room.
        TrainingStoppedError: The loss is no number any more, or memory does not suffice.
        LoraFileError: The checkpoint cannot be read.
    """
    require_packages()
    require_optimizer(config.optimizer)
    clock = SliceClock(config.max_duration_s)
    tell = on_progress or _tell_nobody
    check_base(config.base)
    check_vae(config.vae)
    with DatasetZip(dataset) as pictures, hold_folder(out):
        job = prepare(pictures, dataset, out, config, tell)
        standing = _find_standing(job, resume)
        reason = find_end(standing, job)
        if reason is None:
            # Gigabytes, so only once all that may be wrong here has been looked at.
            job = fetch_models(job, tell)
            _write_settings(job)
            with _within_memory(job):
                is_cached = fill_cache(job, pictures, clock, tell)
                reason = StoppedBecause.SLICE_OVER
                if is_cached:
                    standing, reason = _run_steps(job, standing, clock, tell)
        return _end(job, standing, reason)


@contextmanager
def _within_memory(job: Job) -> Iterator[None]:
    """Tell in words that memory does not suffice; what was saved before stays."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if not is_short_of_memory(error):
            raise
        raise TrainingStoppedError(
            f"There is too little memory on {name_device(job.device)}. Take a smaller --batch-size "
            "(with --accumulate for the same pictures a step), --resolution or --rank, and leave "
            "gradient checkpointing on."
        ) from error


def _run_steps(
    job: Job, standing: Standing, clock: SliceClock, tell: Tell
) -> tuple[Standing, StoppedBecause]:
    tell(TrainProgress(Phase.LOADING, standing.step, job.plan.steps))
    loop = TrainingLoop(job, _open_trainer(job, standing), standing, clock, tell)
    reason = loop.run()
    standing = loop.close()
    empty_caches(job.device)
    tell(TrainProgress(Phase.SAVING, standing.step, job.plan.steps))
    return standing, reason


def _tell_nobody(progress: TrainProgress) -> None:
    """Drop a progress."""


def _open_trainer(job: Job, standing: Standing) -> Trainer:
    config = job.config
    unet = open_unet(job.base, job.dtype)
    add_lora(unet, config.rank, config.lora_alpha, config.seed)
    unet.to(job.device).train()
    if config.gradient_checkpointing:
        unet.enable_gradient_checkpointing()
    trainer = Trainer(unet, open_noise_schedule(job.base), job.cache, config, job.plan.steps)
    if standing.step:
        trainer.restore(read_tensors(job.out / LAST), standing.scaler)
    return trainer


def _find_standing(job: Job, resume: bool) -> Standing:
    """Return where to begin: the checkpoint's place, or nowhere yet."""
    settings = _list_settings(job)
    found = read_standing(job.out / LAST)
    if found is None:
        _require_no_lora(job.out)
        return Standing(settings=settings)
    if not resume:
        state = "a finished" if found.is_finished else "an unfinished"
        raise SettingsError(
            f"{job.out} has {state} training of {found.step} steps. Go on with --resume (with more "
            "--steps where it is finished), or choose another --out."
        )
    _require_same(job.out, found.settings, settings)
    return found


def _require_no_lora(out: Path) -> None:
    if Path(out, WEIGHTS_NAME).exists():
        raise SettingsError(
            f"{out} has a LoRA and no checkpoint to go on from. Choose another --out, so that it "
            "is not overwritten."
        )


def _require_same(out: Path, begun: dict[str, Any], settings: dict[str, Any]) -> None:
    """Check that a training goes on with what it was begun with."""
    # An older version did not know all settings: there they had the value that is now the default.
    before = asdict(TrainConfig()) | begun
    changed = [
        f"{name} {before[name]}, now {value}"
        for name, value in sorted(settings.items())
        if before.get(name) != value
    ]
    if changed:
        raise SettingsError(
            f"{out} was begun with other settings ({'; '.join(changed)}); a training goes on only "
            "with the same. Choose another --out to begin anew."
        )


def _list_settings(job: Job) -> dict[str, Any]:
    """Return what must stay the same, as JSON gives it back."""
    settings = {
        name: value for name, value in asdict(job.config).items() if name not in _FREE_SETTINGS
    }
    settings["alpha"] = job.config.lora_alpha
    settings["dataset"] = job.fingerprint
    settings["precision"] = str(job.dtype).removeprefix("torch.")
    return settings


def _write_settings(job: Job) -> None:
    base = job.config.base
    settings = asdict(job.config) | {
        # Found from every folder, whichever one `generate` is run in.
        "base": base if is_hub_id(base) else str(Path(base).absolute()),
        "alpha": job.config.lora_alpha,
        "dataset": job.dataset,
        "caption": job.examples.training[0].caption,
    }
    write_text(job.out / CONFIG_NAME, f"{json.dumps(settings, indent=2)}\n")


def _end(job: Job, standing: Standing, reason: StoppedBecause) -> TrainResult:
    """Export the best weights so far and say how it went."""
    is_finished = reason is not StoppedBecause.SLICE_OVER
    lora_path = _export(job, standing) if standing.step else None
    if is_finished:
        shutil.rmtree(job.out / "cache", ignore_errors=True)
    return TrainResult(
        standing.step,
        is_finished,
        reason,
        standing.best_step,
        standing.best_loss,
        lora_path,
        _kohya_path(job) if lora_path else None,
    )


def _export(job: Job, standing: Standing) -> Path | None:
    """Write both forms of the LoRA, the card and the loss picture."""
    source = job.out / BEST
    if not source.exists():
        return None
    lora_path = job.out / WEIGHTS_NAME
    write_atomically(lora_path, lambda partial: _copy(source, partial))
    save_kohya(source, job.config.lora_alpha, _kohya_path(job))
    facts = CardFacts(
        job.dataset,
        job.examples.training[0].caption,
        len(job.examples.training),
        _kohya_path(job).name,
    )
    write_text(job.out / "README.md", write_card(job.config, job.plan, standing, facts))
    save_loss_picture(read_log(job.out / "log.jsonl"), standing.best_step, job.out / "loss.png")
    return lora_path


def _copy(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)


def _kohya_path(job: Job) -> Path:
    return job.out / f"{job.out.absolute().name}_kohya.safetensors"
