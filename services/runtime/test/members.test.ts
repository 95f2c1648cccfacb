import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import type { Launch } from '../../contracts/bus/messages.ts';
import type { Author } from '../../contracts/sandbox.ts';
import { Platform, type Reported, script } from './platform.ts';
import { canSandbox, confining } from './sandboxed.ts';

vi.setConfig({ testTimeout: 60_000 });

type Child = Extract<Launch, { kind: 'child' }>;

const isOver = ({ status }: Reported) => status === 'Error';

/** A secret of the machine, and folders around it. */
async function openGrounds() {
  const dir = await realpath(await mkdtemp(path.join(tmpdir(), 'svc-members-')));
  const at = (...names: string[]) => path.join(dir, ...names);
  for (const folder of ['shared/project/deep', 'shared/other', 'private']) await mkdir(at(folder), { recursive: true });
  await writeFile(at('private/secret'), 'a secret of the machine');
  return { dir, at, [Symbol.asyncDispose]: () => rm(dir, { recursive: true, force: true }) };
}

async function letGo(platform: Platform, name: string): Promise<void> {
  platform.assign({});
  await platform.until(() => (platform.isReported(platform.idOf(name)) ? null : true));
}

async function readBy(platform: Platform, setBy: Author, file: string): Promise<string> {
  platform.assign({ one: script('curious') }, setBy);
  await platform.connected('one');
  const [read] = JSON.parse(await platform.say('one', { tries: [['read', file]] }));
  await letGo(platform, 'one');
  return read;
}

