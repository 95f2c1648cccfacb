import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { connectToBackend } from '../../stack/client/backend-client.ts';
import { installationIn } from '../../stack/state/installation.ts';
import type { Run } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

const { dir, svc } = withRunningPlatform();

const answer = z.object({ registerRuntime: z.object({ runtime: z.object({ id: z.string() }) }) });
const found = z.object({ workspace: z.object({ id: z.string() }) });
let edge = '';
let added: Run;

beforeAll(async () => {
  const backend = await connectToBackend(installationIn(dir()));
  const { workspace } = found.parse(await backend.send({ text: '{ workspace(name: "Default") { id } }' }, {}));
  const text = 'mutation ($w: ID!) { registerRuntime(workspace: $w, name: "edge") { runtime { id } } }';
  const { registerRuntime } = answer.parse(await backend.send({ text }, { w: workspace.id }));
  edge = registerRuntime.runtime.id;
  added = await svc('server', 'add', 'files', '--runtime', 'edge', '--', 'true');
});

describe('svc runtime register', () => {
  test('registers nothing if the bus is unreachable from outside, with the repair', async () => {
    const run = await svc('runtime', 'register', 'lab', '--out', 'lab.env');
    expect(run.stderr).toBe(
      'Error: Other machines cannot reach the bus of this installation: with topology embedded it runs inside one process. Nothing was registered.\n' +
        'Runtimes on other machines need NATS. Move the installation to it, with all data: svc move --to distributed\n',
    );
    expect([run.stdout, run.code]).toEqual(['', 2]);
    expect(existsSync(join(dir(), 'lab.env'))).toBe(false);
    expect((await svc('runtime', 'list')).stdout).not.toMatch(/^lab/m);
  });
});

describe('svc runtime list', () => {
  test("lists the workspace's runtimes and the platform's, with their MCP servers", async () => {
    const { stdout } = await svc('runtime', 'list');
    expect(stdout).toMatch(/^NAME +OF +STATE +LAST HEARTBEAT +VERSION +SANDBOX +MCP SERVERS +ID$/m);
    expect(stdout).toMatch(/^edge +Default +unavailable +never +– +– +files +run_/m);
    expect(stdout).toMatch(/^cloud +the platform's +available +\d+ s ago +\d+\.\d+\.\d+ +auto +– +run_/m);
  });

  test('is part of the JSON', async () => {
    const { runtimes } = JSON.parse((await svc('runtime', 'list', '--json')).stdout);
    expect(runtimes).toContainEqual({
      ...{ id: edge, name: 'edge', platform: false, available: false, lastHeartbeatAt: null },
      ...{ versions: [], sandboxes: [], mcpServers: ['files'] },
    });
    expect(runtimes).toContainEqual(
      expect.objectContaining({ name: 'cloud', available: true, lastHeartbeatAt: expect.stringMatching(/^20.*Z$/) }),
    );
  });
});

describe('an MCP server of a missing runtime', () => {
  test('names the runtime that it waits for', async () => {
    const { stdout } = await svc('server', 'show', 'files');
    expect(stdout).toMatch(/^runtime +edge$/m);
    expect(stdout).toContain('Its runtime "edge" is not connected.');
    expect((await svc('server', 'list')).stdout).toMatch(/^files +Disconnected +down +0 +edge$/m);
  });

  test('is added nevertheless, with a notice of the runtime that it waits for', () => {
    expect(added.stdout).toBe(
      'Added files. Its runtime edge is not connected. The MCP server starts when the runtime connects.\n',
    );
    expect(added.code).toBe(0);
  });

  test('gets a folder of this machine only if the command names one', async () => {
    const cwdOf = async (name: string) => JSON.parse((await svc('server', 'show', name, '--json')).stdout).launch.cwd;
    await svc('server', 'add', 'placed', '--runtime', 'edge', '--cwd', '/srv/there', '--', 'true');
    expect([await cwdOf('files'), await cwdOf('placed')]).toEqual([null, '/srv/there']);
    await svc('server', 'remove', 'placed');
  });

  test('is not bound to a mistyped runtime', async () => {
    const run = await svc('server', 'add', 'more', '--runtime', 'egde', '--', 'true');
    expect(run.stderr).toBe('Error: There is no runtime "egde".\nDid you mean "edge"?\n');
    expect(run.code).toBe(1);
  });
});

describe('svc runtime revoke', () => {
  test.each([
    ['that is not there', ['revoke', 'egde', '--yes'], 1, 'There is no runtime "egde".\nDid you mean "edge"?\n'],
    ["that is the platform's own", ['revoke', 'cloud', '--yes'], 3, `The runtime "cloud" is the platform's own`],
    [
      'without a word of consent',
      ['revoke', 'edge'],
      2,
      'Revoking "edge" must be confirmed. Agents lose its MCP servers: files.\n',
    ],
  ])('refuses one %s', async (_what, typed, code, told) => {
    const run = await svc('runtime', ...typed);
    expect(run.stderr).toContain(told);
    expect([run.stdout, run.code]).toEqual(['', code]);
  });

  test('removes it, and names the MCP servers that agents lose', async () => {
    const run = await svc('runtime', 'revoke', 'edge', '--yes');
    expect([run.stdout, run.code]).toEqual(['Revoked edge. Agents lose its MCP servers: files.\n', 0]);
    expect((await svc('runtime', 'list')).stdout).not.toMatch(/^edge/m);
    expect((await svc('server', 'show', 'files')).stdout).toContain('Its runtime "edge" was revoked.');
  });
});
