import { describe, expect, test } from 'vitest';
import { countUsable, whyOf } from '../../services/contracts/explain-key.ts';
import { describeExplanation } from '../output/key-explanation.ts';
import { openTerminal } from '../output/terminal.ts';
import { explainKey, type KeySituation } from './explain-key.ts';

const unavailable = { code: 'x', message: 'The MCP server "crm" is Error. It exited.', repair: 'Set CRM_TOKEN.' };
const noLimits = { readOnly: false, rules: [] };
const reader = { ...noLimits, id: 'r1', name: 'Reader', enabled: true, skills: [{ id: 's1', name: 'reading' }] };
const denying = { ...reader, rules: [{ effect: 'deny', tool: 't*', mcpServer: { name: 'files' } }] } as const;
const skillOf = (id: string, name: string, tools: readonly string[] = []) => ({
  ...{ id, name, available: true, reason: null, mcpServers: [] },
  roles: [],
  tools: tools.map((tool) => ({ id: tool })),
});
const toolOf = (id: string, more: object = {}) => ({
  ...{ id, name: id, originalName: id, listed: true, definition: null, mcpServer: { name: 'files' } },
  ...more,
});

const base: KeySituation = {
  workspace: { name: 'Default', suspended: false },
  key: {
    ...{ id: 'k1', name: 'laptop', hint: 'SVA_…abcd', version: 1, state: 'valid', disclosure: 'skills' },
    ...{ expiresAt: null, revokedAt: null, firstUsedAt: null, lastUsedAt: null, lastUsedStepMs: 60_000 },
    ...{ createdAt: 1, roles: null, replaces: null },
  },
  roles: [reader],
  skills: [skillOf('s1', 'reading', ['t1'])],
  tools: [toolOf('t1')],
  mcpServers: [{ name: 'files', enabled: true, status: 'Connected', reason: null }],
};

const gapsOf = (situation: Partial<KeySituation>) => explainKey({ ...base, ...situation }).unusable;

test('a key that can use everything has no gap', () => {
  expect(explainKey(base)).toMatchObject({ accepted: true, unusable: [], roles: [{ skills: [{ tools: ['t1'] }] }] });
});

