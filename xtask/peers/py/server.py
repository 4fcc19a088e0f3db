"""server.py: the contract server on mcp 2.3, over stdio."""

import base64
import logging
import sys
from collections.abc import Awaitable, Callable
from typing import Annotated, Any

import anyio
from mcp.server.elicitation import AcceptedElicitation, ElicitationResult
from mcp.server.mcpserver import Context, Image, MCPServer
from mcp.server.mcpserver.resolve import Elicit, Resolve
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_PARAMS, CallToolResult, TextContent
from pydantic import BaseModel

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
PAGE = 3
LISTS = {"tools/list": "tools", "resources/list": "resources", "prompts/list": "prompts"}


async def paginate(ctx: Any, call_next: Callable[[Any], Awaitable[Any]]) -> Any:
    """Cuts list results into pages: MCPServer itself always answers with one."""
    result = await call_next(ctx)
    key = LISTS.get(ctx.method)
    if key is None:
        return result
    items = result[key]
    cursor = (ctx.params or {}).get("cursor", "0")
    if not cursor.isdecimal() or int(cursor) >= len(items):
        raise MCPError(INVALID_PARAMS, "unknown cursor")
    start = int(cursor)
    page = {**result, key: items[start : start + PAGE]}
    if start + PAGE < len(items):
        page["nextCursor"] = str(start + PAGE)
    return page


server = MCPServer("contract-py", version="1.0.0", log_level="ERROR", middleware=[paginate])


class Sum(BaseModel):
    sum: int


class Name(BaseModel):
    name: str


@server.tool(description="Returns its text", structured_output=False)
def echo(text: str) -> str:
    return text


@server.tool(description="Returns one pixel", structured_output=False)
def image() -> Image:
    return Image(data=PNG, format="png")


@server.tool(description="Adds two integers")
def structured(a: int, b: int) -> Sum:
    return Sum(sum=a + b)


@server.tool(description="Fails", structured_output=False)
def fail() -> CallToolResult:
    return CallToolResult(content=[TextContent(type="text", text="it failed")], is_error=True)


@server.tool(description="Reports progress", structured_output=False)
async def progress(steps: int, ctx: Context) -> str:
    for step in range(1, steps + 1):
        await ctx.report_progress(step, steps)
    return "done"


@server.tool(description="Waits", structured_output=False)
async def slow(ms: int) -> str:
    print("started", file=sys.stderr, flush=True)
    try:
        await anyio.sleep(ms / 1000)
    except anyio.get_cancelled_exc_class():
        print("cancelled", file=sys.stderr, flush=True)
        raise
    return f"slept {ms}"


def question() -> Elicit[Name]:
    return Elicit("What is your name?", Name)


@server.tool(description="Asks for a name", structured_output=False)
async def ask(answer: Annotated[ElicitationResult[Name], Resolve(question)]) -> str:
    return f"hello {answer.data.name}" if isinstance(answer, AcceptedElicitation) else "declined"


def add_memo(name: str) -> None:
    @server.resource(f"memo://{name}", name=name, mime_type="text/plain")
    def read() -> str:
        return f"memo {name}"


for memo_name in ("one", "two", "three", "four"):
    add_memo(memo_name)


@server.resource("memo://{name}", name="memo", mime_type="text/plain")
def memo(name: str) -> str:
    return f"memo {name}"


@server.prompt(description="Greets somebody")
def greet(who: str) -> str:
    return f"Hello, {who}!"


def add_prompt(name: str) -> None:
    @server.prompt(name=name, description=f"Asks for a {name}")
    def ask_for() -> str:
        return f"Please {name}."


for prompt_name in ("bow", "nod", "wave"):
    add_prompt(prompt_name)

if __name__ == "__main__":
    logging.disable(logging.WARNING)
    server.run("stdio")
