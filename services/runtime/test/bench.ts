import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import { Platform, script } from './platform.ts';

/**
 * Measures the runtime's cost of a call: `node services/runtime/test/bench.ts`. The same child is called directly over
 * its pipes, and through bus and runtime, alternately; one call at a time, then many at once.
 */
const warmUp = 1000;
const calls = 5000;
const rounds = 5;
const atOnce = 32;

const everything = createRequire(import.meta.url).resolve('@modelcontextprotocol/server-everything/dist/index.js');
const children = {
  'own echo': { ...script('echo'), tool: 'echo', given: { text: 'x'.repeat(64) } },
  'server-everything': {
    ...script('echo'),
    args: [everything, 'stdio'],
    tool: 'echo',
    given: { message: 'x'.repeat(64) },
  },
};

type Ask = () => Promise<unknown>;

const rows = [];
for (const [name, { tool, given, ...launch }] of Object.entries(children)) {
  await using platform = await Platform.open();
  platform.assign({ one: launch });
  await platform.startRuntime();
  await platform.connected('one');
  const params = JSON.stringify({ name: tool, arguments: given });
  const direct = await askDirectly(launch.args, params);
  const through: Ask = () => platform.ask('one', 'tools/call', params);
  const measured = { direct: [] as Figures[], through: [] as Figures[] };
  for (const ask of [direct.ask, through]) await measure(ask, warmUp);
  for (let round = 0; round < rounds; round++) {
    measured.direct.push(await measure(direct.ask, calls));
    measured.through.push(await measure(through, calls));
  }
  direct.stop();
  const [before, after] = [median(measured.direct), median(measured.through)];
  rows.push({
    child: name,
    'direct p50 µs': before.p50,
    'through p50 µs': after.p50,
    'added p50 µs': after.p50 - before.p50,
    'through p99 µs': after.p99,
    [`direct/s at ${atOnce}`]: before.perSecond,
    [`through/s at ${atOnce}`]: after.perSecond,
  });
}
console.table(rows);

interface Figures {
  readonly p50: number;
  readonly p99: number;
  readonly perSecond: number;
}

async function measure(ask: Ask, count: number): Promise<Figures> {
  const took = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const before = performance.now();
    await ask();
    took[i] = performance.now() - before;
  }
  took.sort();
  const at = (part: number) => Math.round(1000 * (took[Math.floor(part * count)] ?? 0));
  const before = performance.now();
  let left = count;
  const one = async () => {
    while (left-- > 0) await ask();
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  return { p50: at(0.5), p99: at(0.99), perSecond: Math.round(count / ((performance.now() - before) / 1000)) };
}

function median(figures: readonly Figures[]): Figures {
  const middle = (of: (one: Figures) => number) =>
    figures.map(of).sort((a, b) => a - b)[Math.floor(figures.length / 2)] ?? 0;
  return {
    p50: middle(({ p50 }) => p50),
    p99: middle(({ p99 }) => p99),
    perSecond: middle(({ perSecond }) => perSecond),
  };
}

/** The minimal client of a child: a line out, and the answer found by its id. */
async function askDirectly(args: readonly string[], params: string) {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'ignore'] });
  const waiting = new Map<number, (line: string) => void>();
  let open = '';
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    const lines = (open + chunk).split('\n');
    open = lines.pop() ?? '';
    for (const line of lines) {
      const { id } = JSON.parse(line);
      waiting.get(id)?.(line);
      waiting.delete(id);
    }
  });
  let lastId = 0;
  const send = (method: string, text: string) =>
    new Promise<string>((resolve) => {
      waiting.set(++lastId, resolve);
      child.stdin.write(`{"jsonrpc":"2.0","id":${lastId},"method":"${method}","params":${text}}\n`);
    });
  const clientInfo = { name: 'bench', version: '1' };
  await send('initialize', JSON.stringify({ protocolVersion: '2025-11-25', capabilities: {}, clientInfo }));
  child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n');
  return {
    ask: () => send('tools/call', params),
    stop: () => {
      child.stdin.end();
      void once(child, 'exit');
    },
  };
}
