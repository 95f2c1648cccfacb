import { beginMoment, Cluster, type ClusterOptions } from './cluster.ts';
import { Dql } from './dql.ts';
import { allOf } from './quads.ts';
import { ledger, storedTypes } from './storage.ts';
import { listIn } from './stored-node.ts';

/** Nodes that lose their type in one transaction. */
const nodesAtOnce = 5000;
/** A large request on a busy machine. */
const requestMs = 60_000;

const ledgerType = 'svc.ledger';
const ownTypes = [...storedTypes().map(({ name }) => name), ledgerType];

export async function isEmptyCluster(options: ClusterOptions): Promise<boolean> {
  return withCluster(options, async (cluster) => {
    const found = await cluster.ask(
      new Dql(),
      ownTypes.map((type, index) => `q${index}(func: type(${type}), first: 1) { uid }`),
      null,
    );
    return Object.values(found).every((nodes) => listIn(nodes).length === 0);
  });
}

/**
 * Removes the platform's data. Other programs may use `dgraph.type`, so it is removed node by node; predicates are
 * dropped whole.
 */
export async function emptyCluster(options: ClusterOptions): Promise<void> {
  await withCluster(options, async (cluster) => {
    for (const type of ownTypes) await untype(cluster, type);
    for (const { name, predicates } of storedTypes()) {
      for (const predicate of predicates.keys()) await cluster.drop('ATTR', predicate);
      await cluster.drop('TYPE', name);
    }
    for (const predicate of Object.values(ledger)) await cluster.drop('ATTR', predicate);
    await cluster.drop('TYPE', ledgerType);
  });
}

async function untype(cluster: Cluster, type: string): Promise<void> {
  for (;;) {
    const { q } = await cluster.ask(new Dql(), [`q(func: type(${type}), first: ${nodesAtOnce}) { uid }`], null);
    const remove = listIn(q).map(({ uid }) => allOf(String(uid), 'dgraph.type'));
    if (remove.length === 0) return;
    await cluster.commit(beginMoment(), [{ set: [], remove }]);
  }
}

async function withCluster<Result>(
  options: ClusterOptions,
  work: (cluster: Cluster) => Promise<Result>,
): Promise<Result> {
  const cluster = new Cluster({ requestMs, ...options });
  try {
    return await work(cluster);
  } finally {
    cluster.close();
  }
}
