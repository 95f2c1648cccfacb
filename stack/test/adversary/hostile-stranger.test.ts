import { connect as connectNats, nkeyAuthenticator } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { endOf } from '../../../services/contracts/bus/ends.ts';
import type { Identity } from '../../../services/contracts/bus/permissions.ts';
import { subjects } from '../../../services/contracts/bus/subjects.ts';
import { newProcessId, randomText } from '../../../services/contracts/ids.ts';
import { findIdentity } from '../../../services/kit/bus/nats/connection-name.ts';
import { readSecret, secretFilesOf } from '../../secrets/secrets.ts';
import { type Home, startTwoHomes } from '../homes.ts';
import { hasNatsServer, type Platform, startTimeoutMs, testTimeoutMs } from '../platform.ts';
import { HostileRuntime } from './hostile-runtime.ts';
import { Victim } from './victim.ts';
import { WireClient, type WireLogin } from './wire-client.ts';

vi.setConfig({ testTimeout: testTimeoutMs });

const whoAmI = '$SYS.REQ.USER.INFO';
const noKey = 'RTK-nobody-knows-it';

/** How somebody shows himself to the bus: in the form of this version, or of the one before, which asks NATS who it is. */
const forms = { this: ' told', before: '' } as const;
type Form = keyof typeof forms;

/** Somebody without a valid key who reaches the port of the bus, and whoever has one and goes beyond it. An embedded platform has no such port. */
describe.skipIf(!hasNatsServer)('a stranger on the bus', () => {
  let platform: Platform;
  let victim: Victim;
  let hostile: HostileRuntime;
  let home: Home;
  /** What a stranger must not have said: above all that a process of the platform is gone. */
  let publish: readonly string[];
  const open: WireClient[] = [];

  beforeAll(async () => {
    const homes = await startTwoHomes({ topology: 'distributed' });
    ({ platform, b: home } = homes);
    const options = { busPort: platform.busPorts.port, backend: homes.backend, workspace: homes.a.workspace };
    const identities = await identitiesOn(platform);
    const gone = identities.flatMap((one) => [
      `_G.${one.kind}.${endOf(one)}`,
      ...(one.kind === 'runtime' ? [subjects.gone(one.runtime, one.process)] : []),
    ]);
    expect(gone).toHaveLength(4);
    publish = [...gone, '$KV.sessions.junk', '_I.x.told', 'svc.event.x.key'];
    hostile = await HostileRuntime.register(options);
    victim = await Victim.start({
      ...{ mcpUrl: `${platform.mcpUrl}?skillIds=${home.same.skill}`, key: home.same.keyText },
      ...{ tool: 'get-env', arguments: {}, answer: home.mark },
    });
  }, startTimeoutMs);
  afterAll(async () => {
    for (const client of open) client.close();
    hostile?.close();
    await platform?.[Symbol.asyncDispose]();
  }, startTimeoutMs);

  async function connect(user: string, pass: string, form: Form = 'this') {
    const inbox = `_I.${randomText(22)}`;
    const login: WireLogin = { user, pass, name: `${newProcessId()} ${inbox}${forms[form]}` };
    const client = await WireClient.connect(platform.busPorts.port, login);
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
    const { client } = hostile;
    const [before, heard] = [client.errors.length, client.messages.length];
    await victim.expectUndisturbedBy(async () => {
      for (let i = 0; i < 100; i++) {
        for (const reply of publish) {
          client.publish(whoAmI, '', { reply });
          client.publish(subjects.heartbeat(hostile.identity.runtime, hostile.identity.process), '{}', {
            headers: { 'Nats-Trace-Dest': reply },
          });
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
    const runtimes = await platform.svc('status');
    expect(JSON.stringify(runtimes)).not.toContain(again.identity.process);
    again.close();
  });

  test('connects hundreds of times, and the calls of others go on', async () => {
    const outcomes = await victim.expectUndisturbedBy(async () => {
      const tries: boolean[] = [];
      for (let i = 0; i < 20; i++) {
        const batch = Array.from({ length: 20 }, (_, index) =>
          connect(index % 2 === 0 ? 'why runtime' : 'runtime', noKey).then(
            () => true,
            () => false,
          ),
        );
        tries.push(...(await Promise.all(batch)));
      }
      return tries;
    });
    expect(outcomes).toHaveLength(400);
    expect(outcomes.filter((isIn) => isIn).length).toBeLessThanOrEqual(128);
    const { stdout } = await platform.run(['logs', 'backend']);
    const written = stdout.split('\n').filter((line) => line.includes('refused a connection to the bus'));
    expect(written.length).toBeGreaterThan(0);
    expect(written.length).toBeLessThan(20);
    expect(stdout).not.toContain(noKey);
  });

  test('finds no monitoring', async () => {
    await expect(fetch(`http://127.0.0.1:${platform.busPorts.httpPort}/connz`)).rejects.toThrow();
    await expect(fetch('http://127.0.0.1:8222/connz')).rejects.toThrow();
    const { services } = z
      .object({ services: z.array(z.object({ name: z.string(), state: z.string() })) })
      .parse(await platform.svc('status'));
    expect(services.find(({ name }) => name === 'nats')?.state).toBe('healthy');
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
