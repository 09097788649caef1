"""Plan of a run: its queries, their order, and what they would cost."""

from judge.plan.forecast import Forecast, forecast
from judge.plan.prices import Price, load_prices
from judge.plan.queries import Plan, make_plan
from judge.plan.writing import AnyPlan, WritingPlan, plan_of

__all__ = ["AnyPlan", "Forecast", "Plan", "Price", "WritingPlan", "forecast", "load_prices", "make_plan", "plan_of"]
