"""What a tenant is shown of budgets, of the rates of right answers, and of the choice of providers."""
