"""The steps of a training, and what is due between them."""

import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from typing import Final

from style_lora.adapter import describe_lora, read_lora
from style_lora.checkpoints import Standing, save_checkpoint
from style_lora.data_order import iter_batches
from style_lora.estimate import estimate_left_s, tell_duration
from style_lora.lora_files import save_diffusers
from style_lora.preparation import Job, Tell
from style_lora.samples import draw_samples, save_samples
from style_lora.schema import Phase, StoppedBecause, TrainProgress
from style_lora.slice_clock import SliceClock
from style_lora.trainer import Trainer
from style_lora.training_log import TrainingLog

LAST: Final = "checkpoints/last.safetensors"
BEST: Final = "checkpoints/best.safetensors"
# Weight of the newest step in the running mean of loss and duration.
_NEWEST: Final = 0.05
# What is a whole number of epochs must not come out just below it.
_ROUNDING: Final = 1e-9
# Kept free at the end of a slice, for the checkpoint and the exports.
_SAVING_S: Final = 2.0


def find_end(standing: Standing, job: Job) -> StoppedBecause | None:
    """Return why a training has nothing left to do, or None where it has.

    Args:
        standing: Where it stands.
        job: The training.
    """
    if standing.step >= job.plan.steps:
        return StoppedBecause.ALL_STEPS
    if job.config.patience and standing.since_best >= job.config.patience:
        return StoppedBecause.NO_LONGER_BETTER
    return None