describe('a gap is explained:', () => {
  const others = [{ id: 'r2', name: 'Sales' }];
  test.each<[string, Partial<KeySituation>, object]>([
    ['a revoked key', { key: { ...base.key, state: 'revoked', revokedAt: 1 } }, { kind: 'key', why: /revoked \(1970/ }],
    [
      'an expired key',
      { key: { ...base.key, state: 'expired', expiresAt: 1 } },
      { change: /keys update laptop --expires/ },
    ],
    ['a key without roles', { key: { ...base.key, roles: [] } }, { kind: 'key', why: /None of its roles exists/ }],
    ['a suspended workspace', { workspace: { name: 'W', suspended: true } }, { kind: 'workspace', why: /suspended/ }],
    [
      'a role of other keys',
      { key: { ...base.key, roles: others } },
      { kind: 'role', change: /--role Sales --role Reader/ },
    ],
    ['a disabled role', { roles: [{ ...reader, enabled: false }] }, { kind: 'role', why: /disabled/ }],
    ['a role without skills', { roles: [{ ...reader, skills: [] }] }, { kind: 'role', why: /no skills/ }],
    ['a skill in no role', { skills: [...base.skills, skillOf('s2', 'x')] }, { name: 'x', why: /in no role/ }],
    [
      'a skill in disabled roles',
      { roles: [{ ...reader, enabled: false }] },
      { kind: 'skill', why: /disabled: Reader/ },
    ],
    [
      'an unavailable skill',
      { skills: [{ ...skillOf('s1', 'reading', ['t1']), available: false, reason: unavailable }] },
      { kind: 'skill', why: /crm/, change: /CRM_TOKEN/ },
    ],
    [
      'a tool that a rule denies',
      { roles: [denying] },
      {
        ...{ kind: 'tool', name: 'files/t1', why: /^The role Reader does not allow it \(rule: deny files\/t\*\)\.$/ },
        change: /svc role update Reader --remove-deny 'files\/t\*'$/,
      },
    ],
    [
      'a tool that no rule allows',
      { roles: [{ ...reader, rules: [{ effect: 'allow', tool: 'x', mcpServer: { name: 'files' } }] }] },
      { why: /allowed tools only/, change: /--add-allow files\/t1$/ },
    ],
    [
      'a tool that may change something',
      { roles: [{ ...reader, readOnly: true }] },
      { why: /rule: read-only/, change: /--no-read-only$/ },
    ],
    ['a tool in no skill', { tools: [...base.tools, toolOf('t2')] }, { kind: 'tool', name: 'files/t2' }],
    [
      'a failed MCP server',
      {
        mcpServers: [
          { name: 'crm', enabled: true, status: 'Error', reason: { ...unavailable, message: 'It exited.' } },
        ],
      },
      { kind: 'mcpServer', why: /^The MCP server is Error\. It exited\.$/, change: /CRM_TOKEN/ },
    ],
    [
      'a disabled MCP server',
      { mcpServers: [{ name: 'crm', enabled: false, status: 'Disconnected', reason: null }] },
      { kind: 'mcpServer', why: /disabled/, change: /svc server enable crm/ },
    ],
  ])('%s', (_what, situation, gap) => {
    const expected = Object.entries(gap).map(([name, value]) => [
      name,
      value instanceof RegExp ? expect.stringMatching(value) : value,
    ]);
    expect(gapsOf(situation)).toContainEqual(expect.objectContaining(Object.fromEntries(expected)));
  });
});

test('a tool that another role lets pass is no gap, and is listed only there', () => {
  const other = { ...reader, id: 'r2', name: 'Other' };
  const { roles, unusable } = explainKey({ ...base, roles: [denying, other] });
  expect(unusable).toEqual([]);
  expect(roles.map(({ skills }) => skills.map(({ tools }) => tools))).toEqual([[[]], [['t1']]]);
  const definition = JSON.stringify({ annotations: { readOnlyHint: true } });
  const reading = { roles: [{ ...reader, readOnly: true }], tools: [toolOf('t1', { definition })] };
  expect(gapsOf(reading)).toEqual([]);
});

test('the tools that any role lets pass are counted', () => {
  const other = { ...reader, id: 'r2', name: 'Other' };
  const counts = { skills: 1, availableSkills: 1, tools: 1 };
  expect(countUsable(explainKey({ ...base, roles: [other, denying] }))).toEqual(counts);
  expect(countUsable(explainKey({ ...base, roles: [denying, other] }))).toEqual(counts);
  expect(countUsable(explainKey({ ...base, roles: [{ ...other, enabled: false }] }))).toMatchObject({ skills: 0 });
});

test('a key that is refused is not accepted', () => {
  expect(explainKey({ ...base, key: { ...base.key, state: 'expired' } }).accepted).toBe(false);
  expect(explainKey({ ...base, workspace: { name: 'W', suspended: true } }).accepted).toBe(false);
});

test.each([
  ['The tool is in no skill.', 'Each is in no skill.'],
  ['The role has no skills.', 'Each has no skills.'],
  ['The key is not for this role.', 'The key is not for these roles.'],
  ['The MCP server is Error. It exited.', 'Each is Error. It exited.'],
  ['The role Reader does not allow it (rule: read-only).', 'The role Reader does not allow it (rule: read-only).'],
])('the reason "%s" is worded for several', (why, ofSeveral) => {
  expect([whyOf([{ why }]), whyOf([{ why }, { why }])]).toEqual([why, ofSeveral]);
});

test('the text of 500 skills and 2000 tools fits a screen, with what is unavailable first', () => {
  const skills = Array.from({ length: 500 }, (_, i) => ({
    ...skillOf(`s${i}`, `skill-${i}`, [`t${i}`]),
    ...(i === 499 ? { available: false, reason: unavailable } : {}),
  }));
  const tools = Array.from({ length: 2000 }, (_, i) => toolOf(`t${i}`));
  const explanation = explainKey({ ...base, roles: [{ ...reader, skills }], skills, tools });
  expect(explanation.roles[0]?.skills).toHaveLength(500);
  const stream = Object.assign(process.stdout, {});
  const terminal = openTerminal(
    { json: false, quiet: false, noInput: true },
    { stdin: {}, stdout: stream, stderr: stream, env: { NO_COLOR: '1' }, asTyped: (text) => text },
  );
  const lines = describeExplanation(explanation, { ...terminal, columns: 100 }).split('\n');
  expect(lines.length).toBeLessThan(50);
  expect(lines.findIndex((line) => line.startsWith('skill-499'))).toBeLessThan(8);
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(100);
});
