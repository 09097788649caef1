"""Tests whether a template is simple enough to be rendered in this process: only values, conditions and short loops.

A simple template needs time and memory in proportion to the text it shows. All other templates are rendered in a
separate process (`judge.inputs.eval_prompts.apart`), in which time and memory are limited.
"""

from __future__ import annotations

from jinja2 import nodes

_PLAIN = (
    nodes.Template,
    nodes.Output,
    nodes.TemplateData,
    nodes.Name,
    nodes.Const,
    nodes.Getattr,
    nodes.If,
    nodes.CondExpr,
    nodes.Test,
    nodes.Compare,
    nodes.Operand,
    nodes.And,
    nodes.Or,
    nodes.Not,
    nodes.For,
    nodes.Filter,
    nodes.Add,
    nodes.Sub,
    nodes.Getitem,
)
_FILTERS = frozenset(
    {"upper", "lower", "trim", "title", "capitalize", "length", "count", "first", "last", "join", "default", "d"}
    | {"int", "string", "wordcount", "abs"}
)
_TESTS = frozenset({"defined", "undefined", "none", "string", "number", "odd", "even", "true", "false"})
_TEXTS = frozenset({"story", "first", "second", "reference", "story_prompt"})
_DEEPEST = 2
"""Loops within loops: criteria and their guidelines take two. Each further one multiplies the time."""

_LONGEST_CONSTANT = 1000
"""Characters of a literal: a longer one in a loop could make a text of any size."""


def is_plain(tree: nodes.Template) -> bool:
    """Whether every part of a template renders quickly. Loops are allowed only over lists of criteria, of guidelines,
    or of a scale's points.
    """
    return all(_fine(child, 0) for child in tree.iter_child_nodes())


def _fine(node: nodes.Node, depth: int) -> bool:
    if not isinstance(node, _PLAIN):
        return False
    if isinstance(node, nodes.Filter) and node.name not in _FILTERS:
        return False
    if isinstance(node, nodes.Test) and node.name not in _TESTS:
        return False
    if isinstance(node, nodes.Const) and len(str(node.value)) > _LONGEST_CONSTANT:
        return False
    if isinstance(node, nodes.For):
        depth += 1
        if depth > _DEEPEST or node.recursive or not _short(node.iter):
            return False
    return all(_fine(child, depth) for child in node.iter_child_nodes())


def _short(node: nodes.Node) -> bool:
    """Whether a template's loop runs over a list of criteria, of guidelines, or of a scale's points, and not over a
    text.
    """
    while isinstance(node, nodes.Getattr):
        node = node.node
    return isinstance(node, nodes.Name) and node.name not in _TEXTS
