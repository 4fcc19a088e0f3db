// node inspector.mjs [--revision REV] -- COMMAND ARGS...: the steps that the Inspector's command line can do, each a
// run of it and so a connection of its own. It shows no progress, cancels nothing and answers no question.
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PNG } from './contract.mjs';
import { expect, reporter, wanted } from './report.mjs';

const INSPECTOR = fileURLToPath(new URL('./node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js', import.meta.url));
const ERAS = { '2025-11-25': 'legacy', '2026-07-28': 'modern' };
/** What the command line exits with after a result with isError, and for a tool that is not listed. */
const TOOL_ERROR = 5;

const { revision, command, args } = wanted(process.argv.slice(2));
const era = ERAS[revision ?? '2025-11-25'];
if (era === undefined) {
  console.error(`the Inspector offers only ${Object.keys(ERAS).join(' and ')}`);
  process.exit(2);
}

// It keeps files in the home folder; and the command goes by a file, since its own flags would be taken for ours.
const home = await mkdtemp(join(tmpdir(), 'inspector-'));
const config = join(home, 'servers.json');
await writeFile(config, JSON.stringify({ mcpServers: { peer: { command, args } } }));

async function inspect(method, flags = [], right = 0) {
  const child = spawn(process.execPath,
    [INSPECTOR, '--cli', '--quiet', '--format', 'json', '--config', config, '--server', 'peer', '--protocol-era', era, '--method', method, ...flags],
    { env: { ...process.env, HOME: home }, stdio: ['ignore', 'pipe', 'pipe'] });
  const texts = ['', ''];
  for (const [at, stream] of [child.stdout, child.stderr].entries()) stream.on('data', (chunk) => { texts[at] += chunk; });
  const code = await new Promise((resolve, reject) => child.on('close', resolve).on('error', reject));
  if (code !== right) throw new Error(`exit code ${code}: ${texts[1].trim() || texts[0].trim()}`);
  const error = texts[1].split('\n').find((line) => line.startsWith('{"error"'));
  return { ...(texts[0] && JSON.parse(texts[0])), ...(error && JSON.parse(error)) };
}

const call = (name, args, right) => inspect('tools/call', ['--tool-name', name, '--tool-args-json', JSON.stringify(args)], right);

async function names(method, key, right) {
  const { result } = await inspect(method);
  expect(key, result[key].map(({ name }) => name).sort(), [...right].sort());
}

const steps = {
  list_tools: () => names('tools/list', 'tools', ['echo', 'image', 'structured', 'fail', 'progress', 'slow', 'ask']),
  list_resources: () => names('resources/list', 'resources', ['one', 'two', 'three', 'four']),
  async list_templates() {
    const { result } = await inspect('resources/templates/list');
    expect('templates', result.resourceTemplates.map((item) => item.uriTemplate), ['memo://{name}']);
  },
  list_prompts: () => names('prompts/list', 'prompts', ['bow', 'greet', 'nod', 'wave']),
  async echo() {
    const text = 'tea, "thé", 茶\n🫖';
    const { result } = await call('echo', { text });
    expect('content', result.content, [{ type: 'text', text }]);
  },
  async image() {
    const { result } = await call('image', {});
    expect('content', result.content.map(({ type, mimeType, data }) => ({ type, mimeType, data })),
      [{ type: 'image', mimeType: 'image/png', data: PNG }]);
  },
  async structured() {
    const { result } = await call('structured', { a: 2, b: -5 });
    expect('result', [JSON.parse(result.content[0].text), result.structuredContent], [{ sum: -3 }, { sum: -3 }]);
  },
  async fail() {
    const { result } = await call('fail', {}, TOOL_ERROR);
    expect('result', [result.isError, result.content[0].text], [true, 'it failed']);
  },
  async progress() {
    const { result } = await call('progress', { steps: 3 });
    expect('text', result.content[0].text, 'done');
  },
  async resource() {
    const { result } = await inspect('resources/read', ['--uri', 'memo://one']);
    expect('contents', result.contents.map(({ uri, text, mimeType }) => ({ uri, text, mimeType })),
      [{ uri: 'memo://one', text: 'memo one', mimeType: 'text/plain' }]);
  },
  async template() {
    const { result } = await inspect('resources/read', ['--uri', 'memo://tea']);
    expect('text', result.contents.map(({ text }) => text), ['memo tea']);
  },
  async missing_resource() {
    const { error } = await inspect('resources/read', ['--uri', 'nowhere://tea'], 1);
    return { message: error.message };
  },
  async prompt() {
    const { result } = await inspect('prompts/get', ['--prompt-name', 'greet', '--prompt-args', 'who=Ada']);
    expect('messages', result.messages.map(({ role, content }) => [role, content.text]), [['user', 'Hello, Ada!']]);
  },
};

const { report, done } = reporter();
const connected = await report('handshake', async () => {
  const { result } = await inspect('initialize');
  if (revision !== undefined) expect('revision', result.protocolVersion, revision);
  return { revision: result.protocolVersion, server: result.serverInfo?.name };
});
if (connected) {
  for (const [step, body] of Object.entries(steps)) await report(step, body);
}
await rm(home, { recursive: true });
done();
