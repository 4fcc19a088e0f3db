// What every contract client in JavaScript reads and prints.

const STEP_MS = 15_000;

function usage(message) {
  console.error(`${message}\nusage: client [--revision REV] -- COMMAND ARGS...`);
  process.exit(2);
}

/** What the command line asks for. */
export function wanted(argv) {
  const at = argv.indexOf('--');
  if (at < 0 || at + 1 === argv.length) usage('no command');
  const flags = argv.slice(0, at);
  if (flags.length !== 0 && !(flags.length === 2 && flags[0] === '--revision')) usage(`unknown: ${flags.join(' ')}`);
  return { revision: flags[1], command: argv[at + 1], args: argv.slice(at + 2) };
}

export function expect(what, got, right) {
  if (JSON.stringify(got) !== JSON.stringify(right)) {
    throw new Error(`${what}: expected ${JSON.stringify(right)}, got ${JSON.stringify(got)}`);
  }
}

function within(ms, promise) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing after ${ms} ms`)), ms);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

/** Prints a line a step; `done` ends the process, with 0 only when every step was right. */
export function reporter() {
  let failed = false;
  const report = async (step, body) => {
    try {
      const detail = await within(STEP_MS, body());
      console.log(JSON.stringify({ step, ok: true, ...(detail && { detail }) }));
      return true;
    } catch (error) {
      console.log(JSON.stringify({ step, ok: false, error: String(error?.message ?? error) }));
      failed = true;
      return false;
    }
  };
  return { report, done: () => process.exit(failed ? 1 : 0) };
}
