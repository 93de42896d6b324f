"""Budgets: quotas that providers set, and ceilings that tenants have, reserved before a call and settled after it.

decision · learning · usage   the rules, pure: may this call be made now, what does a refusal teach, what is left
shares                        what one tenant may use of a quota that all share
days                          when a provider's day begins and ends
quotas · spending             the accounts in the table
admission                     both together, as judges ask for them
memory                        the same without AWS
"""

from touchstone.budgets.admission import BudgetAdmission, DynamoAdmission
from touchstone.budgets.book import Reservation
from touchstone.budgets.days import day_of, next_reset
from touchstone.budgets.items import QuotaKey
from touchstone.budgets.memory import MemoryAdmission
from touchstone.budgets.quotas import Quotas
from touchstone.budgets.shares import TenantShare
from touchstone.budgets.spending import Spending, SpendReservation, Spent
from touchstone.budgets.usage import DayUsage, QuotaUsage, forecast

__all__ = [
    "BudgetAdmission",
    "DayUsage",
    "DynamoAdmission",
    "MemoryAdmission",
    "QuotaKey",
    "QuotaUsage",
    "Quotas",
    "Reservation",
    "SpendReservation",
    "Spending",
    "Spent",
    "TenantShare",
    "day_of",
    "forecast",
    "next_reset",
]