class TrainingLoop:
    """One slice of a training, from where the last one ended."""

    def __init__(
        self, job: Job, trainer: Trainer, standing: Standing, clock: SliceClock, tell: Tell
    ) -> None:
        """Take up a training.

        Args:
            job: The training.
            trainer: With the weights of `standing`.
            standing: Where it stands.
            clock: Of the slice.
            tell: Told what goes on.
        """
        self._job = job
        self._trainer = trainer
        self._standing = standing
        self._clock = clock
        self._tell = tell
        self._log = TrainingLog(job.out / "log.jsonl", standing.step)
        self._loss: float | None = None
        self._step_s = 0.0
        self._pause_s = 0.0
        self._batches = self._order()

    def run(self) -> StoppedBecause:
        """Train until something ends it, and save; `find_end` has found something left to do.

        Returns:
            What has ended it.

        Raises:
            TrainingStoppedError: The loss is no number; the last checkpoint stays as it was.
            DiskSpaceError: The disk is full.
        """
        self._begin()
        reason = None
        while reason is None:
            self._take_step()
            reason = self._find_end()
        finished = reason is not StoppedBecause.SLICE_OVER
        self._standing = replace(self._standing, is_finished=finished)
        self._save()
        return reason

    def close(self) -> Standing:
        """Drop the model and return where the training stands."""
        self._trainer.unet.to("meta")
        return self._standing

    def _begin(self) -> None:
        """Time a batch, and measure the untrained model."""
        examples, config = self._job.examples.training, self._job.config
        first = [examples[index] for index in next(self._order())]
        self._trainer.rehearse_batch(first)  # the first one of a process is slower
        began = time.monotonic()
        self._trainer.rehearse_batch(first)
        self._step_s = (time.monotonic() - began) * config.accumulate
        left_s = estimate_left_s(self._job.plan, config, self._standing.step, self._step_s)
        self._report(tell_duration(left_s, self._step_s))
        if self._standing.step == 0:
            # Of a training that was killed before its first checkpoint.
            (self._job.out / BEST).unlink(missing_ok=True)
            self._validate(is_baseline=True)
            self._draw_samples()

    def _order(self) -> Iterator[tuple[int, ...]]:
        buckets = [self._job.cache.frame(one).bucket for one in self._job.examples.training]
        config = self._job.config
        done = self._standing.step * config.accumulate
        return iter_batches(buckets, config.batch_size, config.seed, done)

    def _take_step(self) -> None:
        """Take a step and do what is due after it."""
        config = self._job.config
        began = time.monotonic()
        step = self._standing.step
        examples = self._job.examples.training
        batches = [
            [examples[index] for index in batch]
            for batch in islice(self._batches, config.accumulate)
        ]
        loss = self._trainer.take_step(step, batches)
        self._standing = replace(self._standing, step=step + 1)
        self._smooth(loss, time.monotonic() - began)
        self._log.add(step + 1, loss=loss, learning_rate=self._trainer.learning_rate(step))
        if self._is_due(config.validate_every):
            self._validate()
        if self._is_due(config.sample_every):
            self._draw_samples()
        if self._is_due(config.checkpoint_every):
            self._save()
        self._report()

    def _is_due(self, every: int) -> bool:
        is_last = self._standing.step == self._job.plan.steps
        return every > 0 and (is_last or self._standing.step % every == 0)

    def _validate(self, is_baseline: bool = False) -> None:
        began = time.monotonic()
        standing = self._standing
        loss = self._trainer.validate(self._job.examples.validation)
        self._log.add(standing.step, validation_loss=loss)
        self._standing = replace(standing, validation_loss=loss, since_best=standing.since_best + 1)
        if is_baseline:
            self._standing = replace(standing, validation_loss=loss)
        elif standing.best_loss is None or loss < standing.best_loss:
            self._standing = replace(
                self._standing, best_step=standing.step, best_loss=loss, since_best=0
            )
            self._save_best()
        self._pause_s = max(self._pause_s, time.monotonic() - began)

    def _save_best(self) -> None:
        unet = self._trainer.unet
        save_diffusers(read_lora(unet), describe_lora(unet), self._job.out / BEST)

    def _draw_samples(self) -> None:
        job = self._job
        if not job.prompts:
            return
        began = time.monotonic()
        self._tell_between(TrainProgress(Phase.SAMPLING, self._standing.step, job.plan.steps))
        captions = [job.cache.read_caption(prompt) for prompt in job.prompts]
        pictures = draw_samples(self._trainer.unet, captions, job.config, job.base, job.vae)
        save_samples(pictures, job.out / "samples", self._standing.step)
        self._pause_s = max(self._pause_s, time.monotonic() - began)

    def _save(self) -> None:
        if not self._standing.step:
            return
        self._standing = replace(self._standing, scaler=self._trainer.scaler_state())
        save_checkpoint(self._job.out / LAST, self._trainer.state(), self._standing)

    def _find_end(self) -> StoppedBecause | None:
        reason = find_end(self._standing, self._job)
        if reason is not None:
            return reason
        # One step at least, so that slices that are too short come to an end as well.
        is_begun = self._loss is not None
        if is_begun and self._clock.is_over(_SAVING_S + self._step_s + self._next_pause_s()):
            return StoppedBecause.SLICE_OVER
        return None

    def _next_pause_s(self) -> float:
        """Return how long the validation or the samples after the next step will take."""
        following, config = self._standing.step + 1, self._job.config
        everies = [config.validate_every] + ([config.sample_every] if self._job.prompts else [])
        return self._pause_s if any(following % every == 0 for every in everies) else 0.0

    def _smooth(self, loss: float, took_s: float) -> None:
        self._loss = loss if self._loss is None else self._loss + _NEWEST * (loss - self._loss)
        self._step_s += _NEWEST * (took_s - self._step_s)

    def _report(self, message: str | None = None) -> None:
        standing, plan = self._standing, self._job.plan
        left_s = estimate_left_s(plan, self._job.config, standing.step, self._step_s)
        progress = TrainProgress(
            Phase.TRAINING,
            standing.step,
            plan.steps,
            int(standing.step * plan.epochs / plan.steps + _ROUNDING),
            self._loss,
            standing.validation_loss,
            self._step_s,
            left_s,
            message,
        )
        self._tell_between(progress)

    def _tell_between(self, progress: TrainProgress) -> None:
        """Tell what goes on between two steps; where that raises, the steps done are saved."""
        try:
            self._tell(progress)
        except BaseException:
            # Between two steps weights and optimiser agree; an interrupt elsewhere saves nothing,
            # since it may have come in the middle of an update.
            self._save()
            raise
