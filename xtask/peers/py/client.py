"""client.py [--revision REV] -- COMMAND ARGS...: the contract client on mcp 2.3."""

import asyncio
import json
import logging
import os
import sys
import threading
import warnings
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import ElicitResult, Implementation
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
STEP_SECONDS = 15


def usage(message: str) -> None:
    print(f"{message}\nusage: client.py [--revision REV] -- COMMAND ARGS...", file=sys.stderr)
    sys.exit(2)


def wanted(argv: list[str]) -> tuple[str | None, str, list[str]]:
    if "--" not in argv or argv[-1] == "--":
        usage("no command")
    at = argv.index("--")
    flags = argv[:at]
    if flags and (len(flags) != 2 or flags[0] != "--revision"):
        usage(f"unknown: {' '.join(flags)}")
    return flags[1] if flags else None, argv[at + 1], argv[at + 2 :]


def expect(what: str, got: Any, right: Any) -> None:
    if got != right:
        raise AssertionError(f"{what}: expected {right!r}, got {got!r}")


class Lines:
    """The server's stderr, line by line. The SDK wants a file for it, so it is a pipe read by a thread."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.more = asyncio.Event()
        reader, writer = os.pipe()
        self.writer = os.fdopen(writer, "w")
        threading.Thread(target=self._read, args=(reader, asyncio.get_running_loop()), daemon=True).start()

    def _read(self, reader: int, loop: asyncio.AbstractEventLoop) -> None:
        with os.fdopen(reader, errors="replace") as lines:
            for line in lines:
                try:
                    loop.call_soon_threadsafe(self._add, line.strip())
                except RuntimeError:
                    return  # the loop is over

    def _add(self, line: str) -> None:
        self.seen.append(line)
        self.more.set()

    async def until(self, line: str) -> None:
        while line not in self.seen:
            self.more.clear()
            await self.more.wait()


class OtherRevision:
    """A write stream that puts another revision into the initialize request: the SDK always offers its newest."""

    def __init__(self, inner: Any, revision: str) -> None:
        self.inner = inner
        self.revision = revision

    async def send(self, item: Any) -> None:
        message = item.message
        if getattr(message, "method", None) == "initialize":
            params = {**(message.params or {}), "protocolVersion": self.revision}
            item = replace(item, message=message.model_copy(update={"params": params}))
        await self.inner.send(item)

    async def aclose(self) -> None:
        await self.inner.aclose()

    async def __aenter__(self) -> "OtherRevision":
        await self.inner.__aenter__()
        return self

    async def __aexit__(self, *error: Any) -> bool | None:
        return await self.inner.__aexit__(*error)


@asynccontextmanager
async def transport(command: str, args: list[str], stderr: Lines, revision: str | None) -> AsyncIterator[Any]:
    async with stdio_client(StdioServerParameters(command=command, args=args), errlog=stderr.writer) as (read, write):
        stderr.writer.close()
        legacy = revision is not None and revision not in MODERN_PROTOCOL_VERSIONS
        yield read, OtherRevision(write, revision) if legacy else write


def mode(revision: str | None) -> str:
    if revision is None:
        return "auto"
    return revision if revision in MODERN_PROTOCOL_VERSIONS else "legacy"


class Steps:
    def __init__(self, client: Client, stderr: Lines, answers: list[ElicitResult]) -> None:
        self.client = client
        self.stderr = stderr
        self.answers = answers

    def at(self, revision: str) -> bool:
        return self.client.protocol_version >= revision

    async def pages(self, fetch: Callable[..., Awaitable[Any]], key: str) -> tuple[list[Any], int]:
        items: list[Any] = []
        pages, cursor = 0, None
        while pages == 0 or (cursor is not None and pages < 50):
            page = await fetch(cursor=cursor)
            items += getattr(page, key)
            cursor = page.next_cursor
            pages += 1
        return items, pages

    async def named_pages(self, fetch: Callable[..., Awaitable[Any]], key: str, right: list[str]) -> Any:
        items, pages = await self.pages(fetch, key)
        expect(key, sorted(item.name for item in items), sorted(right))
        if pages < 2:
            raise AssertionError(f"{key} came in one page")
        return items, {"pages": pages}

    async def list_tools(self) -> Any:
        names = ["echo", "image", "structured", "fail", "progress", "slow", "ask"]
        items, detail = await self.named_pages(self.client.list_tools, "tools", names)
        if self.at("2025-06-18"):
            schema = next(tool for tool in items if tool.name == "structured").output_schema or {}
            expect("outputSchema", schema.get("properties", {}).get("sum", {}).get("type"), "integer")
        return detail

    async def list_resources(self) -> Any:
        names = ["one", "two", "three", "four"]
        return (await self.named_pages(self.client.list_resources, "resources", names))[1]

    async def list_templates(self) -> None:
        items, _ = await self.pages(self.client.list_resource_templates, "resource_templates")
        expect("templates", [item.uri_template for item in items], ["memo://{name}"])

    async def list_prompts(self) -> Any:
        names = ["bow", "greet", "nod", "wave"]
        items, detail = await self.named_pages(self.client.list_prompts, "prompts", names)
        greet = next(prompt for prompt in items if prompt.name == "greet")
        expect("arguments", [(a.name, a.required) for a in greet.arguments or []], [("who", True)])
        return detail

    async def echo(self) -> None:
        text = 'tea, "thé", 茶\n🫖'
        result = await self.client.call_tool("echo", {"text": text})
        expect("content", [(block.type, block.text) for block in result.content], [("text", text)])

    async def image(self) -> None:
        result = await self.client.call_tool("image", {})
        got = [(block.type, block.mime_type, block.data) for block in result.content]
        expect("content", got, [("image", "image/png", PNG)])

    async def structured(self) -> None:
        result = await self.client.call_tool("structured", {"a": 2, "b": -5})
        expect("text", json.loads(result.content[0].text), {"sum": -3})
        if self.at("2025-06-18"):
            expect("structuredContent", result.structured_content, {"sum": -3})

    async def fail(self) -> None:
        result = await self.client.call_tool("fail", {})
        expect("result", (result.is_error, result.content[0].text), (True, "it failed"))

    async def unknown_tool(self) -> Any:
        try:
            result = await self.client.call_tool("nope", {})
        except MCPError as error:
            expect("code", error.code, -32602)
            return {"code": error.code}
        expect("isError", result.is_error, True)
        return {"isError": True}

    async def progress(self) -> None:
        seen: list[tuple[float, float | None]] = []

        async def report(progress: float, total: float | None, message: str | None) -> None:
            seen.append((progress, total))

        result = await self.client.call_tool("progress", {"steps": 3}, progress_callback=report)
        expect("text", result.content[0].text, "done")
        expect("progress", seen, [(1, 3), (2, 3), (3, 3)])

    async def cancel(self) -> None:
        call = asyncio.create_task(self.client.call_tool("slow", {"ms": 60_000}))
        started = asyncio.create_task(self.stderr.until("started"))
        await asyncio.wait([call, started], return_when=asyncio.FIRST_COMPLETED)
        started.cancel()
        if call.done():
            raise AssertionError(f"answered {call.result()!r}")
        call.cancel()
        await asyncio.gather(call, return_exceptions=True)
        await self.stderr.until("cancelled")
        result = await self.client.call_tool("echo", {"text": "still here"})
        expect("a later call", result.content[0].text, "still here")

    async def resource(self) -> None:
        result = await self.client.read_resource("memo://one")
        got = [(str(item.uri), item.text, item.mime_type) for item in result.contents]
        expect("contents", got, [("memo://one", "memo one", "text/plain")])

    async def template(self) -> None:
        result = await self.client.read_resource("memo://tea")
        expect("contents", [(str(item.uri), item.text) for item in result.contents], [("memo://tea", "memo tea")])

    async def missing_resource(self) -> Any:
        try:
            result = await self.client.read_resource("nowhere://tea")
        except MCPError as error:
            if error.code not in (-32002, -32602):
                raise
            return {"code": error.code}
        raise AssertionError(f"read {result!r}")

    async def prompt(self) -> None:
        result = await self.client.get_prompt("greet", {"who": "Ada"})
        got = [(message.role, message.content.text) for message in result.messages]
        expect("messages", got, [("user", "Hello, Ada!")])

    async def ask(self) -> Any:
        if not self.at("2025-06-18"):
            return {"skipped": "no elicitation in this revision"}
        self.answers += [ElicitResult(action="accept", content={"name": "Ada"}), ElicitResult(action="decline")]
        expect("accepted", (await self.client.call_tool("ask", {})).content[0].text, "hello Ada")
        expect("declined", (await self.client.call_tool("ask", {})).content[0].text, "declined")
        expect("answers left", self.answers, [])


STEPS = (
    "list_tools list_resources list_templates list_prompts echo image structured fail unknown_tool progress cancel "
    "resource template missing_resource prompt ask"
).split()


async def report(step: str, body: Callable[[], Awaitable[Any]]) -> bool:
    line: dict[str, Any] = {"step": step, "ok": True}
    try:
        async with asyncio.timeout(STEP_SECONDS):
            detail = await body()
        if detail is not None:
            line["detail"] = detail
    except TimeoutError:
        line = {"step": step, "ok": False, "error": f"nothing after {STEP_SECONDS} s"}
    except Exception as error:
        while isinstance(error, ExceptionGroup):
            error = error.exceptions[0]
        line = {"step": step, "ok": False, "error": f"{type(error).__name__}: {error}"}
    print(json.dumps(line), flush=True)
    return line["ok"]


async def main() -> int:
    revision, command, args = wanted(sys.argv[1:])
    stderr = Lines()
    answers: list[ElicitResult] = []

    async def answer(_context: Any, params: Any) -> ElicitResult:
        expect("question", params.message, "What is your name?")
        expect("schema", list(params.requested_schema["properties"]), ["name"])
        return answers.pop(0) if answers else ElicitResult(action="cancel")

    client = Client(
        transport(command, args, stderr, revision),
        mode=mode(revision),
        client_info=Implementation(name="contract-py", version="1.0.0"),
        elicitation_callback=answer if revision is None or revision >= "2025-06-18" else None,
    )

    async def handshake() -> Any:
        await client.__aenter__()
        if revision is not None:
            expect("revision", client.protocol_version, revision)
        return {"revision": client.protocol_version, "server": client.server_info and client.server_info.name}

    if not await report("handshake", handshake):
        return 1
    steps = Steps(client, stderr, answers)
    done = [await report(step, getattr(steps, step)) for step in STEPS]
    done.append(await report("close", lambda: client.__aexit__(None, None, None)))
    return 0 if all(done) else 1


if __name__ == "__main__":
    logging.disable(logging.ERROR)
    warnings.simplefilter("ignore")
    sys.exit(asyncio.run(main()))
