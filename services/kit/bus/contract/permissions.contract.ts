import { describe, expect, it } from 'vitest';
import { allows, type Identity, permissionsOf } from '../../../contracts/bus/permissions.ts';
import { buckets, streams } from '../../../contracts/bus/subjects.ts';
import { newId, newProcessId, newSessionId } from '../../../contracts/ids.ts';
import type { Bus } from '../bus.ts';
import { type BusEngine, bytes, TestPlatform } from './test-platform.ts';

const kinds = ['backend', 'remote-mcp', 'runtime'] as const;
type Kind = (typeof kinds)[number];

const forbidden = expect.objectContaining({ code: 'forbidden' });

/**
 * Tries the permission table of contracts/bus/permissions: each identity with its own subjects and with those of
 * others.
 */
export function permissionsContract(engine: BusEngine): void {
  const subjectsOfAll = kinds.flatMap((kind) => {
    const { publish, subscribe } = permissionsOf(identityOf(kind));
    return [...publish, ...subscribe];
  });

  describe.each(kinds)('%s', (kind) => {
    it('publishes on its own subjects and on no other', async () => {
      await using platform = await TestPlatform.start(engine);
      const bus = await connect(platform, kind);
      const { publish } = permissionsOf(bus.identity);
      const said = { allowed: 0, refused: 0 };
      for (const subject of new Set([...publish, ...subjectsOfAll].map(concrete))) {
        const ask = bus.request(subject, bytes(''), { timeoutMs: 1000 }).then(
          () => 'answered',
          (error: unknown) => (forbidden.asymmetricMatch(error) ? 'forbidden' : 'unavailable'),
        );
        if (allows(publish, subject)) {
          expect(() => bus.publish(subject, bytes('')), subject).not.toThrow();
          expect(await ask, subject).toBe('unavailable');
          said.allowed++;
        } else {
          expect(() => bus.publish(subject, bytes('')), subject).toThrow(forbidden);
          expect(await ask, subject).toBe('forbidden');
          said.refused++;
        }
      }
      expect(said.allowed).toBeGreaterThanOrEqual(publish.length);
      expect(said.refused).toBeGreaterThan(0);
    });

    it('subscribes to its own subjects and to no other', async () => {
      await using platform = await TestPlatform.start(engine);
      const bus = await connect(platform, kind);
      const { subscribe } = permissionsOf(bus.identity);
      const heard = { allowed: 0, refused: 0 };
      for (const pattern of new Set([...subscribe, ...subjectsOfAll, ...subjectsOfAll.map(concrete)])) {
        const listen = () => bus.subscribe(pattern, () => undefined);
        const answer = () => bus.respond(pattern, async () => ({ payload: bytes(''), headers: {} }));
        if (allows(subscribe, pattern)) {
          expect(listen, pattern).not.toThrow();
          expect(answer, pattern).not.toThrow();
          heard.allowed++;
        } else {
          expect(listen, pattern).toThrow(forbidden);
          expect(answer, pattern).toThrow(forbidden);
          heard.refused++;
        }
      }
      expect(heard.allowed).toBeGreaterThanOrEqual(subscribe.length);
      expect(heard.refused).toBeGreaterThan(0);
    });

    it.each(['>', 'svc.>', '*.*.*', '_INBOX.>', '*.session.*', 'svc.session.>', 'svc.*.>', 'svc.runtime.*.*.call'])(
      'cannot subscribe to %s, which is wider than its permission',
      async (pattern) => {
        await using platform = await TestPlatform.start(engine);
        const bus = await connect(platform, kind);
        expect(() => bus.subscribe(pattern, () => undefined)).toThrow(forbidden);
      },
    );

    it('uses its own streams and buckets and no other', async () => {
      await using platform = await TestPlatform.start(engine);
      const bus = await connect(platform, kind);
      const may = permissionsOf(bus.identity);
      for (const name of [...Object.values(streams), 'other']) {
        const use = () => bus.stream(name);
        if (may.streams.includes(name)) expect(use).not.toThrow();
        else expect(use).toThrow(forbidden);
      }
      for (const name of [...Object.values(buckets), 'other']) {
        const use = () => bus.bucket(name, { maxAgeMs: 60_000 });
        if (may.buckets.includes(name)) expect(use).not.toThrow();
        else expect(use).toThrow(forbidden);
      }
    });

    it(`${kind === 'backend' ? 'decides' : 'does not decide'} who connects and stays connected`, async () => {
      await using platform = await TestPlatform.start(engine);
      const bus = await connect(platform, kind);
      const authorize = () => bus.authorize(platform.authorizer);
      const hear = () => bus.onGone(() => undefined);
      const disconnect = bus.disconnect(newId('runtime'));
      if (kind === 'backend') {
        expect(authorize).not.toThrow();
        expect(hear).not.toThrow();
        await disconnect;
      } else {
        expect(authorize).toThrow(forbidden);
        expect(hear).toThrow(forbidden);
        await expect(disconnect).rejects.toEqual(forbidden);
      }
    });
  });

  it('separate a runtime from the traffic of another, and from another process of its own', async () => {
    await using platform = await TestPlatform.start(engine);
    const [one, other] = [await platform.runtime(), await platform.runtime()];
    const sibling = await platform.runtime(one.runtime);
    for (const { runtime, process } of [other, sibling]) {
      expect(() => one.bus.subscribe(`svc.runtime.${runtime}.${process}.call`, () => undefined)).toThrow(forbidden);
      expect(() => one.bus.publish(`svc.heartbeat.${runtime}.${process}`, bytes(''))).toThrow(forbidden);
      expect(() => one.bus.publish(`svc.report.${runtime}.${process}`, bytes(''))).toThrow(forbidden);
    }
  });
}

function identityOf(kind: Kind): Identity {
  const process = newProcessId();
  if (kind !== 'runtime') return { kind, process };
  return { kind, process, runtime: newId('runtime'), name: 'test', workspace: null };
}

async function connect(platform: TestPlatform, kind: Kind): Promise<Bus> {
  if (kind === 'backend') return platform.backend;
  return kind === 'runtime' ? (await platform.runtime()).bus : platform.remoteMcp();
}

/** A subject that the pattern covers. */
function concrete(pattern: string): string {
  return pattern.replaceAll('*', () => newSessionId()).replace(/>$/, 'some.thing');
}
