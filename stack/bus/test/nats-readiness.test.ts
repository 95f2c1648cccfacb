import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { TestServer } from '../../../services/kit/bus/nats/test/server.ts';
import { answers, readReadiness } from '../../lifecycle/readiness.ts';
import { newBusSeed } from '../../secrets/bus-seeds.ts';
import { folderOfEachTest } from '../../test/folder-of-each-test.ts';
import { hasNatsServer } from '../../test/platform.ts';

const dir = folderOfEachTest();

test.skipIf(!hasNatsServer)('on a real server the user of the system account alone learns the readiness', async () => {
  const server = await TestServer.start(dir());
  const check = (seed: string) => {
    const seedFile = join(dir(), 'system.seed');
    writeFileSync(seedFile, `${seed}\n`);
    return { kind: 'nats', url: server.url, seedFile } as const;
  };
  try {
    const known = check(server.seeds.system.reveal());
    expect([await readReadiness(known), await answers(known)]).toEqual([{ ready: true }, true]);
    const unknown = check(newBusSeed('user'));
    const missing = expect.stringContaining(`${server.url} does not answer as a NATS server`);
    expect(await readReadiness(unknown)).toEqual({ ready: false, missing });
    await server.stop();
    expect([await readReadiness(unknown), await answers(unknown)]).toEqual([{ ready: false, missing }, false]);
  } finally {
    await server.stop();
  }
});
