"""Eval-Prompts: templates that are rendered with a story and a criterion to the messages sent to a judge."""

from judge.inputs.eval_prompts.template import EvalPrompt, load_eval_prompt, prefix_order, shipped_eval_prompts

__all__ = ["EvalPrompt", "load_eval_prompt", "prefix_order", "shipped_eval_prompts"]
