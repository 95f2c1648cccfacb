import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, describe, expect, test } from 'vitest';
import { openProgressList } from './progress-list.ts';
import { openTerminal } from './terminal.ts';

const isTerminal = process.stdout.isTTY;
afterEach(() => {
  process.stdout.isTTY = isTerminal;
});

interface Shown {
  readonly isTTY?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly options?: { readonly json?: boolean; readonly quiet?: boolean };
}

/** A terminal or a pipe that records its output. */
function terminalWith({ isTTY = true, env = {}, options = {} }: Shown) {
  // listr2 asks the process itself whether it may draw.
  process.stdout.isTTY = isTTY;
  let written = '';
  const stream = Object.assign(Object.create(process.stderr), {
    isTTY,
    // As listr2 reads it for a process without a terminal.
    columns: 80,
    rows: 20,
    write: (text: string) => {
      written += text;
      return true;
    },
  });
  const asked = { json: options.json ?? false, quiet: options.quiet ?? false, noInput: false };
  const streams = { stdin: {}, stdout: stream, stderr: stream, env, asTyped: (text: string) => text };
  const terminal = openTerminal(asked, streams);
  return { terminal, written: () => written, shown: () => stripVTControlCharacters(written) };
}

const turn = () => new Promise((resolve) => setTimeout(resolve, 20));

describe('on a terminal', () => {
  test('parts that start together are one list, which ends with a line for each', async () => {
    const { terminal, shown } = terminalWith({});
    const list = openProgressList(terminal);
    list.tell({ kind: 'service', name: 'nats', state: 'starting' });
    list.tell({ kind: 'service', name: 'backend', state: 'planned' });
    await turn();
    list.tell({ kind: 'service', name: 'nats', state: 'healthy' });
    list.tell({ kind: 'service', name: 'backend', state: 'healthy' });
    await list.end();
    expect(shown()).toMatch(/✔ nats healthy\n✔ backend healthy\n$/);
  });

  test('a failed part and an abandoned one look different', async () => {
    const { terminal, shown } = terminalWith({});
    const list = openProgressList(terminal);
    list.tell({ kind: 'service', name: 'backend', state: 'starting' });
    list.tell({ kind: 'service', name: 'runtime', state: 'planned' });
    await turn();
    list.tell({ kind: 'service', name: 'backend', state: 'failed' });
    await list.end();
    expect(shown()).toMatch(/✖ backend failed\n· runtime planned\n$/);
  });

  test('a later part and a step get separate lists, in their order', async () => {
    const { terminal, shown } = terminalWith({});
    const list = openProgressList(terminal);
    list.tell({ kind: 'step', text: 'stop the platform' });
    list.tell({ kind: 'service', name: 'backend', state: 'stopped' });
    list.tell({ kind: 'step', text: 'start the platform' });
    await turn();
    list.tell({ kind: 'service', name: 'backend', state: 'starting' });
    await turn();
    list.tell({ kind: 'service', name: 'backend', state: 'healthy' });
    await list.end();
    const done = shown()
      .split('\n')
      .filter((line) => /^[→✔]/.test(line));
    // An unchanged line is in several frames.
    expect([...new Set(done)]).toEqual([
      '→ stop the platform',
      '✔ backend stopped',
      '→ start the platform',
      '✔ backend healthy',
    ]);
  });

  test('a notice before the list is a line, and one during the list stays below it', async () => {
    const { terminal, shown } = terminalWith({});
    const list = openProgressList(terminal);
    list.tell({ kind: 'notice', message: 'A port moved.' });
    expect(shown()).toBe('! A port moved.\n');
    list.tell({ kind: 'service', name: 'backend', state: 'starting' });
    await turn();
    list.tell({ kind: 'notice', message: 'Slow disk.' });
    list.tell({ kind: 'service', name: 'backend', state: 'healthy' });
    await list.end();
    expect(shown()).toMatch(/✔ backend healthy\n\n! Slow disk\.\n$/);
  });

  test('a step ends the wait for parts that did not become ready', async () => {
    const { terminal, shown } = terminalWith({});
    const list = openProgressList(terminal);
    list.tell({ kind: 'service', name: 'backend', state: 'starting' });
    await turn();
    list.tell({ kind: 'step', text: 'set the side in use aside' });
    await turn();
    expect(shown()).toMatch(/· backend starting\n(.|\n)*set the side in use aside/);
    await list.end();
  });

  test('a long notice during the list is wrapped between words, and nothing of it is lost', async () => {
    const { terminal, shown } = terminalWith({});
    const list = openProgressList(terminal);
    list.tell({ kind: 'service', name: 'backend', state: 'starting' });
    await turn();
    const message = Array.from({ length: 60 }, (_, i) => `word${i}`).join(' ');
    list.tell({ kind: 'notice', message });
    await list.end();
    const below =
      shown()
        .split(/· backend starting\n/)
        .at(-1) ?? '';
    expect(below.replace(/\s+/g, ' ').trim()).toBe(`! ${message}`);
  });

  test('control characters of a notice never reach the terminal', async () => {
    const { terminal, written } = terminalWith({});
    const list = openProgressList(terminal);
    list.tell({ kind: 'service', name: 'backend', state: 'starting' });
    await turn();
    list.tell({ kind: 'notice', message: 'a\u001b]0;b\u0007' });
    await list.end();
    expect(written()).not.toContain('\u001b]0;');
  });
});

