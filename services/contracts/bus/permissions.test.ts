import { describe, expect, it } from 'vitest';
import { parseDigest } from '../digest.ts';
import { newId, newProcessId, newSessionId, type ProcessId, type RuntimeId } from '../ids.ts';
import { allows, type Identity, permissionsOf } from './permissions.ts';
import { blobSubjects, subjects } from './subjects.ts';

const [runtime, process] = [newId('runtime'), newProcessId()];
const [otherRuntime, otherProcess] = [newId('runtime'), newProcessId()];

const identities = {
  backend: { kind: 'backend', process },
  'remote-mcp': { kind: 'remote-mcp', process },
  runtime: { kind: 'runtime', process, runtime, name: 'cloud', workspace: null },
} as const satisfies Record<Identity['kind'], Identity>;
type Kind = keyof typeof identities;
const kinds = ['backend', 'remote-mcp', 'runtime'] as const;

/** Which identities publish on a subject, and which subscribe to it. */
interface Row {
  readonly subject: string;
  readonly says: readonly Kind[];
  readonly hears: readonly Kind[];
}

/** A runtime's subjects all contain its own name and process. */
const ofRuntime = (build: (runtime: RuntimeId, process: ProcessId) => string, own: Omit<Row, 'subject'>): Row[] => {
  const withoutRuntime = (list: readonly Kind[]) => list.filter((kind) => kind !== 'runtime');
  const foreign = { says: withoutRuntime(own.says), hears: withoutRuntime(own.hears) };
  return [
    { subject: build(runtime, process), ...own },
    { subject: build(runtime, otherProcess), ...foreign },
    { subject: build(otherRuntime, process), ...foreign },
  ];
};

/** Every subject: the types require a row for a new one. */
const rowsOf: Readonly<Record<keyof typeof subjects, readonly Row[]>> = {
  handshake: ofRuntime(subjects.handshake, { says: ['runtime'], hears: ['backend'] }),
  call: ofRuntime(subjects.call, { says: ['remote-mcp'], hears: ['runtime'] }),
  command: ofRuntime(subjects.command, { says: ['backend'], hears: ['runtime'] }),
  heartbeat: ofRuntime(subjects.heartbeat, { says: ['runtime'], hears: ['backend', 'remote-mcp'] }),
  report: ofRuntime(subjects.report, { says: ['runtime'], hears: ['backend'] }),
  gone: ofRuntime(subjects.gone, { says: ['backend'], hears: ['backend', 'remote-mcp'] }),
  hello: [
    { subject: subjects.hello(process), says: ['remote-mcp'], hears: ['backend'] },
    { subject: subjects.hello(otherProcess), says: [], hears: ['backend'] },
  ],
  key: [
    { subject: subjects.key(process), says: ['remote-mcp'], hears: ['backend'] },
    { subject: subjects.key(otherProcess), says: [], hears: ['backend'] },
  ],
  event: [{ subject: subjects.event(newId('workspace'), 'key'), says: ['backend'], hears: ['backend', 'remote-mcp'] }],
  account: [{ subject: subjects.account(newId('user')), says: ['backend'], hears: ['backend', 'remote-mcp'] }],
  session: [{ subject: subjects.session(newSessionId()), says: ['backend', 'remote-mcp'], hears: ['remote-mcp'] }],
};
const rows: readonly Row[] = [
  ...Object.values(rowsOf).flat(),
  { subject: blobSubjects.record(parseDigest('a'.repeat(64))), says: ['backend'], hears: [] },
  { subject: 'svc.unknown', says: [], hears: [] },
  { subject: '_INBOX.abc', says: [], hears: [] },
];

describe.each(rows)('$subject', ({ subject, says, hears }) => {
  it(`is published by ${says.join(' and ') || 'no service'}`, () => {
    expect(kinds.filter((kind) => allows(permissionsOf(identities[kind]).publish, subject))).toEqual(says);
  });

  it(`is subscribed to by ${hears.join(' and ') || 'no service'}`, () => {
    expect(kinds.filter((kind) => allows(permissionsOf(identities[kind]).subscribe, subject))).toEqual(hears);
  });
});

it('streams and buckets belong to the services that need them', () => {
  expect(kinds.map((kind) => permissionsOf(identities[kind]).streams)).toEqual([['usage'], ['usage'], []]);
  expect(kinds.map((kind) => permissionsOf(identities[kind]).buckets)).toEqual([[], ['sessions'], []]);
});
