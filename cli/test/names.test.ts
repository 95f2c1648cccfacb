import { beforeAll, describe, expect, test } from 'vitest';
import { withRunningPlatform } from './running-platform.ts';

const { svc } = withRunningPlatform();

beforeAll(async () => {
  await svc('skill', 'create', 'taken');
});

describe('an unknown name of any kind ends with 1', () => {
  test.each([
    ['workspace', ['skill', 'list', '--workspace', 'nosuch']],
    ['role', ['keys', 'create', '--name', 'x', '--role', 'nosuch']],
    ['skill', ['role', 'create', 'x', '--skill', 'nosuch']],
    ['MCP server', ['server', 'show', 'nosuch']],
    ['MCP server', ['skill', 'create', 'x', '--tool', 'nosuch/echo']],
    ['runtime', ['server', 'add', 'x', '--runtime', 'nosuch', '--', 'node']],
  ])('a %s: svc %j', async (kind, args) => {
    const run = await svc(...args);
    expect(run.stderr).toMatch(new RegExp(`^Error: (There is|This workspace has) no ${kind} "nosuch"`));
    expect([run.stdout, run.code]).toEqual(['', 1]);
  });
});

test('a taken name is refused, with the command that changes its holder', async () => {
  const run = await svc('skill', 'create', 'taken');
  expect(run.stderr).toBe(
    'Error: Another skill is named "taken" already.\nChoose another name, or change that one: svc skill update NAME\n',
  );
  expect(run.code).toBe(5);
});

test('a tool of an MCP server without tools is refused, unless it is allowed', async () => {
  await svc('server', 'add', 'silent', '--', process.execPath, '-e', toolless);
  const refused = await svc('skill', 'create', 'mistyped', '--tool', 'silent/ech');
  expect(refused.stderr).toBe(
    'Error: The MCP server "silent" offers no tools.\nShow it: svc server show silent\nTo name it before the MCP server offers it, add --allow-missing.\n',
  );
  expect(refused.code).toBe(1);
  const run = await svc('skill', 'create', 'mistyped', '--tool', 'silent/ech', '--allow-missing');
  expect(run.code).toBe(0);
  expect(run.stderr).toContain(
    'List its tools: svc server show silent. Remove the tool from the skill: svc skill update NAME --remove-tool silent/ech',
  );
});

/** An MCP server without tools. */
const toolless = `
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    const result = method === 'initialize'
      ? { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'silent', version: '1' } }
      : { tools: [] };
    process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  });`;
