import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { answers, filled, inTurn, type Place, placeOf } from './hints/answers.ts';
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

/** Runs these commands in one installation, and returns those that are answered otherwise than they should be. */
async function wrongIn(place: string, commands: readonly string[]): Promise<string[]> {
  const wrong: string[] = [];
  for (const command of commands) {
    const args = textOf(command)
      .split(' ')
      .map((word) => (word === 'DEMO' ? demo : word));
    const { code, stdout, stderr } = await run(place, args);
    const told = answers[command] ?? { code: 0, says: '' };
    const isAsTold = code === told.code && (stdout + stderr).includes(told.says);
    if (!isAsTold) wrong.push(`svc ${args.join(' ')} ended with ${code}: ${stderr.slice(0, 400)}`);
  }
  return wrong;
}

const textOf = (command: string) => filled[command] ?? command;

/** The hints to try in this place. Hints that a person fills in to one command are tried once. */
function suggestedIn(place: Place): readonly string[] {
  const byText = new Map(
    suggested.map((command) => [`${textOf(command)} ${JSON.stringify(answers[command])}`, command]),
  );
  const found = [...byText.values()].filter((command) => placeOf(command) === place);
  return found.sort((one, other) => inTurn.indexOf(textOf(one)) - inTurn.indexOf(textOf(other)));
}

const suggested = suggestedCommands();

test.each([
  ['that leave it unchanged', 'unchanged'],
  ['that change it and keep all that the others need', 'changed'],
  ['that disturb others, in turn', 'in turn'],
] as const)(
  'every command that a hint names works in an installation: those %s',
  async (_, kind) => {
    const shared = await copy(kind);
    try {
      expect(await wrongIn(shared, suggestedIn(kind))).toEqual([]);
    } finally {
      await run(shared, ['down']);
    }
  },
  240_000,
);

test('every other command that a hint names works in an installation of its own', async () => {
  const left = [...suggestedIn('own'), ...suggestedIn('none')];
  expect([suggested.length > 100, suggestedIn('in turn').length > 20, left.length > 5]).toEqual([true, true, true]);
  const wrong: string[] = [];
  const worker = async (_: unknown, at: number) => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const place = await copy(`own-${at}-${left.length}`, placeOf(next) !== 'none');
      wrong.push(...(await wrongIn(place, [next])));
      await run(place, ['down']);
      rmSync(place, { recursive: true, force: true });
    }
  };
  await Promise.all(Array.from({ length: 2 }, worker));
  expect(wrong).toEqual([]);
}, 480_000);
