// node server.mjs: the contract server on @modelcontextprotocol/server 2.4, over stdio. One factory serves both
// eras; a question is an input_required result, which the SDK turns into a server request for older clients.
import { McpServer, ProtocolError, ProtocolErrorCode, ResourceTemplate, inputRequired, inputResponse } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { MEMOS, PNG, PROMPTS, memo, paginate, slow, text } from './contract.mjs';

function contract() {
  const server = new McpServer({ name: 'contract-ts2', version: '1.0.0' });

  server.registerTool('echo', { description: 'Returns its text', inputSchema: z.object({ text: z.string() }) },
    async (args) => text(args.text));
  server.registerTool('image', { description: 'Returns one pixel' },
    async () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }));
  server.registerTool('structured', {
    description: 'Adds two integers',
    inputSchema: z.object({ a: z.number().int(), b: z.number().int() }),
    outputSchema: z.object({ sum: z.number().int() }),
  }, async ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }));
  server.registerTool('fail', { description: 'Fails' },
    async () => ({ ...text('it failed'), isError: true }));
  server.registerTool('progress', { description: 'Reports progress', inputSchema: z.object({ steps: z.number().int() }) },
    async ({ steps }, context) => {
      const progressToken = context.mcpReq._meta?.progressToken;
      for (let progress = 1; progressToken !== undefined && progress <= steps; progress++) {
        await context.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: steps },
        });
      }
      return text('done');
    });
  server.registerTool('slow', { description: 'Waits', inputSchema: z.object({ ms: z.number().int() }) },
    async ({ ms }, context) => slow(ms, context.mcpReq.signal));
  server.registerTool('ask', { description: 'Asks for a name' }, async (context) => {
    const answer = inputResponse(context.mcpReq.inputResponses, 'name');
    if (answer.kind !== 'elicit') {
      return inputRequired({
        inputRequests: {
          name: inputRequired.elicit({
            message: 'What is your name?',
            requestedSchema: z.object({ name: z.string() }),
          }),
        },
      });
    }
    return text(answer.action === 'accept' ? `hello ${answer.content.name}` : 'declined');
  });

  for (const name of MEMOS) {
    server.registerResource(name, `memo://${name}`, { mimeType: 'text/plain' }, async (uri) => memo(uri.href, name));
  }
  server.registerResource('memo', new ResourceTemplate('memo://{name}', { list: undefined }),
    { mimeType: 'text/plain' }, async (uri, { name }) => memo(uri.href, name));

  server.registerPrompt('greet', { description: 'Greets somebody', argsSchema: z.object({ who: z.string() }) },
    ({ who }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello, ${who}!` } }] }));
  for (const name of PROMPTS) {
    server.registerPrompt(name, { description: `Asks for a ${name}` },
      () => ({ messages: [{ role: 'user', content: { type: 'text', text: `Please ${name}.` } }] }));
  }

  paginate(server.server, (message) => new ProtocolError(ProtocolErrorCode.InvalidParams, message));
  return server;
}

serveStdio(contract, { onerror: (error) => console.error(error.message) });
