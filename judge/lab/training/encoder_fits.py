"""Fits of a cross-encoder by the trainer of sentence-transformers, with checkpoints. Of the training code only this
module imports sentence-transformers and PyTorch. Only the pretrained model is downloaded from the hub, and nothing is
uploaded."""

from __future__ import annotations

import math
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import torch
from datasets import Dataset
from sentence_transformers.base.evaluation import BaseEvaluator
from sentence_transformers.cross_encoder import CrossEncoder, CrossEncoderTrainer, CrossEncoderTrainingArguments
from sentence_transformers.cross_encoder.losses import BinaryCrossEntropyLoss, RankNetLoss
from transformers import EarlyStoppingCallback, PrinterCallback, TrainerCallback
from transformers.utils import logging

from judge.base.arrays import Floats
from judge.base.errors import SpecError
from judge.base.fingerprint import fingerprint_weights
from judge.base.wording import Advice
from judge.lab.training.encoder_material import Lesson, Pair
from judge.lab.training.options import EncoderOptions

Stepped = Callable[[], None]

_PREFERENCES, _RATINGS = "preferences", "ratings"
_METRIC = "held_out_loss"
# Epochs without a lower loss on the stopping fold, after which training ends.
_PATIENCE = 1

_WARMUP = 0.1
# Tokenizers without a limit name one of 1e30 tokens.
_LONGEST = 1 << 20

_STATE = "trainer_state.json"


@dataclass(frozen=True, slots=True)
class Base:
    """The pretrained model: `key` is its name with the version of its weights; `max_length` is in tokens."""

    key: str
    max_length: int


def base_of(options: EncoderOptions) -> Base:
    """The pretrained model, which is loaded for this. Raises SpecError where it cannot be loaded or does not state how
    many tokens it reads."""
    model = _open(options, None, 1)
    tokens = int(model.tokenizer.model_max_length)
    places = getattr(model.config, "max_position_embeddings", None) or tokens
    reads = min(tokens, int(places))
    wanted = options.max_length or reads
    if wanted > reads:
        raise SpecError(Advice("{encoder} reads {} tokens, not {max_length}", reads, **_named(options)))
    if wanted > _LONGEST:
        raise SpecError(Advice("{encoder} does not say how many tokens it reads", **_named(options)))
    if Path(options.model).is_dir():
        return Base(f"{Path(options.model).resolve().name}@{fingerprint_weights(Path(options.model))}", wanted)
    return Base(f"{options.model}@{getattr(model.config, '_commit_hash', None) or 'unknown'}", wanted)


def count_cut(options: EncoderOptions, base: Base, pairs: Sequence[Pair]) -> int:
    """Number of pairs of query and story text whose ends are cut."""
    tokenizer = _open(options, base, 1).tokenizer
    return sum(len(ids) > base.max_length for ids in tokenizer(list(pairs), verbose=False)["input_ids"])


def steps_of(lesson: Lesson, batch: int) -> int:
    """Number of training steps in one epoch."""
    return sum(math.ceil(sum(map(len, units)) / batch) for units in (lesson.ranked, lesson.rated))


@dataclass(frozen=True, slots=True)
class Fitted:
    """A trained model, the epochs after which its weights were taken, and the batch size."""

    model: Any
    epochs: int
    batch: int

    def logits(self, pairs: Sequence[Pair]) -> Floats:
        """The logit of each pair of query and story text."""
        return _logits(self.model, pairs, self.batch)

    def save(self, folder: Path) -> None:
        """Save weights and tokenizer in a folder, which appears only when it is complete."""
        part = folder.with_name(folder.name + ".part")
        shutil.rmtree(part, ignore_errors=True)
        self.model.save_pretrained(str(part), create_model_card=False, safe_serialization=True)
        shutil.rmtree(folder, ignore_errors=True)
        part.rename(folder)


