import { connect as connectNats, nkeyAuthenticator } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { endOf } from '../../../services/contracts/bus/ends.ts';
import type { Identity } from '../../../services/contracts/bus/permissions.ts';
import { subjects } from '../../../services/contracts/bus/subjects.ts';
import { newProcessId, randomText } from '../../../services/contracts/ids.ts';
import { findIdentity } from '../../../services/kit/bus/nats/connection-name.ts';
import { readSecret, secretFilesOf } from '../../secrets/secrets.ts';
import { startTwoHomes } from '../homes.ts';
import { hasNatsServer, type Platform, startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { HostileRuntime } from './hostile-runtime.ts';
import { startVictim, type Victim } from './victim.ts';
import { WireClient } from './wire-client.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

const whoAmI = '$SYS.REQ.USER.INFO';
const noKey = 'RTK-nobody-knows-it';

/** Somebody without a valid key who reaches the port of the bus, and whoever has one and goes beyond it. An embedded platform has no such port. */
describe.skipIf(!hasNatsServer)('a stranger on the bus', () => {
  let platform: Platform;
  let victim: Victim;
  let hostile: HostileRuntime;
  /** What a stranger must not have said: above all that a process of the platform is gone. */
  let publish: readonly string[];
  const open: WireClient[] = [];

  beforeAll(async () => {
    const homes = await startTwoHomes({ topology: 'distributed' });
    platform = homes.platform;
    const identities = await identitiesOn(platform);
    const gone = identities.flatMap((one) => [
      `_G.${one.kind}.${endOf(one)}`,
      ...(one.kind === 'runtime' ? [subjects.gone(one.runtime, one.process)] : []),
    ]);
    expect(gone).toHaveLength(4);
    publish = [...gone, '$KV.sessions.junk', '_I.x.told', 'svc.event.x.key'];
    hostile = await HostileRuntime.register(homes);
    victim = await startVictim(homes);
  }, startTimeoutMs);
  afterAll(async () => {
    for (const client of open) client.close();
    hostile?.close();
    await platform?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  /** In the form of this version, or of the one before, which asks NATS who it is. */
  async function connect(user: string, pass: string, form: 'this' | 'before' = 'this') {
    const inbox = `_I.${randomText(22)}`;
    const name = `${newProcessId()} ${inbox}${form === 'this' ? ' told' : ''}`;
    const client = await WireClient.connect(platform.busPorts.port, { user, pass, name });
    open.push(client);
    return { client, inbox };
  }

  const subscribe = ['>', '_I.>', '_I.*.told', '$SYS.>', '_G.>', 'svc.>', '_R.>', '$KV.>', '$JS.>'];

  test.each([
    ['this', 'why runtime'],
    ['before', 'why runtime'],
    ['before', 'why runtime cloud'],
    ['this', 'why remote-mcp'],
  ] as const)('in the form of %s, as "%s", makes nobody say anything and hears nobody', async (form, user) => {
    const { client, inbox } = await connect(user, noKey, form);
    await victim.expectUndisturbedBy(async () => {
      // The ends of a connection and of a runtime, and a session, as the server itself would say them.
      for (let i = 0; i < 300; i++) for (const reply of publish) client.publish(whoAmI, '', { reply });
      await client.flush();
    });
    client.errors.length = 0;
    for (const subject of publish) client.publish(subject, 'x');
    for (const pattern of subscribe) client.subscribe(pattern);
    client.subscribe(`_I.${randomText(22)}.>`);
    await client.flush();
    expect(client.errors).toHaveLength(publish.length + subscribe.length + 1);
    expect(client.messages.filter(({ subject }) => !subject.startsWith(inbox))).toEqual([]);
  });

  test('with a valid key makes the server publish nothing for it, whatever reply and trace it names', async () => {
    const { client, identity } = hostile;
    const heartbeat = subjects.heartbeat(identity.runtime, identity.process);
    const [before, heard] = [client.errors.length, client.messages.length];
    await victim.expectUndisturbedBy(async () => {
      for (let i = 0; i < 100; i++) {
        for (const reply of publish) {
          client.publish(whoAmI, '', { reply });
          client.publish(heartbeat, '{}', { headers: { 'Nats-Trace-Dest': reply } });
        }
      }
      await client.flush();
    });
    // Traces are refused by name, and questions are answered on the own inbox alone.
    expect(client.errors.length).toBeGreaterThan(before);
    expect(client.messages.length).toBe(heard);
  });

  test("cannot choose a process id: another's, as process id or as nonce, gives a new one", async () => {
    const again = await hostile.connectAs(hostile.identity.process);
    expect(again.identity.process).not.toBe(hostile.identity.process);
    expect(JSON.stringify(await platform.svc('status'))).not.toContain(again.identity.process);
    again.close();
  });

  test('connects hundreds of times, and the calls of others go on', async () => {
    const outcomes = await victim.expectUndisturbedBy(async () => {
      const tries: PromiseSettledResult<unknown>[] = [];
      for (let i = 0; i < 20; i++) {
        const users = Array.from({ length: 20 }, (_, index) => (index % 2 === 0 ? 'why runtime' : 'runtime'));
        tries.push(...(await Promise.allSettled(users.map((user) => connect(user, noKey)))));
      }
      return tries;
    });
    expect(outcomes).toHaveLength(400);
    expect(outcomes.filter(({ status }) => status === 'fulfilled').length).toBeLessThanOrEqual(128);
    const { stdout } = await platform.run(['logs', 'backend']);
    const written = stdout.split('\n').filter((line) => line.includes('refused a connection to the bus'));
    expect(written.length).toBeGreaterThan(0);
    expect(written.length).toBeLessThan(20);
    expect(stdout).not.toContain(noKey);
  });

  test('finds no monitoring', async () => {
    await expect(fetch(`http://127.0.0.1:${platform.busPorts.httpPort}/connz`)).rejects.toThrow();
    await expect(fetch('http://127.0.0.1:8222/connz')).rejects.toThrow();
    expect((await platform.services()).get('nats')?.state).toBe('healthy');
  });

  test.each([
    ['', ''],
    ['runtime', noKey],
    ['backend', `${Date.now()}.forged`],
    ['callout', noKey],
    ['alone', noKey],
  ])('as "%s" with what is no credential does not come in', async (user, pass) => {
    await expect(connect(user, pass)).rejects.toThrow(/Authorization|Authentication/);
  });
});

/** Who is connected to the bus of a platform, as its backend would learn it. */
async function identitiesOn({ busPorts, installation }: Platform): Promise<readonly Identity[]> {
  const authenticator = nkeyAuthenticator(Buffer.from(readSecret(secretFilesOf(installation).busSystemSeed)));
  const connection = await connectNats({ servers: `127.0.0.1:${busPorts.port}`, authenticator });
  try {
    const listed = await connection.request('$SYS.REQ.SERVER.PING.CONNZ', JSON.stringify({ auth: true, acc: 'SVC' }));
    const shape = z.object({
      data: z.object({ connections: z.array(z.object({ authorized_user: z.string().optional() })) }),
    });
    const { data } = shape.parse(listed.json());
    return data.connections.flatMap(({ authorized_user: name = '' }) => findIdentity(name) ?? []);
  } finally {
    await connection.close();
  }
}
