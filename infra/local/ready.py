"""A local cloud that is ready for calls: started, with the stack deployed and a tenant with a token."""

from dataclasses import dataclass

from infra.local import deployment, emulator, tenant
from infra.local.home import Home, Running


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyCloud:
    """A local cloud with the stack deployed into it, and a token to call it with."""

    running: Running
    outputs: dict[str, str]
    token: str
    judge_keys: tuple[str, ...]

    @property
    def api_url(self) -> str:
        """The API's base URL."""
        return api_url(self.running, self.outputs)


def api_url(running: Running, outputs: dict[str, str]) -> str:
    """The API's base URL, in a form that every client resolves: some clients fail at `*.localhost` names."""
    return f"{running.endpoint}/_aws/execute-api/{outputs['ApiId']}"


def bring_up(home: Home, *, wait_scale: str = "1", kept: bool = True) -> ReadyCloud:
    """Start the cloud if it does not run, and deploy the changes; `kept` as in `emulator.start`.

    Raises `CloudError`, `BuildError` or `ToolMissingError`.
    """
    running = emulator.start(home, wait_scale=wait_scale, kept=kept)
    outputs = deployment.deploy(home, running)
    token = tenant.ensure_token(home, running, outputs)
    keys = tenant.put_judge_keys(home, running, outputs)
    return ReadyCloud(running=running, outputs=outputs, token=token, judge_keys=keys)
