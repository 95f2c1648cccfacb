import { describe } from 'vitest';
import { conditionsContract } from './contract/conditions.contract.ts';
import { crashContract } from './contract/crash.contract.ts';
import { edgesContract } from './contract/edges.contract.ts';
import { isolationContract } from './contract/isolation.contract.ts';
import { pagingContract } from './contract/paging.contract.ts';
import { scaleContract } from './contract/scale.contract.ts';
import { searchContract } from './contract/search.contract.ts';
import type { GraphEngine } from './contract/test-graph.contract.ts';
import { transactionsContract } from './contract/transactions.contract.ts';
import { uniquenessContract } from './contract/uniqueness.contract.ts';
import { valuesContract } from './contract/values.contract.ts';

/** The contract of every engine of the graph. No row requires more than Dgraph can do. */
export function graphContract(engine: GraphEngine): void {
  describe(`the graph (${engine.name})`, () => {
    describe('values', () => valuesContract(engine));
    describe('uniqueness', () => uniquenessContract(engine));
    describe('edges', () => edgesContract(engine));
    describe('paging', () => pagingContract(engine));
    describe('conditions', () => conditionsContract(engine));
    describe('search', () => searchContract(engine));
    describe('transactions', () => transactionsContract(engine));
    describe('isolation', () => isolationContract(engine));
    describe('100,000 nodes', () => scaleContract(engine));
    describe('a crash', () => crashContract(engine));
  });
}
