import { expect, it } from 'vitest';
import { newId } from '../../../contracts/ids.ts';
import type { Node } from '../graph.ts';
import { roleNode, skillNode } from './sample-nodes.contract.ts';
import { type GraphEngine, inTurn, TestGraph } from './test-graph.contract.ts';

const small = 1000;
const large = 100_000;
/** A look-up that reads all nodes would take about a hundred times as long. */
const ratioMax = 3;
/** Measurements of each look-up. The two sizes alternate, so that a busy machine slows both. */
const rounds = 60;
/** A cluster takes a second to store a thousand nodes. */
const fillMs = 600_000;

export function scaleContract(engine: GraphEngine): void {
  it(
    'are looked up as fast as 1,000',
    async () => {
      await using few = await TestGraph.open(engine);
      await using many = await TestGraph.open(engine);
      const [inFew, inMany] = [await fill(few, small), await fill(many, large)];
      const lookUps: Record<string, (test: TestGraph, role: Node<'role'>) => Promise<number>> = {
        'by id': async ({ graph, acme }, { id }) => Number((await graph.find('role', id, acme)) !== null),
        'by unique field': async ({ graph, acme }, { name }) =>
          Number((await graph.findBy('role', { name }, acme)) !== null),
        'by condition': ({ graph, acme }, { name }) =>
          size(graph.select({ type: 'role', anchor: acme, where: [{ field: 'name', equals: name }], limit: 10 })),
        'a page in the middle': ({ graph, acme }, { name }) =>
          size(
            graph.select({
              type: 'role',
              anchor: acme,
              where: [{ field: 'name', prefix: name.slice(0, 8) }],
              orderBy: 'name',
              limit: 10,
            }),
          ),
        'an ordered page of nodes with a common value': ({ graph, acme }) =>
          size(graph.select({ type: 'role', anchor: acme, orderBy: 'createdAt', descending: true, limit: 10 })),
        'by a rare word': ({ graph, acme }, { name }) =>
          size(graph.select({ type: 'role', anchor: acme, search: name, limit: 10 })),
        'by a word that all have': ({ graph, acme }) =>
          size(graph.select({ type: 'role', anchor: acme, search: 'rol', orderBy: 'name', limit: 10 })),
        'by edge': async ({ graph, acme }, { id }) =>
          (await graph.follow({ from: 'role', edge: 'skills' }, [id], { anchor: acme, limitEach: 10 })).size,
        'a write': ({ graph, acme }, { id }) =>
          graph.write(async (transaction) => {
            await transaction.update('role', id, { enabled: false }, { anchor: acme });
            return 1;
          }),
      };
      const ratios: Record<string, number> = {};
      for (const [what, lookUp] of Object.entries(lookUps)) {
        const times: { few: number[]; many: number[] } = { few: [], many: [] };
        for (let round = 0; round < rounds; round++) {
          times.few.push(await timeOf(() => lookUp(few, at(inFew, round))));
          times.many.push(await timeOf(() => lookUp(many, at(inMany, round))));
        }
        ratios[what] = median(times.many) / median(times.few);
      }
      for (const [what, ratio] of Object.entries(ratios))
        expect(ratio, `${what}: ${JSON.stringify(ratios)}`).toBeLessThan(ratioMax);
    },
    fillMs,
  );
}

/** Roles spread over all stored nodes, each with an edge to the same skill. */
async function fill(test: TestGraph, count: number): Promise<readonly Node<'role'>[]> {
  const skill = await test.add('skill', skillNode(test.acme));
  const picked: Node<'role'>[] = [];
  const batch = 1000;
  for (let start = 0; start < count; start += batch) {
    await test.graph.write(async (transaction) => {
      const roles = await inTurn([...Array(batch).keys()], (i) => {
        const number = String(start + i).padStart(6, '0');
        return transaction.create(
          'role',
          roleNode(test.acme, {
            id: newId('role', start + i),
            name: `role${number}`,
            description: 'role',
            createdAt: (start + i) % 7,
          }),
        );
      });
      const role = roles[start % 997];
      if (role === undefined) return;
      await transaction.link({ from: 'role', edge: 'skills' }, role.id, [skill.id]);
      picked.push(role);
    });
  }
  return picked;
}

async function size(page: Promise<{ readonly nodes: readonly unknown[] }>): Promise<number> {
  return (await page).nodes.length;
}

/** A look-up without a result is fast at any size, so each must find something. */
async function timeOf(lookUp: () => Promise<number>): Promise<number> {
  const started = performance.now();
  expect(await lookUp()).toBeGreaterThan(0);
  return performance.now() - started;
}

function at<Item>(items: readonly Item[], round: number): Item {
  return items[round % items.length] ?? expect.fail();
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? expect.fail();
}
