"""Budgets: quotas that providers set, and ceilings that tenants have, reserved before a call and settled after it.

account                       whose quota, and what was reserved, told and refused of it
decision · learning · usage   the rules, pure: may this call be made now, what does a refusal teach, what is left
days                          when a provider's day begins and ends
book                          what can be done to an account, and what one tenant may use of it
quotas · spending             the accounts in the table
admission                     both together, as judges ask for them
memory                        the same without AWS
"""

from touchstone.budgets.account import QuotaKey
from touchstone.budgets.admission import BudgetAdmission, DynamoAdmission
from touchstone.budgets.days import day_of, next_reset
from touchstone.budgets.ledger import Reservation, TenantShare
from touchstone.budgets.memory import MemoryAdmission
from touchstone.budgets.quotas import Quotas
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
