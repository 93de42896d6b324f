"""What axe-core, the field's own checker of accessibility, has against a page, and where a page scrolls sideways."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

type Rules = dict[str, object]

RULES: Rules = {
    "type": "tag",
    "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
}
"""The rules of WCAG 2.2 at its levels A and AA, and the checker's best practices."""
RULES_OF_A_VIEW: Rules = {
    "type": "rule",
    "values": [
        "button-name", "color-contrast", "html-lang-valid", "label-content-name-mismatch", "landmark-unique",
        "link-name", "target-size", "valid-lang",
    ],
}  # fmt: skip
"""Those of them that a page may break in one language, scheme or width alone; the others would cost time again."""
ONLY_WHAT_IS_READ: Rules = {"resultTypes": ["violations"], "selectors": False, "preload": False}
"""Leaves out what nobody reads here: what passed, paths to elements, and styles loaded once more."""
ROWS = 2
"""So many rows of a table and bars of a drawing are checked: the others are made alike, and each costs time."""
OPENED = """() => { for (const found of document.querySelectorAll("details")) found.open = true; }"""
SIDEWAYS = """() => [document.documentElement, ...document.querySelectorAll(".scroll:has(.detailed, .items)")]
  .filter((found) => found.scrollWidth > found.clientWidth)
  .filter((found) => found === document.documentElement || matchMedia("(max-width: 40rem)").matches)
  .map((found) => `${found.localName} ${found.className}: ${found.scrollWidth} of ${found.clientWidth}`)"""
"""The page where it is wider than the screen, and its cards on a phone: only a table of figures may be."""
SHORTENED = """(rows) => {
  for (const found of document.querySelectorAll("tbody")) while (found.rows.length > rows) found.deleteRow(rows);
  for (const found of document.querySelectorAll(`.bars g:nth-of-type(n + ${rows + 1})`)) found.remove();
  // On a gradient, which only says that there is more behind an edge, the checker leaves open how texts stand out.
  for (const found of document.querySelectorAll(".scroll")) found.style.backgroundImage = "none";
}"""


def faults(page: Page, rules: Rules) -> list[str]:
    """What the open page breaks, each with its address and the element: one of the rules, or WCAG 1.4.10 (reflow).

    What is folded on the page is opened, and its tables are shortened.
    """
    page.evaluate(OPENED)
    found = [str(wide) for wide in page.evaluate(SIDEWAYS)]
    page.evaluate(SHORTENED, ROWS)
    broken = Axe().run(page, options={"runOnly": rules, **ONLY_WHAT_IS_READ}).response["violations"]
    found += [f"{rule['id']}: {element['html']}" for rule in broken for element in rule["nodes"]]
    return [f"{page.url}: {fault}" for fault in found]
