import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret } from '../../../../contracts/secret.ts';
import { type ContentEngine, contentContract, filled, using } from '../../content.contract.ts';
import { carryContent, readContent } from '../../content.ts';
import { openSqliteContent } from '../../sqlite/content.ts';
import { openDgraphContent } from '../content.ts';
import { findDgraph, TestCluster } from './test-cluster.ts';

const startMs = 90_000;
const folder = mkdtempSync(join(tmpdir(), 'svc-dgraph-'));

describe.skipIf(findDgraph() === null)('on a real cluster', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await TestCluster.start(folder);
  }, startMs);
  afterAll(async () => {
    await cluster?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const engine: ContentEngine = {
    name: 'Dgraph',
    empty: () => cluster.emptyGraph(),
    open: ({ url, user = '', password = '', namespace }) => {
      const { hostname, port } = new URL(url);
      const servers = [`${hostname}:${Number(port) + 1000}`];
      return openDgraphContent({ servers, tls: null, login: { user, password: new Secret(password) }, namespace });
    },
  };
  contentContract(engine);

  it('is the same in the other engine, on the way there and back', async () => {
    const [address, back] = [join(folder, 'there.sqlite'), join(folder, 'back.sqlite')];
    await filled({ url: `file:${address}` });
    const file = (path: string): ContentEngine => ({
      ...engine,
      open: async () => openSqliteContent({ file: path, readOnly: false }),
    });
    const there = await cluster.emptyGraph();
    await using(file(address), there, (source) => using(engine, there, (target) => carryContent(source, target)));
    await using(engine, there, (source) => using(file(back), there, (target) => carryContent(source, target)));
    const before = await using(file(address), there, readContent);
    expect(await using(engine, there, readContent)).toEqual(before);
    expect(await using(file(back), there, readContent)).toEqual(before);
  });
});