def fit(
    options: EncoderOptions,
    base: Base,
    lesson: Lesson,
    held: Lesson | None,
    epochs: int | None,
    folder: Path,
    seed: int,
    stepped: Stepped,
) -> Fitted:
    """The model trained on `lesson`, from the last complete checkpoint in `folder` on if there is one. With `held`,
    training stops when the loss on it no longer decreases, and the epoch with the smallest loss is used; otherwise
    after `epochs`. `stepped` is called after each step."""
    model = _open(options, base, seed)
    # A README about widgets and datasets of the hub is nobody's here.
    model._create_model_card = lambda *_, **__: None
    trainer = _trainer(options, model, lesson, held, epochs, folder, seed, stepped)
    last = _last_checkpoint(folder)
    if last is not None and _is_over(last, epochs or options.epochs, stops=held is not None):
        state = orjson.loads((last / _STATE).read_bytes())
        best = Path(state["best_model_checkpoint"]).name if held is not None else last.name
        trainer._load_from_checkpoint(str(folder / best))  # as it does itself in the end
    else:
        trainer.train(resume_from_checkpoint=None if last is None else str(last))
        state = {"best_global_step": trainer.state.best_global_step, "global_step": trainer.state.global_step}
    step = state["best_global_step"] if held is not None else state["global_step"]
    taken = round(step / steps_of(lesson, options.batch_size))
    # Training on a card wraps the model so that it answers in half precision, in which many stories would tie.
    whole = trainer.accelerator.unwrap_model(trainer.model, keep_fp32_wrapper=False)
    return Fitted(whole.eval(), taken, options.batch_size)


def _open(options: EncoderOptions, base: Base | None, seed: int) -> Any:
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.manual_seed(seed)  # of the head, which no language model brings
    try:
        return CrossEncoder(
            options.model,
            num_labels=1,
            max_length=None if base is None else base.max_length,
            trust_remote_code=False,
            model_kwargs={"dtype": torch.float32},
        )
    except (OSError, ValueError, RuntimeError, KeyError) as error:
        reason = str(error).strip().split("\n")[0]
        hint = "give a folder with an encoder's weights and tokenizer, or a name on the hub"
        raise SpecError(Advice("{encoder} cannot be loaded: {}", reason, encoder=options.model), hint=hint) from error


def _trainer(
    options: EncoderOptions,
    model: Any,
    lesson: Lesson,
    held: Lesson | None,
    epochs: int | None,
    folder: Path,
    seed: int,
    stepped: Stepped,
) -> Any:
    cuda = torch.cuda.is_available()
    per_epoch = steps_of(lesson, options.batch_size)
    arguments = CrossEncoderTrainingArguments(
        output_dir=str(folder.resolve()),
        num_train_epochs=options.epochs,
        per_device_train_batch_size=options.batch_size,
        learning_rate=options.learning_rate,
        warmup_steps=round(_WARMUP * per_epoch * options.epochs),
        bf16=cuda and torch.cuda.is_bf16_supported(),
        use_cpu=not cuda,
        dataloader_pin_memory=cuda,  # without a GPU it only warns
        seed=seed,
        save_strategy="epoch",
        save_total_limit=1,
        eval_strategy="no" if held is None else "epoch",
        load_best_model_at_end=held is not None,
        metric_for_best_model=None if held is None else f"eval_{_METRIC}",
        greater_is_better=None if held is None else False,
        logging_strategy="no",
        report_to="none",
        disable_tqdm=True,
    )
    losses = {_PREFERENCES: RankNetLoss(model, reduction_log="natural"), _RATINGS: BinaryCrossEntropyLoss(model)}
    data = _datasets(lesson)
    stopping = _StopAfter(epochs) if held is None else EarlyStoppingCallback(_PATIENCE)
    trainer = CrossEncoderTrainer(
        model=model,
        args=arguments,
        train_dataset=data,
        loss={name: losses[name] for name in data},
        evaluator=None if held is None else _HeldOut(held, options.batch_size),
        callbacks=[stopping, _Steps(stepped)],
    )
    trainer.remove_callback(PrinterCallback)  # it writes on stdout, where tables go
    return trainer


