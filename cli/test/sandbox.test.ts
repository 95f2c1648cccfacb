import { chmodSync, cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { canSandbox, dockerSocket, pathOfBwrap } from '../../services/runtime/test/sandboxed.ts';
import { openTrial } from '../../stack/operations/test/trial.ts';
import { editDefinition } from '../../stack/test/edit-definition.ts';
import { runSvc } from './run-svc.ts';

vi.setConfig({ testTimeout: 120_000 });

/** A separate folder outside of any installation. */
async function openProject() {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'svc-project-')));
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true, force: true }) };
}

const stdio = join(import.meta.dirname, '../../services/runtime/test/children/stdio.mjs');

/** Writes the visible files of the installation into its working directory. */
const peeking = `
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { serve } from './stdio.mjs';

const [installation] = process.argv.slice(2);
const tried = async (work) => Promise.try(work).catch(({ code }) => code);
const read = (file) => tried(() => readFileSync(installation + file, 'utf8').slice(0, 10));
const seen = {
  secret: await read('/secrets/system-runtime.key'),
  definition: await read('/svc.yaml'),
  data: await tried(() => readdirSync(installation + '/data').join(' ')),
  state: await tried(() => readdirSync(installation + '/state').join(' ')),
};
writeFileSync('seen.json', JSON.stringify(seen));
serve();
`;

