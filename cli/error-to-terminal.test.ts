import { PassThrough } from 'node:stream';
import { input } from '@inquirer/prompts';
import { expect, test } from 'vitest';
import { errorToTerminal } from './error-to-terminal.ts';
import { openTerminal } from './output/terminal.ts';

test('Ctrl-C at a prompt shows in the exit code alone', async () => {
  const keyboard = new PassThrough();
  const asked = input({ message: 'E-mail address' }, { input: keyboard, output: new PassThrough() });
  keyboard.write('\u0003');
  const thrown = await asked.then(
    () => expect.unreachable('The prompt was answered.'),
    (error: unknown) => error,
  );
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const terminal = openTerminal(
    { json: false, quiet: false, noInput: false },
    { stdin: {}, stdout, stderr, env: {}, asTyped: (text) => text },
  );
  expect(errorToTerminal(thrown, terminal, false)).toBe(130);
  expect([stdout.read(), stderr.read()]).toEqual([null, null]);
});
