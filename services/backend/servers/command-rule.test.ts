import { describe, expect, test } from 'vitest';
import type { Launch } from '../../contracts/bus/messages.ts';
import { checkCommand, parseCommandRule } from './command-rule.ts';

const runs = (command: string, env: Record<string, string> = {}): Launch => ({
  kind: 'child',
  command,
  args: [],
  cwd: null,
  env,
});
const http: Launch = { kind: 'http', url: 'https://x.example/mcp', headers: {} };
const allowed = (rule: string, launch: Launch) => () => checkCommand(parseCommandRule(rule), launch);

test('any allows any command', () => {
  expect(allowed('any', runs('/bin/sh'))).not.toThrow();
  expect(allowed('any', runs('npx', { PATH: '/tmp' }))).not.toThrow();
});

test('none allows MCP servers over HTTP only', () => {
  expect(allowed('none', runs('npx'))).toThrow(/Refused by the setting runtime\.commands/);
  expect(allowed('none', http)).not.toThrow();
});

describe('a list', () => {
  test('allows the listed commands exactly as written', () => {
    expect(allowed('npx, uvx', runs('npx'))).not.toThrow();
    expect(allowed('npx, uvx', runs('uvx'))).not.toThrow();
    expect(allowed('npx', http)).not.toThrow();
    for (const command of ['node', '/tmp/npx', './npx', 'npx ', 'NPX', 'npx,uvx', '']) {
      expect(allowed('npx, uvx', runs(command)), command).toThrow(
        expect.objectContaining({ code: 'forbidden', hint: expect.stringContaining('svc.yaml') }),
      );
    }
  });

  test('allows no search path under which the name means another program', () => {
    expect(allowed('npx', runs('npx', { PATH: '/tmp/evil' }))).toThrow(/PATH/);
  });
});
