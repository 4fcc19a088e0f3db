// node server.mjs: the contract server on @modelcontextprotocol/sdk 1.32, over stdio.
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { ErrorCode, McpError } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { MEMOS, PNG, PROMPTS, memo, paginate, slow, text } from './contract.mjs';

const server = new McpServer({ name: 'contract-ts1', version: '1.0.0' });

server.registerTool('echo', { description: 'Returns its text', inputSchema: { text: z.string() } },
  async (args) => text(args.text));
server.registerTool('image', { description: 'Returns one pixel' },
  async () => ({ content: [{ type: 'image', data: PNG, mimeType: 'image/png' }] }));
server.registerTool('structured', {
  description: 'Adds two integers',
  inputSchema: { a: z.number().int(), b: z.number().int() },
  outputSchema: { sum: z.number().int() },
}, async ({ a, b }) => ({ ...text(JSON.stringify({ sum: a + b })), structuredContent: { sum: a + b } }));
server.registerTool('fail', { description: 'Fails' },
  async () => ({ ...text('it failed'), isError: true }));
server.registerTool('progress', { description: 'Reports progress', inputSchema: { steps: z.number().int() } },
  async ({ steps }, extra) => {
    const progressToken = extra._meta?.progressToken;
    for (let progress = 1; progressToken !== undefined && progress <= steps; progress++) {
      await extra.sendNotification({
        method: 'notifications/progress',
        params: { progressToken, progress, total: steps },
      });
    }
    return text('done');
  });
server.registerTool('slow', { description: 'Waits', inputSchema: { ms: z.number().int() } },
  async ({ ms }, extra) => slow(ms, extra.signal));
server.registerTool('ask', { description: 'Asks for a name' }, async () => {
  const answer = await server.server.elicitInput({
    message: 'What is your name?',
    requestedSchema: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
  });
  return text(answer.action === 'accept' ? `hello ${answer.content.name}` : 'declined');
});

for (const name of MEMOS) {
  server.registerResource(name, `memo://${name}`, { mimeType: 'text/plain' }, async (uri) => memo(uri.href, name));
}
server.registerResource('memo', new ResourceTemplate('memo://{name}', { list: undefined }),
  { mimeType: 'text/plain' }, async (uri, { name }) => memo(uri.href, name));

server.registerPrompt('greet', { description: 'Greets somebody', argsSchema: { who: z.string() } },
  ({ who }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Hello, ${who}!` } }] }));
for (const name of PROMPTS) {
  server.registerPrompt(name, { description: `Asks for a ${name}` },
    () => ({ messages: [{ role: 'user', content: { type: 'text', text: `Please ${name}.` } }] }));
}

paginate(server.server, (message) => new McpError(ErrorCode.InvalidParams, message));
await server.connect(new StdioServerTransport());
