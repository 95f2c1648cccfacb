import { expect, test } from 'vitest';
import type { Assigned, ServerReport } from '../../contracts/bus/messages.ts';
import { readReport } from '../../contracts/bus/report-lines.ts';
import { patterns } from '../../contracts/bus/subjects.ts';
import { newId, newProcessId } from '../../contracts/ids.ts';
import { newKey } from '../../contracts/keys.ts';
import { startHub } from '../../kit/bus/start.ts';
import { createLog } from '../../kit/log.ts';
import { Reporter } from '../bus/reporter.ts';
import type { Launchers } from '../launchers/launch.ts';
import { Supervisor } from '../supervisor/supervisor.ts';
import { writeAnswer } from '../wire/write-message.ts';

const log = createLog({ service: 'runtime', level: 'error', destination: { write: (line) => expect.fail(line) } });

/** The longest line of last output, in characters of three bytes. */
const lastWords = Array.from({ length: 20 }, () => '–'.repeat(1000));

/** MCP servers inside this process with long last output. The first one has this many tools of a megabyte. */
function talkative(toolsOfFirst: number): Launchers {
  const description = 'x'.repeat(1_000_000);
  const tools = Array.from({ length: toolsOfFirst }, (_, at) => ({ name: `t${at}`, description }));
  const results = (name: string): Record<string, unknown> => ({
    initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} } },
    'tools/list': { tools: name === 'one-0' ? tools : [] },
  });
  return {
    child: () => expect.fail(),
    http: async ({ name, listener }) => ({
      ok: true,
      channel: {
        send(_message, about) {
          if (about.kind !== 'request') return;
          const answer = writeAnswer(about.id, { result: results(name)[about.method] });
          setImmediate(() => listener.message(answer, null));
        },
        lastWords: () => lastWords,
        stop: async () => {},
        forget() {},
      },
    }),
  };
}

/** A runtime's supervisor and reporter, and a backend that receives the reports. */
async function reporting(count: number, toolsOfFirst: number) {
  const stack = new AsyncDisposableStack();
  const hub = stack.adopt(await startHub({ file: null }), (started) => started.stop());
  const runtime = newId('runtime');
  const backend = await hub.connect({ kind: 'backend' }, newProcessId());
  const known = { kind: 'runtime' as const, runtime, name: 'test', workspace: null };
  backend.authorize(async (_credentials, process) => ({ ...known, process }));
  const bus = await hub.connect({ kind: 'runtime', key: newKey('runtime') }, newProcessId());
  const { process } = bus.identity;

  const deadlines = { startMaxMs: 20_000, callMaxMs: 60_000 };
  const supervisor = new Supervisor({ launchers: talkative(toolsOfFirst), version: '1', log, ...deadlines });
  stack.defer(() => supervisor.stop(0));
  const connection = { bus, runtime, process };
  const reporter = new Reporter({ connection, supervisor, logger: log('bus'), onRefused: () => expect.fail() });
  stack.defer(() => reporter.stop());

  const told = new Map<string, ServerReport>();
  const completeReports: number[] = [];
  const allTold = Promise.withResolvers<void>();
  backend.respond(patterns.report, async ({ payload }) => {
    for (const part of readReport(payload, 100)) {
      if (part.kind === 'tools') continue;
      const { complete, mcpServers } = part.report;
      if (complete) completeReports.push(mcpServers.length);
      for (const one of mcpServers) told.set(one.mcpServer, { ...told.get(one.mcpServer), ...one });
    }
    const all = [...told.values()];
    const tools = all.reduce((sum, one) => sum + (one.tools ?? 0), 0);
    if (tools === toolsOfFirst && all.filter(({ stderr }) => stderr.length === 20).length === count) allTold.resolve();
    return { payload: Buffer.from('{"refused":[]}'), headers: {} };
  });

  const launch = { kind: 'http' as const, url: 'http://x', headers: {} };
  const workspace = newId('workspace');
  const assigned: Assigned[] = Array.from({ length: count }, (_, at) => ({
    ...{ mcpServer: newId('mcpServer'), workspace, name: `one-${at}`, configVersion: at + 1, launch },
  }));
  const allConnected = Promise.withResolvers<void>();
  const isConnected = (id: Assigned['mcpServer']) => supervisor.snapshot(id)?.report.status === 'Connected';
  supervisor.listen(() => (supervisor.ids.every(isConnected) ? allConnected.resolve() : undefined));
  supervisor.apply(assigned);
  await allConnected.promise;
  reporter.start();
  reporter.tellAll();
  return {
    allTold: allTold.promise,
    reporter,
    completeReports,
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

test.each([
  ['the last words of all MCP servers are', 300, 0],
  ['the tools of one and the last words of all are', 150, 11],
])(
  'when %s more than fits in one message, everything is reported, a part of it later',
  async (_name, count, toolBytes) => {
    await using told = await reporting(count, toolBytes);
    await told.allTold;
    expect(told.completeReports).toEqual([count]);
    expect(told.reporter.hasToldAll).toBe(true);
  },
);
