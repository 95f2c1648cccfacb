import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openTrial } from '../../stack/lifecycle/test/trial.ts';
import { runSvc } from './run-svc.ts';

let trial: Awaited<ReturnType<typeof openTrial>>;
const svc = (...args: string[]) => runSvc(args, { cwd: trial.installation.dir });

beforeAll(async () => {
  trial = await openTrial();
  const { code, stderr } = await svc('up');
  expect(stderr + code).toMatch(/0$/);
}, 120_000);
afterAll(() => trial[Symbol.asyncDispose](), 120_000);

const words = ['nothing unusual so far', 'the parrot is gone', 'it is an ex-parrot'];
const ending = `for (const line of ${JSON.stringify(words)}) console.error(line); process.exitCode = 3;`;

describe('an MCP server that ends at once', () => {
  test('has its last words told once by svc server add, with the cause and what to do', async () => {
    const run = await svc('server', 'add', 'ends', '--', process.execPath, '-e', ending);
    expect(run.code).toBe(1);
    for (const line of words) expect(run.stderr.split(line).length - 1, line).toBe(1);
    expect(run.stderr.match(/last words:/g)).toEqual(['last words:']);
    expect(run.stderr).toMatch(/Error: ends is Error: .* ended with exit code 3: it failed\.\n/);
    expect(run.stderr).toContain('svc server remove ends');
    expect(run.stdout).toBe('');
  });

  test('has them told once by svc server show', async () => {
    const { stdout } = await svc('server', 'show', 'ends');
    for (const line of words) expect(stdout.split(`  ${line}\n`).length - 1, line).toBe(1);
    expect(stdout.match(/last words:/g)).toEqual(['last words:']);
  });

  test('has them beside its reason for scripts, whole', async () => {
    const { stdout } = await svc('server', 'show', 'ends', '--json');
    const { reason, stderr }: { reason: { message: string }; stderr: string[] } = JSON.parse(stdout);
    expect(reason.message).toMatch(/exit code 3: it failed\.$/);
    expect(stderr).toEqual(words);
  });
});

test('a command keeps its words as they were typed, also where one stands twice', async () => {
  const args = ['-e', 'process.exitCode = 3', '-v', 'a:a', '-v', 'b:b', 'twice', process.execPath];
  await svc('server', 'add', 'twice', '--', process.execPath, ...args);
  const { stdout } = await svc('server', 'show', 'twice', '--json');
  expect(JSON.parse(stdout).launch).toMatchObject({ command: process.execPath, args });
});