def _datasets(lesson: Lesson) -> dict[str, Any]:
    by_kind: dict[str, Any] = {}
    ranked = [ranking for units in lesson.ranked for ranking in units]
    if ranked:
        labels = [[1.0, *(0.0 for _ in ranking.texts[1:])] for ranking in ranked]
        columns = {
            "query": [ranking.query for ranking in ranked],
            "stories": [list(ranking.texts) for ranking in ranked],
        }
        by_kind[_PREFERENCES] = Dataset.from_dict({**columns, "label": labels})
    rated = [story for units in lesson.rated for story in units]
    if rated:
        columns = {"query": [story.query for story in rated], "story": [story.text for story in rated]}
        by_kind[_RATINGS] = Dataset.from_dict({**columns, "label": [story.value for story in rated]})
    return by_kind


class _HeldOut(BaseEvaluator):  # type: ignore[misc]  # the package has no types
    """Log loss averaged within each question, then over questions; of a preferred story against each other one, or of
    ratings as cross-entropy."""

    def __init__(self, held: Lesson, batch: int) -> None:
        super().__init__()
        self.greater_is_better, self.primary_metric = False, _METRIC
        self._held, self._batch = held, batch

    def __call__(self, model: Any, *_: Any, **__: Any) -> dict[str, float]:
        losses = []
        for units in self._held.ranked:
            if units:
                logits = _logits(
                    model, [(ranking.query, text) for ranking in units for text in ranking.texts], self._batch
                )
                parts = np.split(logits, np.cumsum([len(ranking.texts) for ranking in units])[:-1])
                losses.append(np.mean(np.concatenate([np.logaddexp(0, part[1:] - part[0]) for part in parts])))
        for rated in self._held.rated:
            if rated:
                logits = _logits(model, [(story.query, story.text) for story in rated], self._batch)
                values = np.array([story.value for story in rated])
                losses.append(np.mean(np.logaddexp(0, logits) - values * logits))
        return {_METRIC: float(np.mean(losses))}


class _StopAfter(TrainerCallback):  # type: ignore[misc]  # the package has no types
    """Stops early; the learning-rate schedule is still that for the maximum, as in the fits on folds."""

    def __init__(self, epochs: int | None) -> None:
        self._epochs = epochs

    def on_epoch_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:  # noqa: ARG002 - the library's form
        if self._epochs is not None and round(state.epoch) >= self._epochs:
            control.should_training_stop = True
        return control


class _Steps(TrainerCallback):  # type: ignore[misc]  # the package has no types
    def __init__(self, stepped: Stepped) -> None:
        self._stepped = stepped

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:  # noqa: ARG002 - the library's form
        self._stepped()


def _logits(model: Any, pairs: Sequence[Pair], batch: int) -> Floats:
    if not pairs:
        return np.empty(0)
    was = model.training
    model.eval()
    logits = model.predict(
        list(pairs), batch_size=4 * batch, activation_fn=torch.nn.Identity(), show_progress_bar=False
    )
    model.train(was)
    return np.asarray(logits, dtype=np.float64).reshape(-1)


def _last_checkpoint(folder: Path) -> Path | None:
    checkpoints = sorted(folder.glob("checkpoint-*"), key=lambda path: int(path.name.rpartition("-")[2]))
    # A checkpoint's state file is written last. Without it, a checkpoint is incomplete and is deleted.
    whole = []
    for path in checkpoints:
        try:
            orjson.loads((path / _STATE).read_bytes())
            whole.append(path)
        except (OSError, orjson.JSONDecodeError):
            shutil.rmtree(path)
    return whole[-1] if whole else None


def _is_over(checkpoint: Path, epochs: int, *, stops: bool) -> bool:
    """Whether training had ended: all epochs done, or, if `stops`, the held-out loss no longer decreased."""
    state = orjson.loads((checkpoint / _STATE).read_bytes())
    if round(state["epoch"]) >= epochs:
        return True
    return stops and state["global_step"] > (state["best_global_step"] or state["global_step"])


def _named(options: EncoderOptions) -> dict[str, Any]:
    return {"encoder": options.model, "max_length": options.max_length}