describe('runtime.sandbox', () => {
  test('the allowed values are listed with the place of the setting', async () => {
    await using trial = await openTrial();
    editDefinition(trial.installation, 'sandbox: auto', 'sandbox: docker');
    const { code, stderr } = await runSvc(['config', 'check'], { cwd: trial.installation.dir });
    expect(stderr).toMatch(
      /svc\.yaml:\d+:\d+.*runtime\.sandbox must be one of auto, bwrap, container, none-for-everybody, not "docker"/s,
    );
    expect(code).toBe(2);
  });

  test('none of an older file is read as auto, which up and config check say', async () => {
    await using trial = await openTrial();
    const { dir } = trial.installation;
    editDefinition(trial.installation, 'sandbox: auto', 'sandbox: none');
    for (const args of [['config', 'check'], ['up']]) {
      const { code, stderr } = await runSvc(args, { cwd: dir });
      const told = stderr.match(/runtime\.sandbox: none \(MCP_SERVER_SANDBOX\) is read as auto/g);
      expect({ code, told: told?.length }).toEqual({ code: 0, told: 1 });
    }
  });

  test('auto without bwrap: config check explains members’ commands, and up starts', async () => {
    await using trial = await openTrial();
    const { dir } = trial.installation;
    const bin = join(dir, 'bin');
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, 'node'));
    const check = await runSvc(['config', 'check'], { cwd: dir, env: { PATH: bin } });
    expect(check.stderr).toContain('A command that a member sets needs bwrap, which is not on PATH.');
    expect(check.stderr).toContain("Members' commands are refused here. Operators' commands run.");
    expect(check.code).toBe(0);
    const up = await runSvc(['up'], { cwd: dir, env: { PATH: bin } });
    expect(up.code, up.stderr).toBe(0);
  });

  test('container without a Docker is refused by config check and by up', async () => {
    await using trial = await openTrial();
    const { dir } = trial.installation;
    editDefinition(trial.installation, 'sandbox: auto', 'sandbox: container');
    const socket = join(dir, 'none.sock');
    editDefinition(trial.installation, 'dockerSocket: /var/run/docker.sock', `dockerSocket: ${socket}`);
    for (const args of [['config', 'check'], ['up']]) {
      const { code, stderr } = await runSvc(args, { cwd: dir });
      expect(stderr).toContain(`Docker is not running: there is no socket "${socket}" (runtime.dockerSocket).`);
      expect(stderr).toContain('systemctl start docker');
      expect(code).toBe(4);
    }
  });

  test.runIf(dockerSocket !== null)('in a container, an image that cannot be fetched is refused by up', async () => {
    await using trial = await openTrial();
    const { dir } = trial.installation;
    editDefinition(trial.installation, 'sandbox: auto', 'sandbox: container');
    editDefinition(trial.installation, 'dockerSocket: /var/run/docker.sock', `dockerSocket: ${dockerSocket}`);
    editDefinition(trial.installation, 'base: node:24.21.0-bookworm-slim', 'base: localhost:1/no-such-image:1.0.0');
    const check = await runSvc(['config', 'check'], { cwd: dir });
    expect(check.stderr).toContain('The image "localhost:1/no-such-image:1.0.0" is missing: svc up pulls it.');
    expect(check.code).toBe(0);
    const { code, stderr } = await runSvc(['up'], { cwd: dir });
    expect(stderr).toContain('The image "localhost:1/no-such-image:1.0.0" is missing and could not be pulled');
    expect(stderr).toContain('images.base in svc.yaml');
    expect(code).toBe(4);
  });

  test('bwrap without the program is refused by config check and by up', async () => {
    await using trial = await openTrial();
    const { dir } = trial.installation;
    editDefinition(trial.installation, 'sandbox: auto', 'sandbox: bwrap');
    const bin = join(dir, 'bin');
    mkdirSync(bin);
    symlinkSync(process.execPath, join(bin, 'node'));
    for (const args of [['config', 'check'], ['up']]) {
      const { code, stderr } = await runSvc(args, { cwd: dir, env: { PATH: bin } });
      expect(stderr).toContain('runtime.sandbox: bwrap needs bwrap, which is not on PATH.');
      expect(stderr).toContain('the package bubblewrap');
      expect(code).toBe(4);
    }
  });

  test.runIf(canSandbox)('bwrap that cannot make namespaces is refused, with reason and repair', async () => {
    await using trial = await openTrial();
    const { dir } = trial.installation;
    editDefinition(trial.installation, 'sandbox: auto', 'sandbox: bwrap');
    const bin = join(dir, 'bin');
    mkdirSync(bin);
    // The real bwrap, as a user on a system without further user namespaces.
    const limited = `echo 1 > /proc/sys/user/max_user_namespaces; exec unshare -U --map-user=1000 --map-group=1000 ${pathOfBwrap} "$@"`;
    writeFileSync(join(bin, 'bwrap'), `#!/bin/sh\nexec unshare -Ur sh -c '${limited}' sh "$@"\n`);
    chmodSync(join(bin, 'bwrap'), 0o755);
    const env = { PATH: `${bin}:${process.env.PATH}` };
    const { code, stderr } = await runSvc(['config', 'check'], { cwd: dir, env });
    expect(stderr).toMatch(
      /runtime\.sandbox: bwrap does not work on this machine: the system has reached its limit of namespaces/,
    );
    expect(stderr).toContain('user.max_user_namespaces');
    expect(code).toBe(4);
  });

  test.for([
    {
      sandbox: 'bwrap',
      isThere: canSandbox,
      seen: { secret: 'ENOENT', definition: 'EACCES', data: 'runtime', state: '' },
    },
    {
      sandbox: 'container',
      isThere: dockerSocket !== null,
      seen: { secret: 'ENOENT', definition: '', data: 'runtime', state: '' },
    },
  ])(
    'in a sandbox of $sandbox, an MCP server that may read around the installation sees nothing of it, which status says',
    async ({ sandbox, isThere, seen }, { skip }) => {
      skip(!isThere);
      await using trial = await openTrial();
      const { dir } = trial.installation;
      const svc = (...args: string[]) => runSvc(args, { cwd: dir });
      await using project = await openProject();
      const { folder } = project;
      writeFileSync(join(folder, 'peeks.mjs'), peeking);
      cpSync(stdio, join(folder, 'stdio.mjs'));
      const peek = async () => {
        const up = await svc('up');
        expect(up.stderr + up.code).toMatch(/0$/);
        const added = await svc('server', 'add', 'peeks', '--cwd', folder, '--', 'node', 'peeks.mjs', dir);
        expect(added.stderr + added.code).toMatch(/0$/);
        const status = JSON.parse((await svc('status', '--json')).stdout);
        const told = (await svc('status')).stdout;
        const removed = await svc('server', 'remove', 'peeks');
        expect(removed.stderr + removed.code).toMatch(/0$/);
        return { seen: JSON.parse(readFileSync(join(folder, 'seen.json'), 'utf8')), status, told };
      };
      const openly = await peek();
      expect(openly.seen).toMatchObject({
        secret: expect.stringMatching(/^SYK_/),
        definition: expect.stringMatching(/^#/),
      });
      expect(openly.seen).toMatchObject({
        data: expect.stringContaining('runtime'),
        state: expect.stringMatching(/\w/),
      });
      expect(openly.status).toMatchObject({
        mcpServers: [{ sandboxes: ['none'] }],
        runtimes: [{ sandboxes: ['auto'] }],
      });
      expect(openly.told).toMatch(/^peeks .*none$/m);

      editDefinition(trial.installation, 'sandbox: auto', `sandbox: ${sandbox}`);
      editDefinition(trial.installation, 'allowedPaths: []', `allowedPaths: [${dir}]`);
      if (dockerSocket !== null) {
        editDefinition(trial.installation, 'dockerSocket: /var/run/docker.sock', `dockerSocket: ${dockerSocket}`);
      }
      const check = await svc('config', 'check');
      expect(check.stderr + check.code).toBe('0');
      const sandboxed = await peek();
      expect(sandboxed.seen).toEqual(seen);
      expect(sandboxed.status).toMatchObject({
        mcpServers: [{ sandboxes: [sandbox] }],
        runtimes: [{ sandboxes: [sandbox] }],
      });
      expect(sandboxed.told).toMatch(new RegExp(`^peeks .*${sandbox}$`, 'm'));
      const list = JSON.parse((await svc('runtime', 'list', '--json')).stdout);
      expect(list.runtimes).toMatchObject([{ sandboxes: [sandbox] }]);
    },
  );
});
