import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { planFor } from '../engines/plan-of.ts';
import { usualPorts } from '../settings/ports.ts';
import { definitionOf } from '../settings/test/definition-of.ts';
import { installationIn } from '../state/installation.ts';
import { answering } from '../test/answering.ts';
import { folderOfEachTest } from '../test/folder-of-each-test.ts';
import { walMetaOf } from '../test/made-up-node.ts';
import { founderOf, isMember, leaderMetric, metricsPath, waitForLeader } from './cluster-leader.ts';

const dir = folderOfEachTest();

test('the first coordination node founds the cluster that the others join, and no other part joins one', () => {
  const definition = definitionOf('topology: distributed\ngraph: dgraph\nreplicas: { dgraph-zero: 3 }\n');
  const { parts } = planFor(installationIn('/srv/svc'), definition, usualPorts);
  const joining = parts.flatMap((part) => {
    const founder = founderOf(part, parts);
    return founder === null ? [] : [[part.name, founder.name]];
  });
  expect(joining).toEqual([
    ['dgraph-zero-2', 'dgraph-zero'],
    ['dgraph-zero-3', 'dgraph-zero'],
  ]);
});

test('a node is a member once it has voted', () => {
  const file = join(dir(), 'wal.meta');
  expect(isMember(file)).toBe(false);
  writeFileSync(file, walMetaOf(1, 0));
  expect(isMember(file)).toBe(false);
  writeFileSync(file, walMetaOf(1, 6));
  expect(isMember(file)).toBe(true);
});

/** Starts a coordination node that answers each request with the next of these metrics. */
async function founderWith(metrics: readonly string[]): Promise<string> {
  let requestCount = 0;
  const url = await answering((request, response) => {
    response.statusCode = request.url === metricsPath ? 200 : 404;
    response.end(metrics[Math.min(requestCount++, metrics.length - 1)]);
  });
  return `${url}/health`;
}

const { signal } = new AbortController();
const withoutLeader = 'dgraph_raft_has_leader{group="0"} 0\n';

test('a founder that elects its leader late is waited for', async () => {
  const url = await founderWith(['', withoutLeader, `dgraph_raft_is_leader{group="0"} 1\n${leaderMetric}\n`]);
  await waitForLeader({ url, ca: '', timeoutMs: 10_000, signal });
});

test.each([
  ['without a leader', () => founderWith([withoutLeader])],
  ['that does not listen', async () => 'http://127.0.0.1:1/health'],
])('a founder %s is waited for only so long', async (_, urlOf) => {
  await expect(waitForLeader({ url: await urlOf(), ca: '', timeoutMs: 300, signal })).rejects.toMatchObject({
    code: 'timeout',
    message: 'its cluster had no leader within 0.3 s',
    hint: expect.stringContaining('svc logs dgraph-zero'),
  });
});

test('the wait ends with the command', async () => {
  const url = await founderWith([withoutLeader]);
  const waiting = waitForLeader({ url, ca: '', timeoutMs: 10_000, signal: AbortSignal.timeout(200) });
  await expect(waiting).rejects.toMatchObject({ name: expect.stringMatching(/Abort|Timeout/) });
});
