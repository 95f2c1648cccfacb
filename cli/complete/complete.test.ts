import { expect, test } from 'vitest';
import { type Completion, completeAt } from './complete.ts';
import type { Command, Flag } from './manifest.ts';

const option = (name: string, helpValue: string, multiple = false): Flag => ({
  ...{ name, type: 'option', summary: `About ${name}.`, helpValue, multiple, hidden: false },
});
const shared = { dir: option('dir', 'DIR'), json: { ...option('json', ''), type: 'boolean' } } as const;

function command(id: string, more: Partial<Command> = {}): Command {
  const base = { id, aliases: [], hidden: false, strict: true, summary: `About ${id}.`, args: {} };
  return { ...base, ...more, flags: { ...shared, ...more.flags } };
}

const commands: readonly Command[] = [
  command('init', { args: { dir: { name: 'dir' } }, flags: { topology: option('topology', 'embedded|distributed') } }),
  command('logs', {
    args: { service: { name: 'service' } },
    strict: false,
    flags: { level: { ...option('level', 'LEVEL'), char: 'l' } },
  }),
  command('server:add', {
    aliases: ['servers:add'],
    args: { name: { name: 'name' } },
    flags: { from: option('from', 'ENTRY') },
  }),
  command('server:show', {
    aliases: ['servers:show'],
    args: { name: { name: 'name' } },
    flags: { workspace: option('workspace', 'NAME'), role: option('role', 'ROLE', true), out: option('out', 'FILE') },
  }),
  command('skill:update', {
    args: { name: { name: 'name' } },
    flags: { 'add-tool': option('add-tool', 'MCPSERVER/TOOL', true) },
  }),
  command('file:add', { args: { skill: { name: 'skill' }, file: { name: 'file' } } }),
];

const at = (...typed: string[]) => completeAt(typed.slice(0, -1), typed.at(-1) ?? '', commands);
const wordsOf = (completion: Completion) =>
  completion.kind === 'words' ? completion.words.map(({ word }) => word) : completion;
const names = (noun: string, workspace?: string, dir?: string) => ({ kind: 'names', noun, workspace, dir });

test.each<[string[], unknown]>([
  [[''], ['init', 'logs', 'server', 'skill', 'file']],
  [
    ['--json', ''],
    ['init', 'logs', 'server', 'skill', 'file'],
  ],
  [
    ['--dir', 'x', 'ser'],
    ['init', 'logs', 'server', 'skill', 'file'],
  ],
  [['--dir', ''], { kind: 'folders' }],
  [
    ['server', ''],
    ['add', 'show'],
  ],
  [
    ['servers', ''],
    ['add', 'show'],
  ],
  [['nothing', ''], []],
  [['server', 'show', ''], names('MCP server')],
  [['servers', 'show', ''], names('MCP server')],
  [['server', 'add', ''], []],
  [['server', 'add', '--from', ''], expect.arrayContaining(['files', 'github'])],
  [['server', 'add', 'x', '--from=g'], expect.not.arrayContaining(['cursor'])],
  [['server', 'add', 'x', '--', ''], { kind: 'files' }],
  [['server', 'show', '--workspace', 'Acme', ''], names('MCP server', 'Acme')],
  [['server', 'show', '--workspace=Acme', '--dir', '/x', ''], names('MCP server', 'Acme', '/x')],
  [['server', 'show', '--workspace', ''], names('workspace')],
  [['server', 'show', '--role=Re'], names('role')],
  [['server', 'show', '--out', ''], { kind: 'files' }],
  [['server', 'show', 'files', ''], []],
  [
    ['server', 'show', '--role', 'a', '--out=b', '--'],
    ['--dir', '--json', '--workspace', '--role', '--help'],
  ],
  [['init', ''], { kind: 'folders' }],
  [
    ['init', '--topology', ''],
    ['embedded', 'distributed'],
  ],
  [['logs', 'backend', ''], names('service')],
  [
    ['logs', '-l', ''],
    ['trace', 'debug', 'info', 'warn', 'error'],
  ],
  [['skill', 'update', ''], names('skill')],
  [['skill', 'update', 'x', '--add-tool', ''], names('tool')],
  [['file', 'add', ''], names('skill')],
  [['file', 'add', 'reading', ''], { kind: 'files' }],
])('svc %j', (typed, expected) => {
  expect(wordsOf(at(...typed))).toEqual(expected);
});
