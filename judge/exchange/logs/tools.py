"""List of the tools whose logs of ratings or of preferences can be read."""

from __future__ import annotations

from judge.exchange.logs.alpaca_eval import ALPACA_EVAL
from judge.exchange.logs.asked import Tool
from judge.exchange.logs.deepeval import DEEPEVAL
from judge.exchange.logs.inspect_log import INSPECT
from judge.exchange.logs.langfuse import LANGFUSE
from judge.exchange.logs.lm_eval import LM_EVAL
from judge.exchange.logs.log_reader import log_reader, preference_reader
from judge.exchange.logs.mlflow import MLFLOW
from judge.exchange.logs.mt_bench import MT_BENCH
from judge.exchange.logs.phoenix import PHOENIX
from judge.exchange.logs.preference_row import PreferenceTool
from judge.exchange.logs.promptfoo import PROMPTFOO

TOOLS: dict[str, Tool] = {
    tool.name: tool for tool in (INSPECT, LM_EVAL, PROMPTFOO, DEEPEVAL, MLFLOW, PHOENIX, LANGFUSE)
}

PREFERENCE_TOOLS: dict[str, PreferenceTool] = {tool.name: tool for tool in (ALPACA_EVAL, MT_BENCH)}

READERS = (*map(log_reader, TOOLS.values()), *map(preference_reader, PREFERENCE_TOOLS.values()))
