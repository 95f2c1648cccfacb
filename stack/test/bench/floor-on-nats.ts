import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseId } from '../../../services/contracts/ids.ts';
import { Secret } from '../../../services/contracts/secret.ts';
import type { Credentials } from '../../../services/kit/bus/bus.ts';
import { connectNats } from '../../../services/kit/bus/nats/connect.ts';
import { TestServer } from '../../../services/kit/bus/nats/test/server.ts';
import { createLog } from '../../../services/kit/log.ts';
import { answerByChild, askOverHttp } from './floor-ends.ts';

/** The floor over NATS: http here, the child in a process of its own, and a real server between them. */
const [port = '', program = '', url] = process.argv.slice(2);
const logger = createLog({ service: 'floor', level: 'error', destination: process.stderr })('bus');
const runtimeId = parseId('runtime', `run_${'0'.repeat(24)}`);
const subjectOf = (id: string) => `svc.runtime.${runtimeId}.${id}.call`;
const connect = (server: string, credentials: Credentials) =>
  connectNats({ servers: [server], caPath: null, persistent: true, credentials, logger });

if (url === undefined) await beNear();
else await beFar(url);

async function beNear(): Promise<void> {
  const server = await TestServer.start(mkdtempSync(join(tmpdir(), 'floor-')));
  const backend = await connect(server.url, { kind: 'backend', seeds: server.seeds });
  backend.authorize(async (credentials, id) =>
    credentials.kind === 'system'
      ? { kind: 'remote-mcp', process: id }
      : { kind: 'runtime', process: id, runtime: runtimeId, name: 'floor', workspace: null },
  );
  const far = fork(import.meta.filename, [port, program, server.url]);
  const [farProcess] = await once(far, 'message');
  const front = await connect(server.url, { kind: 'system', component: 'remote-mcp', key: new Secret('key') });
  askOverHttp(front, subjectOf(String(farProcess)), Number(port));
  process.once('SIGTERM', async () => {
    far.kill('SIGKILL');
    await server.stop();
    process.exit(0);
  });
}

async function beFar(server: string): Promise<void> {
  const bus = await connect(server, { kind: 'runtime', key: new Secret('key') });
  const id = bus.identity.process;
  answerByChild(bus, subjectOf(id), program);
  await bus.flush();
  process.send?.(id);
}
