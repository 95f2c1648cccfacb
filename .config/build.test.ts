import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Metafile } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundle } from './bundle/bundle.ts';
import { commandManifest } from './bundle/manifest.ts';

const here = dirname(fileURLToPath(import.meta.url));
const repository = join(here, '..');

describe('a generated tree', () => {
  const root = mkdtempSync(join(tmpdir(), 'svc-build-'));
  const elsewhere = mkdtempSync(join(tmpdir(), 'svc-install-'));
  const greet = `
    import { Command } from '@oclif/core/command';
    import * as Flags from '@oclif/core/flags';
    export default class Greet extends Command {
      static override summary = 'Say hello.';
      static override flags = { name: Flags.string({ required: true }) };
      async run(): Promise<void> { const { flags } = await this.parse(Greet); this.log('hello ' + flags.name); }
    }`;

  beforeAll(() => {
    symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
    cpSync(join(repository, 'package.json'), join(root, 'package.json'));
    write('cli/commands/greet.ts', greet);
    write('cli/commands/topic/again.ts', greet.replace(`'hello '`, `'hello again '`));
    write(
      'cli/main.ts',
      `import { run } from '@oclif/core/run';
       import { settings } from '@oclif/core/settings';
       settings.enableAutoTranspile = false;
       await run(process.argv.slice(2), { root: process.env.ROOT ?? '' });`,
    );
    write(
      'services/a/main.ts',
      `import { readFileSync } from 'node:fs';
       import { Worker } from 'node:worker_threads';
       import { pino } from 'pino';
       import { manifest, word } from './deep/word.ts';
       console.log(JSON.parse(readFileSync(manifest, 'utf8')).name);
       pino({ base: null, timestamp: false }, pino.destination({ dest: 1, sync: true })).info(readFileSync(word, 'utf8'));
       new Worker(new URL('./deep/add.worker.ts', import.meta.url), { workerData: 41 }).on('message', (sum) => console.log(sum));`,
    );
    write(
      'services/a/deep/word.ts',
      `export const word = new URL('./word.txt', import.meta.url);
       export const manifest = new URL('../../../package.json', import.meta.url);`,
    );
    write('services/a/deep/word.txt', 'data beside the code');
    write(
      'services/a/deep/add.worker.ts',
      `import { parentPort, workerData } from 'node:worker_threads'; parentPort?.postMessage(Number(workerData) + 1);`,
    );
    write('services/a/main.test.ts', `throw new Error('a test was bundled');`);
    expect(build()).toMatchObject({ status: 0, stderr: expect.stringContaining('Built') });
    for (const path of ['dist', 'package.json', 'oclif.manifest.json'])
      cpSync(join(root, path), join(elsewhere, path), { recursive: true });
  });

  afterAll(() => {
    for (const folder of [root, elsewhere]) rmSync(folder, { recursive: true, force: true });
  });

  test('runs without installed packages, and finds its workers and its data', () => {
    const output = execFileSync(process.execPath, [join(elsewhere, 'dist/services/a/main.js')], { encoding: 'utf8' });
    expect(output).toBe('svc-platform\n{"level":30,"msg":"data beside the code"}\n42\n');
  });

  test('runs a command by its manifest', () => {
    const command = [join(elsewhere, 'dist/cli/main.js'), 'topic', 'again', '--name', 'you'];
    const output = execFileSync(process.execPath, command, {
      encoding: 'utf8',
      env: { ...process.env, ROOT: elsewhere },
    });
    expect(output).toBe('hello again you\n');
    const manifest = JSON.parse(readFileSync(join(elsewhere, 'oclif.manifest.json'), 'utf8'));
    expect(Object.keys(manifest.commands)).toEqual(['greet', 'topic:again']);
    expect(manifest.commands.greet.flags.name).toMatchObject({ type: 'option', required: true });
  });

  test('names the licences of its contents, and no others', () => {
    const licences = readFileSync(join(elsewhere, 'dist/licenses.txt'), 'utf8');
    const named = [...licences.matchAll(/^(.+) \d+\.\d+\.\d+\n=+\n\nLicence: /gm)].map(([, name]) => name);
    expect(named).toEqual(expect.arrayContaining(['@oclif/core', 'pino', 'sonic-boom']));
    expect(named.filter((name) => ['fastify', 'esbuild', 'typescript'].includes(name ?? ''))).toEqual([]);
  });

  test('without pages has none', () => {
    expect(existsSync(join(root, 'dist/services/frontend'))).toBe(false);
  });

  test('is rebuilt only when a source changed or an output is missing, and drops outputs without a source', () => {
    expect(build('--if-changed').stderr).toBe('');
    rmSync(join(root, 'dist/cli/main.js'));
    expect(build('--if-changed').stderr).toContain('Built');
    rmSync(join(root, 'cli/commands/greet.ts'));
    expect(build('--if-changed').stderr).toContain('Built');
    expect(existsSync(join(root, 'dist/cli/commands/greet.js'))).toBe(false);
    expect(readFileSync(join(root, 'oclif.manifest.json'), 'utf8')).not.toContain('"greet"');
  });

  test('is refused if a module names a worker that the build does not contain', () => {
    write('services/b/main.ts', `console.log(new URL('./missing.worker.ts', import.meta.url));`);
    expect(build()).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('"./missing.worker.ts" in services/b/main.ts'),
    });
  });

  function write(path: string, text: string): void {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }

  function build(...args: string[]) {
    return spawnSync(process.execPath, [join(here, 'build.ts'), '--root', root, ...args], { encoding: 'utf8' });
  }
});

