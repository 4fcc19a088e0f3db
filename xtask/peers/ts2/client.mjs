// node client.mjs [--revision REV] -- COMMAND ARGS...: the contract client on @modelcontextprotocol/client 2.4.
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { run, tap } from './steps.mjs';

const FIRST_STATELESS = '2026-07-28';

function negotiation(revision) {
  if (revision === undefined) return { versionNegotiation: { mode: 'auto' } };
  if (revision >= FIRST_STATELESS) return { versionNegotiation: { mode: { pin: revision } } };
  return { versionNegotiation: { mode: 'legacy' }, supportedProtocolVersions: [revision] };
}

await run(async ({ revision, command, args, elicits, answer, stderr }) => {
  const client = new Client({ name: 'contract-ts2', version: '1.0.0' },
    { capabilities: elicits ? { elicitation: {} } : {}, ...negotiation(revision) });
  if (elicits) client.setRequestHandler('elicitation/create', async ({ params }) => answer(params));

  const transport = new StdioClientTransport({ command, args, stderr: 'pipe' });
  stderr(transport.stderr);
  await client.connect(transport);
  const wire = tap(transport);

  const methods = {
    tools: 'tools/list',
    resources: 'resources/list',
    resourceTemplates: 'resources/templates/list',
    prompts: 'prompts/list',
  };
  // Without a cursor listTools() and its like fetch every page, and the tools they saw are what callTool checks
  // structured results against; the pages are asked for one by one beside that.
  await client.listTools();
  return {
    revision: client.getNegotiatedProtocolVersion(),
    server: client.getServerVersion()?.name,
    wire,
    async page(kind, cursor) {
      const page = await client.request({ method: methods[kind], params: cursor === undefined ? {} : { cursor } });
      return { items: page[kind], next: page.nextCursor };
    },
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    close: () => client.close(),
  };
});
