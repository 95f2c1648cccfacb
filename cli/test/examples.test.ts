import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import { hasNatsServer, Platform, type PlatformOptions } from '../../stack/test/platform.ts';
import { PersonShell } from './examples/shell.ts';
import { filesOfStory, type Line, stories } from './examples/stories.ts';
import { svcFile } from './run-svc.ts';

vi.setConfig({ testTimeout: 480_000 });

/** Each line of the story that is answered in another way than it says. */
async function mistold(story: readonly Line[], options: PlatformOptions, ...programs: string[]): Promise<unknown[]> {
  await using platform = await Platform.init(options);
  for (const [path, text] of Object.entries(filesOfStory)) {
    mkdirSync(join(platform.folder, dirname(path)), { recursive: true });
    writeFileSync(join(platform.folder, path), text);
  }
  const shell = new PersonShell(platform.folder, programs);
  const wrong: unknown[] = [];
  for (const told of story) {
    const { code, stdout, stderr } = await shell.run(told);
    const { line, says, code: expected = 0 } = told;
    const isRefusal = told.because !== undefined && !stdout.startsWith('✗');
    const isAsTold = isRefusal ? `\n${stderr}`.includes(`\nError: ${says}`) : stdout.startsWith(says);
    if (code !== expected || !isAsTold) wrong.push({ line, code, stdout, stderr });
  }
  return wrong;
}

/** Names the installation, so that examples may type its name. */
const named = (name: string) => (yaml: string) => yaml.replace(/^name: .*$/m, `name: ${name}`);

describe('the examples of --help are answered as they are written', () => {
  test('in a platform of one process', async () => {
    expect(await mistold(stories.onePlatform, {})).toEqual([]);
  });

  test('with new folders, copies and archives', async () => {
    expect(await mistold(stories.folders, { settings: named('tools') })).toEqual([]);
  });
});

describe.skipIf(!hasNatsServer)('on a real server', () => {
  test('the examples of svc move and svc runtime are answered as they are written', async () => {
    expect(await mistold(stories.processes, {}, 'nats-server')).toEqual([]);
  });
});

test('every example of every command is a line of a story', () => {
  const manifest: { commands: Record<string, { examples: { command: string }[] }> } = JSON.parse(
    readFileSync(join(svcFile, '../../oclif.manifest.json'), 'utf8'),
  );
  const examples = Object.values(manifest.commands).flatMap((command) =>
    command.examples.map((example) => example.command.replaceAll('<%= config.bin %>', 'svc')),
  );
  const typed = new Set(Object.values(stories).flatMap((story) => story.map(({ line }) => line)));
  expect(examples.length).toBeGreaterThan(130);
  expect(examples.filter((example) => !typed.has(example))).toEqual([]);
});
