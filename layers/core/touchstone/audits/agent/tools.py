"""The tools that an agent may call: to look into the target, to write scripts, to run them, and to end."""

from pydantic import BaseModel, ConfigDict, Field

from touchstone.judges.conversing import Tool


class _Arguments(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SearchArguments(_Arguments):
    """What to search for."""

    query: str = Field(description="Words or a name: `constructor of LlmAgent`, `ToolContext`.")


class InspectArguments(_Arguments):
    """What to inspect."""

    name: str = Field(description="A fully qualified name: `package.module.Class`, `package.module.Class.method`.")


class ReadArguments(_Arguments):
    """What to read."""

    path: str = Field(description="A path as the other tools name it: `package/module.py`, or a folder.")
    first_line: int | None = Field(description="The first line to show, from 1; null: from the beginning.")
    last_line: int | None = Field(description="The last line to show; null: as many as are shown at a time.")


class WriteArguments(_Arguments):
    """What to write."""

    path: str = Field(description="A plain file name that ends in .py, such as `a.py`. One that exists is replaced.")
    text: str = Field(description="The whole script.")


class RunArguments(_Arguments):
    """What to run."""

    path: str = Field(description="The file to run, written before.")
    option: str | None = Field(
        description="The label of the option whose claim the script uses or asserts; null: it proves none of them."
    )


class ConcludeArguments(_Arguments):
    """What to say at the end."""

    answer: str | None = Field(description="The label of the option that you hold right; null: none, or several.")
    summary: str = Field(description="What was proved, in a few sentences.")
    critique: str = Field(
        description="What is unclear, wrong or two-valued in the question and its options, if anything."
    )


SEARCH = Tool(
    name="search_ranked_targets",
    description="Ranked search over the names and docstrings of the library's modules, classes and functions.",
    parameters=SearchArguments,
)
INSPECT = Tool(
    name="inspect_fqn",
    description="What the sources say of a name: signature, docstring, fields, methods, source.",
    parameters=InspectArguments,
)
READ = Tool(name="read_file", description="Lines of a source file, or the names in a folder.", parameters=ReadArguments)
WRITE = Tool(name="write_file", description="Writes a script, to be run after.", parameters=WriteArguments)
RUN = Tool(
    name="run",
    description=(
        "Runs a script in a sandbox with the library and without network, and says what it came to. With `option` it "
        "becomes that option's proof, in place of the one before."
    ),
    parameters=RunArguments,
)
CONCLUDE = Tool(
    name="conclude", description="Ends the work, once every option has its proof.", parameters=ConcludeArguments
)
TOOLS: tuple[Tool[BaseModel], ...] = (SEARCH, INSPECT, READ, WRITE, RUN, CONCLUDE)
