import type { RuntimeProcessName } from '../../../services/contracts/bus/ends.ts';
import { subjects } from '../../../services/contracts/bus/subjects.ts';
import {
  type ProcessId,
  type RuntimeId,
  randomText,
  type SessionId,
  type WorkspaceId,
} from '../../../services/contracts/ids.ts';
import type { HostileRuntime } from './hostile-runtime.ts';

type RowsFor = (by: Names) => readonly Row[];

/** Every subject of the platform: what a runtime may send to it, in its own name and in the names of others. A new subject needs its rows here. */
const platformSubjects: Readonly<Record<keyof typeof subjects, RowsFor>> = {
  handshake: (by) => ofRuntimes(by, subjects.handshake),
  report: (by) => ofRuntimes(by, subjects.report),
  heartbeat: (by) => ofRuntimes(by, subjects.heartbeat),
  call: (by) => ofNobody(by, subjects.call),
  command: (by) => ofNobody(by, subjects.command),
  gone: (by) => ofNobody(by, subjects.gone),
  hello: (by) => othersOnly([subjects.hello(by.remoteMcp), subjects.hello(by.own.process)]),
  key: (by) => othersOnly([subjects.key(by.remoteMcp), subjects.key(by.own.process)]),
  event: (by) => othersOnly([subjects.event(by.workspace, 'key'), subjects.event(by.workspace, 'catalogue')]),
  session: (by) => othersOnly([subjects.session(by.session)]),
};

export const subjectRows: Readonly<Record<string, RowsFor>> = {
  ...platformSubjects,
  'the bus’s own subjects': (by) => othersOnly(busSubjects(by)),
  'NATS’s own subjects': () => [
    ...othersOnly(natsSubjects),
    { subject: '$SYS.REQ.USER.INFO', granted: false, deniedAs: 'svc.identity.name' },
  ],
};

export interface Known {
  /** The process of the platform's own runtime. */
  readonly platform: RuntimeProcessName;
  readonly remoteMcp: ProcessId;
  readonly remoteMcpEnd: string;
  readonly workspace: WorkspaceId;
  readonly session: SessionId;
}

export interface Names extends Known {
  readonly own: RuntimeProcessName;
}

interface Row {
  readonly subject: string;
  /** Whether NATS lets it pass; all else it must deny. */
  readonly granted: boolean;
  /** The name in the denial, where templates/nats.conf maps the subject to another. */
  readonly deniedAs?: string;
}

type Build = (runtime: RuntimeId, process: ProcessId) => string;

/** A runtime may send to the subject with its own name and process in it, and to no other. */
function ofRuntimes(by: Names, build: Build): readonly Row[] {
  return [{ subject: build(by.own.runtime, by.own.process), granted: true }, ...othersOnly(foreign(by, build))];
}

function ofNobody(by: Names, build: Build): readonly Row[] {
  return othersOnly([build(by.own.runtime, by.own.process), ...foreign(by, build)]);
}

function othersOnly(subjects: readonly string[]): readonly Row[] {
  return subjects.map((subject) => ({ subject, granted: false }));
}

/** In the name of another runtime, and of a process of another. */
export function foreign({ own, platform: { runtime, process } }: Names, build: Build): string[] {
  return [build(runtime, process), build(runtime, own.process), build(own.runtime, process)];
}

/** Each way of saying something, whether or not it means anything on the subject. */
export const manners: Readonly<Record<string, (runtime: HostileRuntime, subject: string) => void>> = {
  message: ({ client }, subject) => client.publish(subject, '{}'),
  malformed: ({ client }, subject) => client.publish(subject, Buffer.from([0, 0xff, 0xc0, 0x80])),
  'malformed headers': ({ client }, subject) =>
    client.publish(subject, '{}', { headers: { 'Svc-Frame': 'question', 'Svc-Headers': '{"a":' } }),
  'headers that no client can read': ({ client }, subject) => {
    for (const header of ['Svc Frame', 'Svc\u0001Frame']) client.publish(subject, '{}', { headers: { [header]: 'x' } });
    client.publish(subject, '{}', { headers: { 'Svc-Frame': 'a\rb' } });
  },
  question: (runtime, subject) => ask(runtime, subject, 'question', '{}'),
  'malformed question': (runtime, subject) => ask(runtime, subject, 'question', '\0'),
  'unfinished question': (runtime, subject) => ask(runtime, subject, 'question+', 'x'),
  'unfinished message': ({ client }, subject) =>
    client.publish(subject, 'x', { headers: { 'Svc-Frame': 'message+', 'Svc-Message': randomText(10) } }),
  'question with another’s reply subject': ({ client }, subject) =>
    client.publish(subject, '{}', { reply: '_R.backend-x.backend.y', headers: { 'Svc-Frame': 'question' } }),
  'many small ones': ({ client }, subject) => {
    for (let i = 0; i < 500; i++) client.publish(subject, '{}');
  },
};

function ask({ end, client }: HostileRuntime, subject: string, frame: string, payload: string): void {
  const reply = `_R.${end}.backend.${randomText(22)}`;
  client.publish(subject, payload, { reply, headers: { 'Svc-Frame': frame } });
}

/** Of the engine of the bus, in the names of others. */
function busSubjects({ own, platform, remoteMcpEnd }: Names): readonly string[] {
  const [ownEnd, otherEnd] = [`${own.runtime}-${own.process}`, `${platform.runtime}-${platform.process}`];
  return [
    ...[`_R.${remoteMcpEnd}.${otherEnd}.x`, `_R.${remoteMcpEnd}.backend.x`, `_R.${otherEnd}.backend.x`],
    ...[`_C.backend.${otherEnd}.x`, `_C.backend.${remoteMcpEnd}.x`, `_C.${otherEnd}.${ownEnd}.x`],
    ...[`_C.${otherEnd}.${remoteMcpEnd}.x`, `_G.runtime.${otherEnd}`, `_G.backend.backend-x`, '_I.x', '_I.x.y'],
    ...[`_O.${remoteMcpEnd}`, `_O.${ownEnd}`, '_P', '_P.x', '_I.x.told', 'svc.identity.name'],
    ...['svc.stream.usage', 'svc.blob.aa.x', 'svc.authorization', 'svc.unknown'],
  ];
}

const natsSubjects = [
  ...['$JS.API.INFO', '$JS.API.STREAM.LIST', '$JS.API.STREAM.INFO.KV_sessions', '$JS.API.STREAM.PURGE.KV_sessions'],
  ...['$JS.ACK.x', '$KV.sessions.x', '$SYS.REQ.SERVER.PING.CONNZ', '$SYS.REQ.USER.AUTH'],
];
