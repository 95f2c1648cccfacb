import { expect, test } from 'vitest';
import { withoutCommands } from './without-commands.ts';

test.each([
  [
    'Choose another name, or replace that key by a new one: svc keys rotate "laptop"',
    'Choose another name, or replace that key by a new one.',
  ],
  [
    'Read its last words with svc server logs crm. Try the same command by hand on the machine of the runtime.',
    'Try the same command by hand on the machine of the runtime.',
  ],
  ['Try again later. svc status shows why mail waits.', 'Try again later.'],
  [
    'Set it: svc server update crm --env NAME. Its last words name it: svc server logs crm',
    'Set it. Its last words name it.',
  ],
  [
    'Ask for a new one. On the machine of the platform: svc open',
    'Ask for a new one. On the machine of the platform: svc open',
  ],
  ['Set ports.remote-mcp in svc.yaml.', 'Set ports.remote-mcp in svc.yaml.'],
  ['svc status names it.', null],
])('"%s" is shown as %s', (advice, shown) => {
  expect(withoutCommands(advice)).toBe(shown);
});