describe.runIf(canSandbox)("a member's command", () => {
  test.each([
    ['without a setting', {}],
    ['with the older name of no sandbox', { MCP_SERVER_SANDBOX: 'none' }],
  ])("%s runs in a sandbox, and an operator's does not", async (_name, env) => {
    await using grounds = await openGrounds();
    await using platform = await Platform.open();
    await platform.startRuntime({ ...confining, ...env });
    const secret = grounds.at('private/secret');
    expect(await readBy(platform, 'operator', secret)).toBe('a secret of the machine');
    expect(await readBy(platform, 'member', secret)).toBe('ENOENT');
    expect(await readBy(platform, 'operator', secret)).toBe('a secret of the machine');
    const warned = platform.logged.filter((line) => line.includes('is read as auto'));
    expect(warned).toHaveLength('MCP_SERVER_SANDBOX' in env ? 1 : 0);
  });

  test('with none-for-everybody runs as an operator’s', async () => {
    await using grounds = await openGrounds();
    await using platform = await Platform.open();
    await platform.startRuntime({ MCP_SERVER_SANDBOX: 'none-for-everybody' });
    expect(await readBy(platform, 'member', grounds.at('private/secret'))).toBe('a secret of the machine');
  });

  test('keeps its own home, which an operator’s command does not see', async () => {
    await using platform = await Platform.open();
    await platform.startRuntime(confining);
    const list = async (setBy: Author) => {
      platform.assign({ one: script('curious') }, setBy);
      await platform.connected('one');
      const homeOf = { operator: 'homes', member: 'member-homes' };
      const home = path.join(platform.workingDir, homeOf[setBy], platform.idOf('one'));
      const tries = [
        ['write', path.join(home, `planted-by-${setBy}`)],
        ['list', home],
      ];
      const said = JSON.parse(await platform.say('one', { tries }));
      await letGo(platform, 'one');
      return said;
    };
    expect(await list('member')).toEqual(['done', 'planted-by-member']);
    expect(await list('operator')).toEqual(['done', 'planted-by-operator']);
  });

  test('works only below folders that are named for members', async () => {
    await using grounds = await openGrounds();
    await using platform = await Platform.open();
    const { at } = grounds;
    await symlink(at('private'), at('shared/project/way-out'));
    await platform.startRuntime({ ...confining, MCP_SERVER_MEMBER_FOLDERS: `${at('shared')}:${at('missing')}` });
    const rows = [
      [at('private'), 'folder_not_named'],
      [at('shared'), 'folder_not_named'],
      [`${at('shared')}/project/../../private`, 'folder_not_named'],
      [at('shared/project/way-out'), 'folder_not_named'],
      [at('shared/project'), null],
      [at('shared/project/deep'), null],
    ] as const;
    for (const [cwd, code] of rows) {
      platform.assign({ one: { ...script('curious'), cwd } }, 'member');
      const mine = ({ status, reason }: Reported) => status === 'Connected' || reason?.code === code;
      const { reason } = await platform.reported('one', mine);
      expect([cwd, reason?.code ?? null]).toEqual([cwd, code]);
      if (code !== null) {
        expect(reason?.message).toContain(
          'of "one" is refused. A member set it, and it is not below a folder of runtime.memberFolders.',
        );
        expect(reason?.repair).toContain('runtime.memberFolders');
      }
      await letGo(platform, 'one');
    }
    // An operator's folder may be anywhere.
    platform.assign({ one: { ...script('curious'), cwd: at('private') } }, 'operator');
    await platform.connected('one');
  });

  test('gets the direct subfolder of a named folder, so that no other sandbox can replace it', async () => {
    await using grounds = await openGrounds();
    await using platform = await Platform.open();
    const { at } = grounds;
    await platform.startRuntime({ ...confining, MCP_SERVER_MEMBER_FOLDERS: `${at('shared')}:${at('shared/project')}` });
    platform.assign({ one: { ...script('curious'), cwd: at('shared/project/deep') } }, 'member');
    await platform.connected('one');
    const tries = [
      ['write', 'here'],
      ['write', at('shared/project/beside')],
      ['rename', at('shared/project')],
      ['write', at('shared/other/planted')],
      ['list', at('shared')],
    ];
    expect(JSON.parse(await platform.say('one', { tries }))).toEqual(['done', 'done', 'EBUSY', 'ENOENT', 'project']);
  });

  test.each<[string, (at: (...names: string[]) => string) => Partial<Child>]>([
    ['a library to preload', (at) => ({ env: { LD_PRELOAD: at('shared/project/evil.so') } })],
    ['another PATH', (at) => ({ env: { PATH: `${at('shared/project')}:/usr/bin:/bin` } })],
    ['options of Node', (at) => ({ env: { NODE_OPTIONS: `--require ${at('shared/project/evil.cjs')}` } })],
    [
      'a file for shells',
      (at) => ({ command: 'bash', args: ['-c', 'exit 3'], env: { BASH_ENV: at('shared/project/bwrap') } }),
    ],
    ['another home', (at) => ({ env: { HOME: at('private'), TMPDIR: at('private') } })],
    ['the mark of another MCP server', () => ({ env: { SVC_MCP_SERVER_INSTANCE: 'ofanother' } })],
  ])('runs nothing outside by %s', async (_name, change) => {
    await using grounds = await openGrounds();
    await using platform = await Platform.open();
    const { at } = grounds;
    const proof = at('private/proof');
    await writeFile(at('shared/project/bwrap'), `#!/bin/sh\necho outside > ${proof}\n`, { mode: 0o755 });
    await writeFile(at('shared/project/evil.cjs'), `require('fs').writeFileSync('${proof}', 'outside')`);
    await writeFile(at('shared/project/evil.so'), 'no library');
    platform.assign({ one: { ...script('curious'), cwd: at('shared/project'), ...change(at) } }, 'member');
    await platform.startRuntime({ ...confining, MCP_SERVER_MEMBER_FOLDERS: at('shared') });
    await platform.reported('one', ({ status }) => status !== 'Disconnected');
    expect(existsSync(proof)).toBe(false);
  });

  test('reveals no other part of the machine through the path of its command', async () => {
    await using grounds = await openGrounds();
    await using platform = await Platform.open();
    const { at } = grounds;
    await mkdir(at('private/venv/bin'), { recursive: true });
    await writeFile(at('private/venv/pyvenv.cfg'), '');
    await writeFile(at('private/venv/kept'), 'a secret beside a command');
    const command = at('private/venv/bin/run');
    await writeFile(command, `#!/bin/sh\ncat ${at('private/venv/kept')} >&2\n`, { mode: 0o755 });
    await platform.startRuntime(confining);
    platform.assign({ one: { ...script('curious'), command, args: [] } }, 'member');
    const { reason, stderr } = await platform.reported('one', isOver);
    expect({ code: reason?.code, stderr: stderr.join('') }).toEqual({
      code: 'not_in_sandbox',
      stderr: expect.not.stringContaining('a secret'),
    });
  });
});

test("a member's command is refused by name without a sandbox, and an operator’s runs", async () => {
  await using grounds = await openGrounds();
  await using platform = await Platform.open();
  await platform.startRuntime({ PATH: grounds.dir });
  platform.assign({ files: script('curious') }, 'member');
  const { reason } = await platform.reported('files', isOver);
  expect(reason).toMatchObject({
    code: 'sandbox_unavailable',
    message: expect.stringMatching(
      /^"files" was not started: it needs a sandbox, .*the program bwrap is not on PATH.* A member of the workspace set its command\.$/,
    ),
    repair: expect.stringMatching(/bubblewrap.*engine: docker.*none-for-everybody.*svc apply/s),
  });
  await letGo(platform, 'files');
  platform.assign({ files: script('curious') }, 'operator');
  await platform.connected('files');
});
