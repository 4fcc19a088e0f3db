// node client.mjs [--revision REV] -- COMMAND ARGS...: the contract client on @modelcontextprotocol/sdk 1.32.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { run, tap } from './steps.mjs';

await run(async ({ revision, command, args, elicits, answer, stderr }) => {
  const client = new Client({ name: 'contract-ts1', version: '1.0.0' },
    { capabilities: elicits ? { elicitation: {} } : {} });
  if (elicits) client.setRequestHandler(ElicitRequestSchema, async ({ params }) => answer(params));

  const transport = new StdioClientTransport({ command, args, stderr: 'pipe' });
  stderr(transport.stderr);
  // The SDK always offers its newest revision, so an older one is written into the initialize request on its way out.
  const send = transport.send.bind(transport);
  transport.send = (message) => send(revision !== undefined && message.method === 'initialize'
    ? { ...message, params: { ...message.params, protocolVersion: revision } }
    : message);
  let negotiated;
  transport.setProtocolVersion = (version) => { negotiated = version; };
  await client.connect(transport);
  const wire = tap(transport);

  const lists = {
    tools: (params) => client.listTools(params),
    resources: (params) => client.listResources(params),
    resourceTemplates: (params) => client.listResourceTemplates(params),
    prompts: (params) => client.listPrompts(params),
  };
  return {
    revision: negotiated,
    server: client.getServerVersion()?.name,
    wire,
    async page(kind, cursor) {
      const page = await lists[kind](cursor === undefined ? undefined : { cursor });
      return { items: page[kind], next: page.nextCursor };
    },
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    close: () => client.close(),
  };
});
