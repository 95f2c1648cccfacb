import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { TestServer } from '../../../services/kit/bus/nats/test/server.ts';
import { answers, readReadiness } from '../../lifecycle/readiness.ts';
import { newBusSeed } from '../../secrets/bus-seeds.ts';
import { folderOfEachTest } from '../../test/folder-of-each-test.ts';
import { hasNatsServer } from '../../test/platform.ts';

describe.skipIf(!hasNatsServer)('a node of NATS', () => {
  const dir = folderOfEachTest();

  const seedFile = (seed: string) => {
    const file = join(dir(), 'system.seed');
    writeFileSync(file, `${seed}\n`);
    return file;
  };

  test('answers readiness at its client port, to the user of the system account alone', async () => {
    const server = await TestServer.start(dir());
    try {
      const check = (seed: string) => ({ kind: 'nats', url: server.url, seedFile: seedFile(seed) }) as const;
      const known = check(server.seeds.system.reveal());
      expect([await readReadiness(known), await answers(known)]).toEqual([{ ready: true }, true]);
      const unknown = check(newBusSeed('user'));
      const missing = expect.stringContaining(`${server.url} does not answer as a NATS server`);
      expect(await readReadiness(unknown)).toEqual({ ready: false, missing });
      await server.stop();
      expect(await readReadiness(unknown)).toEqual({ ready: false, missing: expect.stringContaining(server.url) });
      expect(await answers(unknown)).toBe(false);
    } finally {
      await server.stop();
    }
  });
});