describe('dist/ of this repository', () => {
  test('matches the sources, and so does the manifest of the commands', async () => {
    const { modules } = await bundle(repository);
    for (const [path, text] of modules) {
      expect(
        readFileSync(join(repository, 'dist', path), 'utf8') === text,
        `dist/${path} is current (npm run build)`,
      ).toBe(true);
    }
    expect(await commandManifest(repository)).toBe(readFileSync(join(repository, 'oclif.manifest.json'), 'utf8'));
  });

  test('holds the pages of the frontend and the licences of their packages', () => {
    const pages = join(repository, 'dist/services/frontend/page');
    const [, script = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(readFileSync(join(pages, 'index.html'), 'utf8')) ?? [];
    for (const ending of ['', '.br', '.gz']) expect(existsSync(join(pages, script + ending)), ending).toBe(true);
    const licences = readFileSync(join(repository, 'dist/licenses.txt'), 'utf8');
    for (const name of ['react-dom', '@fontsource-variable/inter', '@radix-ui/colors']) {
      expect(licences).toMatch(new RegExp(`^${name} \\d`, 'm'));
    }
  });

  test('loads no clients of other engines into a platform of one process, and at most 4.9 MB of text', async () => {
    const { metafile, modules } = await bundle(repository);
    const starts = ['backend', 'remote-mcp', 'runtime', 'frontend', 'kit/bus'].map(
      (part) => `services/${part}/start.ts`,
    );
    const files = loadedWith(metafile, ['stack/engines/process/main.ts', ...starts]);
    const packages = new Set(
      files.flatMap((file) => Object.keys(metafile.outputs[file]?.inputs ?? {})).map((path) => packageOf(path)),
    );
    const expected = ['fastify', 'graphql', 'yaml', 'zod'];
    expect([...packages]).toEqual(expect.arrayContaining(expected));
    expect([...packages].filter((name) => loadedOnFirstUse.test(name))).toEqual([]);
    const texts = files.map((file) => modules.get(relative('dist', file)) ?? '');
    expect(texts.reduce((sum, text) => sum + text.length, 0)).toBeLessThanOrEqual(4_900_000);
  });

  test('has only ASCII in its modules, because Node holds other text with two bytes a character', async () => {
    const { modules } = await bundle(repository);
    const wide = [...modules].filter(([, text]) => Buffer.byteLength(text) !== text.length).map(([path]) => path);
    expect(wide).toEqual([]);
  });

  test('is published without dependencies, install scripts or foreign files, with each file once, in at most 10 MB', () => {
    const packed = execFileSync('npm', ['pack', '--dry-run', '--json', '--ignore-scripts', '--loglevel=error'], {
      cwd: repository,
      encoding: 'utf8',
    });
    const [tarball] = JSON.parse(packed) as [{ size: number; files: { path: string }[] }];
    expect(tarball.size).toBeLessThanOrEqual(10_000_000);
    const paths = tarball.files.map((file) => file.path);
    expect(paths).toEqual(
      expect.arrayContaining([
        'package.json',
        'oclif.manifest.json',
        'dist/svc.cjs',
        'dist/licenses.txt',
        'dist/schemas/apply.schema.json',
        'README.md',
        'docs/growing.md',
        ...filesIn(join(repository, 'templates')).map((file) => join('dist/templates', file)),
      ]),
    );
    expect(
      paths.filter((path) => !/^dist\/|^docs\/.+\.md$|^(package\.json|oclif\.manifest\.json|README\.md)$/.test(path)),
    ).toEqual([]);
    const byContent = Map.groupBy(paths, (path) =>
      createHash('sha256')
        .update(readFileSync(join(repository, path)))
        .digest('hex'),
    );
    expect([...byContent.values()].filter((same) => same.length > 1)).toEqual([]);
    const manifest = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
    expect(manifest.dependencies ?? {}).toEqual({});
    expect(Object.keys(manifest.scripts).filter((name) => /^(pre|post)?(install|prepare)$/.test(name))).toEqual([]);
  });
});

/** What an idle platform of one process does not use: other engines, mail, sign-in by agents and by passkeys, schemas of fastify. */
const loadedOnFirstUse =
  /^(@nats-io\/(?!nkeys).+|dgraph-js|@grpc\/.+|dockerode|nodemailer|oidc-provider|@simplewebauthn\/.+|age-encryption|@fastify\/.+-compiler|ajv|light-my-request)$/;

/** These files of dist/ and all that they import statically. */
function loadedWith({ outputs }: Metafile, sources: readonly string[]): string[] {
  const ofSource = new Map(Object.entries(outputs).map(([file, { entryPoint }]) => [entryPoint, file]));
  const loaded = new Set<string>();
  const load = (file: string) => {
    if (loaded.has(file)) return;
    loaded.add(file);
    for (const { kind, path } of outputs[file]?.imports ?? []) if (kind === 'import-statement') load(path);
  };
  for (const source of sources) load(ofSource.get(source) ?? `no file of ${source}`);
  return [...loaded].filter((file) => Object.hasOwn(outputs, file));
}

function packageOf(path: string): string {
  return /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? '';
}

/** The build copies only the templates that the code names in full, so that one may be missing. */
function filesIn(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)));
}
