"""Budgets: the quotas that providers set and the ceilings that tenants have. A call reserves first and settles after.

account                         the account of a quota: its owner, what was reserved, told and refused
decision · usage                the rules, pure: may this call be made now, and what is left
days                            when a provider's day begins and ends
ledger · leased                 what can be done to an account, what a refusal teaches, and units reserved together
quotas · spending · day_parts   the accounts and the tenants' spending in the table
store · money                   conditional writes to the table, and amounts as whole micro-dollars
admission                       money and quota together, as judges ask for them
memory                          the same without AWS
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
