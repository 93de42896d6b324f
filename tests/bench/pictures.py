"""Pictures of every page as it is: of a tenant worth looking at, in a browser, over moto.

    uv run python -m tests.bench.pictures FOLDER [--readme] [--only overview,answers]

Each page is taken 1,280 and 390 points wide, light and dark, in both languages; with `--readme` just the pictures of
README. Says of each page how many KB it has, with all that it loads, and after how long a browser first painted it.
"""

import argparse
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from playwright.sync_api import Browser, sync_playwright

from infra.local import browser
from tests.support import shop_window
from tests.support.api import Api
from tests.support.api_tasks import OWNER
from tests.support.aws import in_process, one_request_at_a_time
from tests.support.browser import FLAGS
from tests.support.deployed_audits import sandboxed
from tests.support.deployment import deployed
from tests.support.providers import ProviderServer
from tests.support.served import served
from tests.support.wheels import make_wheels

TENANT = "riverside-school"
WIDE, NARROW = 1280, 390
README = ("overview", "proof")
"""The pages that README shows."""
COST = """() => {
  const loaded = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  const painted = performance.getEntriesByName("first-contentful-paint")[0];
  return [loaded.reduce((sum, each) => sum + each.decodedBodySize, 0), painted ? painted.startTime : NaN];
}"""
PROVED = "Compute 3/4"
"""What the answer is about whose proof is shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """How somebody looks at a page."""

    width: int = WIDE
    dark: bool = False
    language: str = "en-US"

    @property
    def name(self) -> str:
        """For a file's name."""
        return f"{self.width}.{'dark' if self.dark else 'light'}.{self.language[:2]}"


LOOKS = tuple(
    Look(width=width, dark=dark, language=language)
    for width in (WIDE, NARROW)
    for dark in (False, True)
    for language in ("en-US", "zh-CN")
)


def addresses(api: Api) -> dict[str, str]:
    """Every page of the tenant by its name."""
    found = {
        "overview": "/",
        **{name: f"/app/{name}" for name in (
            "answers", "measurements", "quizzes", "rates", "trends", "quotas", "experiments", "tasks", "audits",
            "judges", "labelling", "disagreements",
        )},
    }  # fmt: skip
    for name in ("answer", "measurement", "quiz", "experiment", "task", "audit"):
        listed = "quizzes" if name == "quiz" else f"{name}s"
        if items := api.get(f"/v1/{listed}").json["items"]:
            found[name] = f"/app/{listed}/{items[0]['id']}"
    task = found["task"]
    handed_in = api.get(task.replace("/app/", "/v1/") + "/submissions", party=OWNER).json["items"]
    found |= {
        "submissions": f"{task}/submissions",
        "submission": f"{task}/submissions/{handed_in[0]['id']}",
        "pairs": f"{found['experiment']}/pairs",
        "trace": f"/app/traces/{task.rpartition('/')[2]}.{handed_in[0]['id']}",
        "judge": f"/app/judges/{max(api.get('/v1/judges').json, key=lambda card: card['labels'])['id']}",
    }
    proved = api.get("/v1/answers", search=PROVED, decided_by="proof").json["items"]
    found["proof"] = f"/app/answers/{proved[0]['id']}"
    return found


def main() -> None:
    """Fill a tenant and take its pictures."""
    parser = argparse.ArgumentParser(description="Pictures of every page.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--readme", action="store_true", help="only the pictures of README")
    parser.add_argument("--only", default="", help="names of pages, with commas between them; all unless told")
    parser.add_argument("--looks", default="", help="as 1280.light.en, with commas between them; all unless told")
    options = parser.parse_args()
    chromium = browser.install()
    if chromium is None:
        parser.exit(1, f"There is no browser here; set {browser.VARIABLE} to the path of a Chromium.\n")
    options.folder.mkdir(parents=True, exist_ok=True)
    with pytest.MonkeyPatch.context() as patch, in_process(patch), ProviderServer() as judges:
        one_request_at_a_time(patch)
        keys, variables = judges.led_here()
        with deployed(patch, keys=keys, **variables) as here:
            api = shop_window.fill(here, judges, tenant=TENANT)
            with TemporaryDirectory() as wheels, sandboxed(here, make_wheels(Path(wheels)), patch):
                shop_window.audit(api, judges)
            with served() as url, sync_playwright() as playwright:
                started = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
                only, looks = (",".join(README), LOOKS[0].name) if options.readme else (options.only, options.looks)
                taken(started, url, api, options.folder, only=only, looks=looks)
                started.close()


def taken(started: Browser, url: str, api: Api, folder: Path, *, only: str, looks: str) -> None:
    """Take the pictures."""
    pages = addresses(api)
    wanted = only.split(",") if only else list(pages)
    for look in [each for each in LOOKS if not looks or each.name in looks.split(",")]:
        context = started.new_context(
            locale=look.language,
            viewport={"width": look.width, "height": 900},
            color_scheme="dark" if look.dark else "light",
        )
        page = context.new_page()
        page.goto(url)
        page.locator("input[name=token]").fill(api.token or "")
        page.locator("main button, form button").last.click()
        for name in wanted:
            page.goto(url + pages[name])
            page.wait_for_load_state("networkidle")
            page.screenshot(path=folder / f"{name}.{look.name}.png", full_page=True)
            size, painted = page.evaluate(COST)
            print(f"{name:<16}{look.name:<18}{size / 1000:>8.0f} KB{painted:>8.0f} ms")
        context.close()


if __name__ == "__main__":
    main()