describe('without a terminal each change is a line', () => {
  test.each<[string, Shown]>([
    ['in a pipe', { isTTY: false }],
    ['with NO_COLOR', { env: { NO_COLOR: '1' } }],
    ['in CI', { env: { CI: 'true' } }],
    ['on a dumb terminal', { env: { TERM: 'dumb' } }],
  ])('%s', async (_, shown) => {
    const { terminal, written } = terminalWith(shown);
    expect(terminal.canvas).toBeNull();
    const list = openProgressList(terminal);
    list.tell({ kind: 'change', text: 'graph: sqlite → dgraph' });
    list.tell({ kind: 'step', text: 'start the platform' });
    list.tell({ kind: 'service', name: 'backend', state: 'healthy' });
    await list.end();
    expect(written()).toBe('~ graph: sqlite → dgraph\n→ start the platform\n· backend healthy\n');
  });

  test.each([{ json: true }, { quiet: true }])('nothing is drawn with %o', (options) => {
    expect(terminalWith({ options }).terminal.canvas).toBeNull();
  });
});

test('the first Ctrl-C lets the command roll back; a later one ends it', async () => {
  const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));
  const command = `
    import { interruption } from '${here('../command.ts')}';
    import { openProgressList } from '${here('./progress-list.ts')}';
    import { openTerminal } from '${here('./terminal.ts')}';
    for (const stream of [process.stdout, process.stderr]) stream.isTTY = true;
    const options = { json: false, quiet: false, noInput: false };
    const { stdin, stdout, stderr } = process;
    const list = openProgressList(openTerminal(options, { stdin, stdout, stderr, env: {}, asTyped: (text) => text }));
    // As svc.cjs does.
    process.on('svcPhase', (phase) => phase === 'running' && process.on('SIGINT', () => process.exit(130)));
    process.on('svcPhase', (phase) => console.log(phase));
    const signal = interruption();
    signal.addEventListener('abort', () => setTimeout(() => console.log('taken back'), 100));
    list.tell({ kind: 'service', name: 'backend', state: 'starting' });
    setTimeout(() => undefined, 60_000);
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', command], { stdio: ['ignore', 'pipe', 'pipe'] });
  const sees = (stream: NodeJS.ReadableStream, text: string) =>
    new Promise<void>((resolve) => stream.on('data', (chunk) => String(chunk).includes(text) && resolve()));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const mayEnd = sees(child.stdout, 'running');
  await sees(child.stderr, 'backend');
  child.kill('SIGINT');
  expect(await Promise.race([ended, sees(child.stdout, 'taken back')])).toBeUndefined();
  await mayEnd;
  child.kill('SIGINT');
  expect(await ended).toBe(130);
});
