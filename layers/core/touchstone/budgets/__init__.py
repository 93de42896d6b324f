"""Budgets: the quotas that providers set and the ceilings that tenants have. A call reserves first and settles after.

account                         the account of a quota: its owner, what was reserved, told and refused
decision · usage                the rules, pure: may this call be made now, and what is left
days                            when a provider's day begins and ends
ledger · leased                 what can be done to an account, what a refusal teaches, and units reserved together
quotas · spending · day_parts   the accounts and the tenants' spending in the table
store · money                   conditional writes to the table, and amounts as whole micro-dollars
admission                       money and quota together, as judges ask for them
memory                          the same without AWS

Names are imported on first use: most work only asks when a quota is fresh again.
"""

from typing import TYPE_CHECKING

from touchstone.lazy import lazy_exports

if TYPE_CHECKING:
    from touchstone.budgets.account import QuotaKey as QuotaKey
    from touchstone.budgets.admission import BudgetAdmission as BudgetAdmission
    from touchstone.budgets.admission import DynamoAdmission as DynamoAdmission
    from touchstone.budgets.days import day_of as day_of
    from touchstone.budgets.days import next_reset as next_reset
    from touchstone.budgets.ledger import Reservation as Reservation
    from touchstone.budgets.ledger import TenantShare as TenantShare
    from touchstone.budgets.memory import MemoryAdmission as MemoryAdmission
    from touchstone.budgets.quotas import Quotas as Quotas
    from touchstone.budgets.spending import Spending as Spending
    from touchstone.budgets.spending import SpendReservation as SpendReservation
    from touchstone.budgets.spending import Spent as Spent
    from touchstone.budgets.usage import DayUsage as DayUsage
    from touchstone.budgets.usage import QuotaUsage as QuotaUsage
    from touchstone.budgets.usage import forecast as forecast

lazy_exports(__name__)
