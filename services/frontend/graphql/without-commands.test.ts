import { expect, test } from 'vitest';
import { repeat } from '../../backend/activity/changed-meanwhile.ts';
import { howToRaise } from '../../contracts/mcp-server-deadlines.ts';
import { explainNoContainer } from '../../runtime/launchers/sandbox/explain-container.ts';
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
  [howToRaise('callTimeout', { mcpServer: 'crm', isMs: 60_000 }), 'Allow more time.'],
  [repeat('svc role show "Support"'), 'Show the present state. Then try again.'],
  [
    explainNoContainer(
      Object.assign(new Error('no such image'), { statusCode: 404 }),
      { socket: '/run/docker.sock', image: 'node:24' },
      { name: 'crm', setBy: 'member' },
    ).repair,
    "Fetch it on the machine of the runtime: docker pull node:24. An operator can run members' commands without a sandbox, by runtime.sandbox: none-for-everybody in svc.yaml (MCP_SERVER_SANDBOX), or set the command.",
  ],
])('"%s" is shown as %s', (advice, shown) => {
  expect(withoutCommands(advice)).toBe(shown);
});
