"""Plan of a run: its queries, their order, and what they would cost."""

from judge.asking.plan.forecast import Forecast, forecast
from judge.asking.plan.prices import Price, load_prices
from judge.asking.plan.queries import AnyPlan, Plan, WritingPlan, make_plan, plan_of

__all__ = ["AnyPlan", "Forecast", "Plan", "Price", "WritingPlan", "forecast", "load_prices", "make_plan", "plan_of"]
