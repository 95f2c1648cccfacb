import type { RuntimeProcessName } from '../../../services/contracts/bus/ends.ts';
import { subjects } from '../../../services/contracts/bus/subjects.ts';
import {
  newId,
  type ProcessId,
  type RuntimeId,
  randomText,
  type SessionId,
  type WorkspaceId,
} from '../../../services/contracts/ids.ts';
import type { HostileRuntime } from './hostile-runtime.ts';

export interface Known {
  /** The process of the platform's own runtime. */
  readonly platform: RuntimeProcessName;
  readonly remoteMcp: ProcessId;
  readonly remoteMcpEnd: string;
  readonly workspace: WorkspaceId;
  readonly session: SessionId;
}

interface Names extends Known {
  readonly own: RuntimeProcessName;
}

type SubjectsFor = (by: Names) => readonly string[];

/**
 * The platform's subjects that NATS must deny to a runtime, in its own name or in the names of others. A new subject
 * needs its row here.
 */
const platformSubjects: Readonly<Record<keyof typeof subjects, SubjectsFor>> = {
  handshake: (by) => foreign(by, subjects.handshake),
  report: (by) => foreign(by, subjects.report),
  heartbeat: (by) => foreign(by, subjects.heartbeat),
  call: (by) => anyone(by, subjects.call),
  command: (by) => anyone(by, subjects.command),
  gone: (by) => anyone(by, subjects.gone),
  hello: (by) => [subjects.hello(by.remoteMcp), subjects.hello(by.own.process)],
  key: (by) => [subjects.key(by.remoteMcp), subjects.key(by.own.process)],
  event: (by) => [subjects.event(by.workspace, 'key'), subjects.event(by.workspace, 'catalogue')],
  account: () => [subjects.account(newId('user'))],
  session: (by) => [subjects.session(by.session)],
};

export const denied: SubjectsFor = (by) => [
  ...Object.values(platformSubjects).flatMap((rowsFor) => rowsFor(by)),
  ...busSubjects(by),
  ...['$JS.API.INFO', '$JS.API.STREAM.LIST', '$JS.API.STREAM.INFO.KV_sessions', '$JS.API.STREAM.PURGE.KV_sessions'],
  ...['$JS.ACK.x', '$KV.sessions.x', '$SYS.REQ.SERVER.PING.CONNZ', '$SYS.REQ.USER.AUTH', '$SYS.REQ.USER.INFO'],
];

type Build = (runtime: RuntimeId, process: ProcessId) => string;

/** Subjects in the name of another runtime, and of another runtime's process. */
function foreign({ own, platform: { runtime, process } }: Names, build: Build): readonly string[] {
  return [build(runtime, process), build(runtime, own.process), build(own.runtime, process)];
}

function anyone(by: Names, build: Build): readonly string[] {
  return [build(by.own.runtime, by.own.process), ...foreign(by, build)];
}

/** Subjects of the bus engine, in the names of others. */
function busSubjects({ own, platform, remoteMcpEnd }: Names): readonly string[] {
  const [ownEnd, otherEnd] = [`${own.runtime}-${own.process}`, `${platform.runtime}-${platform.process}`];
  return [
    ...[`_R.${remoteMcpEnd}.${otherEnd}.x`, `_R.${remoteMcpEnd}.backend.x`, `_R.${otherEnd}.backend.x`],
    ...[`_C.backend.${otherEnd}.x`, `_C.backend.${remoteMcpEnd}.x`, `_C.${otherEnd}.${ownEnd}.x`],
    ...[`_C.${otherEnd}.${remoteMcpEnd}.x`, `_G.runtime.${otherEnd}`, '_G.backend.backend-x', '_I.x', '_I.x.y'],
    ...[`_O.${remoteMcpEnd}`, `_O.${ownEnd}`, '_P', '_P.x', '_I.x.told', 'svc.identity.name'],
    ...['svc.stream.usage', 'svc.blob.aa.x', 'svc.authorization', 'svc.unknown'],
  ];
}

/** Every way to publish a message, whether or not it has a meaning on the subject. */
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
