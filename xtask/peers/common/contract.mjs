// What both TypeScript servers offer. README.md beside this folder states the contract.

/** One black pixel. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

export const PAGE = 3;

export const MEMOS = ['one', 'two', 'three', 'four'];

export const PROMPTS = ['bow', 'nod', 'wave'];

export const text = (text) => ({ content: [{ type: 'text', text }] });

export const memo = (uri, name) => ({ contents: [{ uri, mimeType: 'text/plain', text: `memo ${name}` }] });

/** Waits `ms`, or throws when `signal` fires; says on stderr which of them happened. */
export async function slow(ms, signal) {
  console.error('started');
  await new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      console.error('cancelled');
      reject(new Error('cancelled'));
    });
  });
  return text(`slept ${ms}`);
}

/**
 * Neither SDK's high-level server has pages, so its list handlers are wrapped. The map of handlers is
 * private to the SDK; the versions are pinned.
 */
export function paginate(server, fail) {
  const lists = {
    'tools/list': 'tools',
    'resources/list': 'resources',
    'prompts/list': 'prompts',
  };
  for (const [method, key] of Object.entries(lists)) {
    const inner = server._requestHandlers.get(method);
    server._requestHandlers.set(method, async (request, context) => {
      const result = await inner(request, context);
      const start = Number(request.params?.cursor ?? 0);
      if (!Number.isInteger(start) || start < 0 || start >= result[key].length) throw fail('unknown cursor');
      const page = { ...result, [key]: result[key].slice(start, start + PAGE) };
      if (start + PAGE < result[key].length) page.nextCursor = String(start + PAGE);
      return page;
    });
  }
}
