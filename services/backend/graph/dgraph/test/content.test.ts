import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type ContentEngine, contentContract, filled, using } from '../../content.contract.ts';
import { carryContent, readContent } from '../../content.ts';
import { openSqliteContent } from '../../sqlite/content.ts';
import { openDgraphContent } from '../content.ts';
import { describeOnCluster } from './describe-on-cluster.ts';
import { TestCluster } from './test-cluster.ts';

describeOnCluster((cluster) => {
  const engine: ContentEngine = {
    name: 'Dgraph',
    empty: () => cluster().emptyGraph(),
    open: (address) => openDgraphContent(TestCluster.optionsFor(address)),
  };
  contentContract(engine);

  it('is the same in the other engine, on the way there and back', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'svc-content-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const [address, back] = [join(folder, 'there.sqlite'), join(folder, 'back.sqlite')];
    await filled({ url: `file:${address}` });
    const file = (path: string): ContentEngine => ({
      ...engine,
      open: async () => openSqliteContent({ file: path, readOnly: false }),
    });
    const there = await cluster().emptyGraph();
    await using(file(address), there, (source) => using(engine, there, (target) => carryContent(source, target)));
    await using(engine, there, (source) => using(file(back), there, (target) => carryContent(source, target)));
    const before = await using(file(address), there, readContent);
    expect(await using(engine, there, readContent)).toEqual(before);
    expect(await using(file(back), there, readContent)).toEqual(before);
  });
});
