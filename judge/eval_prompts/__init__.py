"""Eval-Prompts: rendering of a template, a story and a criterion to messages."""

from judge.eval_prompts.prefix import prefix_order
from judge.eval_prompts.template import EvalPrompt, load_eval_prompt, shipped_eval_prompts

__all__ = ["EvalPrompt", "load_eval_prompt", "prefix_order", "shipped_eval_prompts"]
