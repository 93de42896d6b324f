"""LaTeX that was written into JSON with one backslash for two, as people and language models do."""

import re

LOST_BACKSLASH = re.compile(
    r"\t(?:imes|heta|ext\{|herefore|an(?= ?[\\({^]| [a-z]\b))|\r(?:ightarrow|angle|ho\b)|\n(?:abla|eq\b|otin)"
    r"|\f(?:rac|orall)|[\b](?:eta\b|egin\{|inom|oldsymbol)"
)
"""The white space that a reader of JSON makes of the backslash and first letter of a command of LaTeX (`\\times`)."""
