// The contract client's steps, over whatever `connect` returns:
//   revision, server          the negotiated revision, the server's name
//   page(kind, cursor)        one page of 'tools', 'resources', 'resourceTemplates' or 'prompts', as { items, next }
//   call(name, args, options) a tool call; options are { signal, onprogress }
//   read(uri), prompt(name, args), close()
//   wire                      the messages that came and went, in order
// `connect` gets { revision, command, args, elicits, answer, stderr }: whether to declare elicitation, what answers
// a question, and where lines of the server's stderr go.
import { createInterface } from 'node:readline';
import { PNG } from './contract.mjs';
import { expect, reporter, wanted } from './report.mjs';

/** Lines of a stream, kept, with a wait for one of them. */
class Lines {
  #seen = [];
  #waiting = [];

  attach(stream) {
    createInterface({ input: stream }).on('line', (line) => {
      this.#seen.push(line.trim());
      this.#waiting.splice(0).forEach((wake) => wake());
    });
  }

  async until(line) {
    while (!this.#seen.includes(line)) await new Promise((wake) => this.#waiting.push(wake));
  }
}

async function everyPage(peer, kind) {
  const items = [];
  let pages = 0;
  let cursor;
  do {
    const page = await peer.page(kind, cursor);
    items.push(...page.items);
    cursor = page.next;
    pages++;
  } while (cursor !== undefined && pages < 50);
  return { items, pages };
}

async function pagedNames(peer, kind, right) {
  const { items, pages } = await everyPage(peer, kind);
  expect(kind, items.map((item) => item.name).sort(), [...right].sort());
  if (pages < 2) throw new Error(`${kind} came in one page`);
  return { items, pages };
}

function steps(peer, stderr, answers) {
  const at = (revision) => peer.revision >= revision;
  return {
    async list_tools() {
      const { items, pages } = await pagedNames(peer, 'tools',
        ['echo', 'image', 'structured', 'fail', 'progress', 'slow', 'ask']);
      const { outputSchema } = items.find((tool) => tool.name === 'structured');
      if (at('2025-06-18')) expect('outputSchema', outputSchema?.properties?.sum?.type, 'integer');
      return { pages };
    },
    async list_resources() {
      const { pages } = await pagedNames(peer, 'resources', ['one', 'two', 'three', 'four']);
      return { pages };
    },
    async list_templates() {
      const { items } = await everyPage(peer, 'resourceTemplates');
      expect('templates', items.map((item) => item.uriTemplate), ['memo://{name}']);
    },
    async list_prompts() {
      const { items, pages } = await pagedNames(peer, 'prompts', ['bow', 'greet', 'nod', 'wave']);
      const greet = items.find((prompt) => prompt.name === 'greet');
      expect('arguments', greet.arguments.map(({ name, required }) => [name, required]), [['who', true]]);
      return { pages };
    },
    async echo() {
      const text = 'tea, "thé", 茶\n🫖';
      expect('content', (await peer.call('echo', { text })).content, [{ type: 'text', text }]);
    },
    async image() {
      const { content } = await peer.call('image', {});
      expect('content', content.map(({ type, mimeType, data }) => ({ type, mimeType, data })),
        [{ type: 'image', mimeType: 'image/png', data: PNG }]);
    },
    async structured() {
      const result = await peer.call('structured', { a: 2, b: -5 });
      expect('text', JSON.parse(result.content[0].text), { sum: -3 });
      if (at('2025-06-18')) expect('structuredContent', result.structuredContent, { sum: -3 });
    },
    async fail() {
      const result = await peer.call('fail', {});
      expect('result', [result.isError, result.content[0].text], [true, 'it failed']);
    },
    async unknown_tool() {
      const outcome = await peer.call('nope', {}).then((result) => ({ isError: result.isError }), ({ code }) => ({ code }));
      if (outcome.code !== -32602 && outcome.isError !== true) throw new Error(JSON.stringify(outcome));
      return outcome;
    },
    async progress() {
      // The callback alone proves nothing: both SDKs drop it when the answer arrives, before the reports that came in
      // the same chunk reach it. So the wire is looked at.
      const from = peer.wire.length;
      const seen = [];
      const onprogress = ({ progress, total }) => seen.push([progress, total]);
      const result = await peer.call('progress', { steps: 3 }, { onprogress });
      expect('text', result.content[0].text, 'done');
      const right = [[1, 3], [2, 3], [3, 3]];
      expect('callback', seen, right.slice(0, seen.length));
      const wire = peer.wire.slice(from);
      const { id, params } = wire.find(({ method }) => method === 'tools/call');
      const answer = wire.findIndex((message) => message.id === id && message.result !== undefined);
      const reports = wire.slice(0, answer).filter(({ method }) => method === 'notifications/progress');
      const token = params._meta.progressToken;
      expect('reports', reports.map(({ params }) => [params.progressToken, params.progress, params.total]),
        right.map((pair) => [token, ...pair]));
    },
    async cancel() {
      const abort = new AbortController();
      const call = peer.call('slow', { ms: 60_000 }, { signal: abort.signal }).then(
        (result) => { throw new Error(`answered ${JSON.stringify(result)}`); }, () => {});
      await Promise.race([stderr.until('started'), call]);
      abort.abort('enough');
      await call;
      await stderr.until('cancelled');
      expect('a later call', (await peer.call('echo', { text: 'still here' })).content[0].text, 'still here');
    },
    async resource() {
      const { contents } = await peer.read('memo://one');
      expect('contents', contents.map(({ uri, text, mimeType }) => ({ uri, text, mimeType })),
        [{ uri: 'memo://one', text: 'memo one', mimeType: 'text/plain' }]);
    },
    async template() {
      const { contents } = await peer.read('memo://tea');
      expect('contents', contents.map(({ uri, text }) => ({ uri, text })), [{ uri: 'memo://tea', text: 'memo tea' }]);
    },
    async missing_resource() {
      const code = await peer.read('nowhere://tea').then(() => 'none', (error) => error.code);
      if (code !== -32002 && code !== -32602) throw new Error(`error code ${code}`);
      return { code };
    },
    async prompt() {
      const { messages } = await peer.prompt('greet', { who: 'Ada' });
      expect('messages', messages.map(({ role, content }) => [role, content.text]), [['user', 'Hello, Ada!']]);
    },
    async ask() {
      if (!at('2025-06-18')) return { skipped: 'no elicitation in this revision' };
      answers.push({ action: 'accept', content: { name: 'Ada' } }, { action: 'decline' });
      expect('accepted', (await peer.call('ask', {})).content[0].text, 'hello Ada');
      expect('declined', (await peer.call('ask', {})).content[0].text, 'declined');
      expect('answers left', answers.length, 0);
    },
    close: () => peer.close(),
  };
}

/** Keeps what comes and goes on a connected transport. */
export function tap(transport) {
  const wire = [];
  const send = transport.send.bind(transport);
  transport.send = (message, options) => {
    wire.push(message);
    return send(message, options);
  };
  const inner = transport.onmessage;
  transport.onmessage = (message, extra) => {
    wire.push(message);
    inner(message, extra);
  };
  return wire;
}

export async function run(connect) {
  const { revision, command, args } = wanted(process.argv.slice(2));
  const stderr = new Lines();
  const answers = [];
  const { report, done } = reporter();
  let peer;
  const connected = await report('handshake', async () => {
    peer = await connect({
      revision,
      command,
      args,
      stderr: (stream) => stderr.attach(stream),
      elicits: revision === undefined || revision >= '2025-06-18',
      answer: (request) => {
        expect('question', request.message, 'What is your name?');
        expect('schema', Object.keys(request.requestedSchema.properties), ['name']);
        return answers.shift() ?? { action: 'cancel' };
      },
    });
    if (revision !== undefined) expect('revision', peer.revision, revision);
    return { revision: peer.revision, server: peer.server };
  });
  if (connected) {
    for (const [step, body] of Object.entries(steps(peer, stderr, answers))) await report(step, body);
  }
  done();
}
