"""A local cloud that is ready to be called: started, deployed into, with somebody to call it."""

from dataclasses import dataclass

from infra.local import deployment, emulator, tenant
from infra.local.home import Home, Running


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadyCloud:
    """A local cloud with the stack deployed into it and somebody to call it."""

    running: Running
    outputs: dict[str, str]
    token: str
    judge_keys: tuple[str, ...]

    @property
    def api_url(self) -> str:
        """The API's base URL."""
        return api_url(self.running, self.outputs)


def api_url(running: Running, outputs: dict[str, str]) -> str:
    """The API's base URL, in a form that every client resolves: `*.localhost` names fail in some."""
    return f"{running.endpoint}/_aws/execute-api/{outputs['ApiId']}"


def bring_up(home: Home, *, wait_scale: str = "1", kept: bool = True) -> ReadyCloud:
    """Start what does not run, deploy what changed; `kept` as in `emulator.start`.

    Raises `CloudError`, `BuildError` or `ToolMissingError`.
    """
    running = emulator.start(home, wait_scale=wait_scale, kept=kept)
    outputs = deployment.deploy(home, running)
    token = tenant.ensure_token(home, running, outputs)
    keys = tenant.put_judge_keys(home, running, outputs)
    return ReadyCloud(running=running, outputs=outputs, token=token, judge_keys=keys)
