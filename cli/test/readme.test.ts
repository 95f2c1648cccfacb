import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { findOldNode } from './old-node.ts';
import { svcFile } from './run-svc.ts';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 120_000 });

const oldNode = findOldNode();
const repository = dirname(dirname(svcFile));
const section = /^## From a package, in an empty folder$(.*?)^## /ms.exec(
  readFileSync(join(repository, 'README.md'), 'utf8'),
)?.[1];
const blocks = [...(section ?? '').matchAll(/^```$(.*?)^```$/gms)].map(([, text = '']) => text.trim());
/** The lines of the README in order, without those for another program. */
const commands = blocks.flatMap((block) => block.split('\n')).filter((line) => !line.startsWith('claude '));

describe.skipIf(oldNode === null)('under the Node of this machine, which is too old', () => {
  let folder: string;
  let tarball: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-readme-'));
    const { stdout } = await run(`npm pack --ignore-scripts --pack-destination ${folder}`, repository);
    tarball = join(folder, stdout.trim().split('\n').at(-1) ?? '');
  });
  afterAll(async () => {
    await run('npx --no svc down', folder).catch(() => undefined);
    await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  });

  test('the commands of the README start a platform from the package, whose key an agent can use', async () => {
    expect(commands).toHaveLength(8);
    let key = '';
    const printed: string[] = [];
    for (const line of commands) {
      const command = line.replace(/^(npm install) svc-platform/, `$1 ${tarball}`).replace('SVA_…', key);
      const { code, stdout, stderr } = await run(command, folder);
      expect([line, code, code === 0 ? '' : stdout + stderr]).toEqual([line, 0, '']);
      key = /SVA_\w+/.exec(stdout)?.[0] ?? key;
      printed.push(stdout + stderr);
    }
    expect(key).not.toBe('');
    const { stdout } = await run('npx svc status --json', folder);
    const status = JSON.parse(stdout);
    expect([status.state, status.mcpServers.length > 1]).toEqual(['running', true]);
    // npm warns that the machine's own Node is too old, as the README says, and the folder's Node runs svc.
    expect(printed[0]).toContain('EBADENGINE');
    expect((await run('node --version', folder)).stdout).toMatch(/^v2[0-3]\./);
    expect((await run('npx svc down', folder)).code).toBe(0);
  });

  /** Like a person's shell: the repository's Node is not on the PATH. */
  function run(command: string, cwd: string): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const settings = Object.entries(process.env).filter(([name]) =>
      /^(npm_config_(registry|cache)|HOME|.*_proxy)$/i.test(name),
    );
    const env = { ...Object.fromEntries(settings), PATH: [oldNode, '/usr/bin', '/bin'].join(delimiter), NO_COLOR: '1' };
    const child = spawn('sh', ['-c', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let [stdout, stderr] = ['', ''];
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    return new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (code) => resolve({ code, stdout, stderr }));
    });
  }
});
