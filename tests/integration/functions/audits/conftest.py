"""Deployed audits in the process: a scripted agent, the real sandbox, a library that is really installed."""

from tests.support.deployed_audits import agent, demo, lambdas, wheels

__all__ = ["agent", "demo", "lambdas", "wheels"]
