import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findProgram } from '../../stack/machine/find-program.ts';
import { runSvc } from './run-svc.ts';
import { withRunningPlatform } from './running-platform.ts';

const platform = withRunningPlatform();
let home = '';
beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), 'svc-completion-'));
  await platform.svc('server', 'add', 'demo-files', '--url', 'http://127.0.0.1:9/mcp');
  await platform.svc('server', 'add', 'other', '--url', 'http://127.0.0.1:9/mcp');
  await platform.svc('skill', 'create', 'reading');
  await platform.svc('role', 'create', 'Read only', '--skill', 'reading');
  await platform.svc('keys', 'create', '--name', 'laptop');
  for (const shell of ['bash', 'zsh', 'fish']) {
    writeFileSync(join(home, `svc.${shell}`), (await platform.svc('completion', shell)).stdout);
  }
}, 60_000);
afterAll(() => rmSync(home, { recursive: true, force: true }));

const hasBash = findProgram('bash', process.env.PATH) !== null;
const hasZsh = findProgram('zsh', process.env.PATH) !== null;
const hasFish = findProgram('fish', process.env.PATH) !== null;

function runShell(shell: string, args: readonly string[], script: string): readonly string[] {
  const env = { PATH: process.env.PATH ?? '', HOME: home, SVC_DIR: platform.dir() };
  const { stdout, stderr } = spawnSync(shell, [...args, script], { cwd: home, env, encoding: 'utf8', timeout: 20_000 });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

/** What a shell offers at the end of a line, without meanings. */
const shellsHere: readonly [string, boolean, (words: readonly string[]) => readonly string[]][] = [
  [
    'bash',
    hasBash,
    (words) => {
      const typed = words.map((word) => `'${word}'`).join(' ');
      const function_ = words[0] === 'npx' ? '_svc_npx' : '_svc';
      return runShell(
        'bash',
        ['--norc', '-c'],
        `source ${home}/svc.bash; COMP_WORDS=(${typed}); COMP_CWORD=${words.length - 1}; ${function_} 2>&1; printf '%s\\n' "\${COMPREPLY[@]}"`,
      );
    },
  ],
  [
    'zsh',
    hasZsh,
    (words) => {
      const typed = words.map((word) => `'${word}'`).join(' ');
      const function_ = words[0] === 'npx' ? '_svc_npx' : '_svc';
      return runShell(
        'zsh',
        ['-f', '-c'],
        `compdef() { : }; source ${home}/svc.zsh
         compadd() { print -rl -- "\${open[@]}" }
         _describe() { print -rl -- "\${(@)items%%:*}" }
         _files() { print -r -- "files $*" }
         words=(${typed}); CURRENT=${words.length}; ${function_}; true`,
      );
    },
  ],
  [
    'fish',
    hasFish,
    (words) => {
      const line = words.join(' ');
      const lines = runShell('fish', ['--no-config', '-c'], `source ${home}/svc.fish; complete -C'${line}'`);
      return lines.map((offered) => offered.split('\t')[0] ?? '');
    },
  ],
];

describe.each(shellsHere)('%s', (name, isHere, offer) => {
  test.skipIf(!isHere)('completes commands, flags, choices and real names', () => {
    expect(offer(['svc', 'serve'])).toEqual(['server']);
    expect(offer(['svc', 'server', 'sh'])).toEqual(['show']);
    expect(offer(['svc', 'server', 'show', ''])).toEqual(['demo-files', 'other']);
    expect(offer(['svc', 'server', 'show', 'de'])).toEqual(['demo-files']);
    expect(offer(['svc', 'servers', 'show', 'de'])).toEqual(['demo-files']);
    expect(offer(['svc', 'init', '--topo'])).toEqual(['--topology']);
    expect(offer(['svc', 'init', '--topology', 'e'])).toEqual(['embedded']);
    expect(offer(['svc', 'connect', '--skill', ''])).toEqual(['reading']);
    expect(offer(['svc', 'connect', '--workspace', 'D'])).toEqual(['Default']);
    expect(offer(['svc', 'keys', 'revoke', ''])).toEqual(['laptop']);
    expect(offer(['svc', 'skill', 'create', 'x', '--tool', 'de'])).toEqual(['demo-files/']);
    expect(offer(['svc', 'logs', 'remote'])).toEqual(['remote-mcp']);
    expect(offer(['svc', 'server', 'show', 'nosuch'])).toEqual([]);
  });

  test.skipIf(!isHere)('a name with a space is one word', () => {
    expect(offer(['svc', 'connect', '--role', 'Re'])).toEqual([name === 'bash' ? 'Read\\ only' : 'Read only']);
  });

  test.skipIf(!isHere)('completes npx svc', () => {
    expect(offer(['npx', 'svc', 'server', 'show', 'ot'])).toEqual(['other']);
  });

  test.skipIf(!isHere)('says nothing where no platform runs', () => {
    const dir = `--dir=${join(home, 'nothing')}`;
    expect(offer(['svc', 'server', 'show', dir, ''])).toEqual([]);
  });
});

test.skipIf(!hasBash)('bash splits a value at its sign, and gets the rest alone', () => {
  const [, , offer] = shellsHere[0] ?? expect.fail('bash is the first');
  expect(offer(['svc', 'init', '--topology', '=', 'e'])).toEqual(['embedded']);
});

test('names are of the workspace in use, unless another is named', async () => {
  await platform.svc('workspace', 'create', 'Acme');
  await platform.svc('workspace', 'use', 'Acme');
  const offered = async (...words: string[]) =>
    (await runSvc(['__complete', 'bash', ...words], { cwd: platform.dir() })).stdout.split('\n').slice(1, -1);
  expect(await offered('server', 'show', '')).toEqual([]);
  expect(await offered('server', 'show', '--workspace', 'Default', '')).toEqual(['demo-files', 'other']);
  await platform.svc('workspace', 'use', 'Default');
  expect(await offered('server', 'show', '')).toEqual(['demo-files', 'other']);
});

test('neither a missing platform nor a wrong word prints an error', async () => {
  for (const words of [
    ['bash', 'server', 'show', ''],
    ['bash'],
    [],
    ['bash', 'nosuch', ''],
    ['bash', 'server', 'show', '--dir', '/nosuch', ''],
  ]) {
    const { code, stderr, stdout } = await runSvc(['__complete', ...words], { cwd: home });
    expect([code, stderr, stdout.replace(/^words\n[\s\S]*/, '')]).toEqual([0, '', '']);
  }
});

test('an unknown shell is refused', async () => {
  const { code, stderr } = await platform.svc('completion', 'fishh');
  expect([code, stderr]).toEqual([2, 'Error: "fishh" is not a shell with completion.\nDid you mean "fish"?\n']);
});
