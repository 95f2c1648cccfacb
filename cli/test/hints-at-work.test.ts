import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answers, filled, needsNoPlatform, onlyLooks } from './hints/answers.ts';
import { suggestedCommands } from './hints/suggested.ts';
import { runSvc } from './run-svc.ts';

const demo = fileURLToPath(new URL('../../templates/demo/server.mjs', import.meta.url));

let folder = '';
/** A folder with a stopped installation, in which everything is named x. */
const original = () => join(folder, 'original');

beforeAll(async () => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'svc-hints-')));
  mkdirSync(original());
  const svc = async (...args: readonly string[]) => {
    const { code, stdout, stderr } = await run(original(), args);
    expect([args.join(' '), stderr, code]).toEqual([args.join(' '), expect.any(String), 0]);
    return stdout;
  };
  await svc('init', '--yes', '--start');
  await svc('server', 'add', 'x', '--', process.execPath, demo);
  await svc('skill', 'create', 'x', '--tool', 'x/echo', '--tool', 'x/now');
  await svc('role', 'create', 'x', '--skill', 'x');
  await svc('workspace', 'create', 'x');
  await svc('user', 'create', 'x@example.com');
  const { key } = JSON.parse(await svc('keys', 'create', 'x', '--role', 'x', '--json'));
  await svc('backup', 'x.backup');
  await svc('skill', 'export', 'x', 'skills/echo');
  await svc('down');
  const files = {
    'key.txt': key,
    'notes.md': 'Notes.\n',
    'platform.yaml': 'workspace: Default\nskills:\n  - { name: y, tools: [x/echo] }\n',
    '.mcp.json': JSON.stringify({ mcpServers: { y: { command: process.execPath, args: [demo] } } }),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(original(), name), text);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function run(cwd: string, args: readonly string[]) {
  const env = { HOME: folder, XDG_STATE_HOME: join(folder, 'state'), SVC_WORKING_DIR: join(folder, 'work') };
  return runSvc(args, { cwd, env: { ...env, DOCKER_HOST: `unix://${folder}/no-docker` } });
}

/** A folder of its own, with a running copy of the installation or without one. */
async function copy(name: string, needsPlatform = true): Promise<string> {
  const place = join(folder, name);
  cpSync(original(), place, { recursive: true });
  if (!needsPlatform) {
    rmSync(join(place, 'svc'), { recursive: true });
    return place;
  }
  const { code, stderr } = await run(place, ['up', '--as-copy']);
  if (code !== 0) throw new Error(stderr);
  return place;
}

/** Runs each of these commands, and returns those that are answered otherwise than they should be. */
async function wrongOf(commands: readonly string[], placeOf: (command: string) => Promise<string>): Promise<string[]> {
  const wrong: string[] = [];
  for (const command of commands) {
    const args = (filled[command] ?? command).split(' ').map((word) => (word === 'DEMO' ? demo : word));
    const place = await placeOf(command);
    const { code, stdout, stderr } = await run(place, args);
    const told = answers[command] ?? { code: 0, says: '' };
    const isAsTold = code === told.code && (stdout + stderr).includes(told.says);
    if (!isAsTold) wrong.push(`svc ${args.join(' ')} ended with ${code}: ${stderr.slice(0, 400)}`);
  }
  return wrong;
}

const suggested = suggestedCommands();

test('every command that a hint names works in an installation: those that only look', async () => {
  const shared = await copy('shared');
  try {
    expect(await wrongOf(suggested.filter(onlyLooks), async () => shared)).toEqual([]);
  } finally {
    await run(shared, ['down']);
  }
}, 240_000);

test('every command that a hint names works in an installation of its own: those that change something', async () => {
  const changing = suggested.filter((command) => !onlyLooks(command));
  expect(changing.length).toBeGreaterThan(40);
  const wrong: string[] = [];
  const worker = async (_: unknown, at: number) => {
    for (let next = changing.shift(); next !== undefined; next = changing.shift()) {
      const name = `own-${at}-${changing.length}`;
      const place = await copy(name, !needsNoPlatform(next));
      wrong.push(...(await wrongOf([next], async () => place)));
      await run(place, ['down']);
      rmSync(place, { recursive: true, force: true });
    }
  };
  await Promise.all(Array.from({ length: 2 }, worker));
  expect(wrong).toEqual([]);
}, 480_000);
