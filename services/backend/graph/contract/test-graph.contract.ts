import { expect } from 'vitest';
import { type ErrorCode, SvcError } from '../../../contracts/errors.ts';
import { newId, type WorkspaceId } from '../../../contracts/ids.ts';
import type { Graph, NewNode, Node, Selection } from '../graph.ts';
import type { TypeName } from '../schema.ts';
import { type GraphAddress, openAt } from './graph-address.contract.ts';
import { roleNode, workspaceNode } from './sample-nodes.contract.ts';

/** An engine of the graph under the contract suite. */
export interface GraphEngine {
  readonly name: string;
  /** The address of a new, empty graph. */
  empty(): Promise<GraphAddress>;
}

/** A graph with two separate workspaces. */
export class TestGraph implements AsyncDisposable {
  readonly address: GraphAddress;
  readonly graph: Graph;
  readonly acme: WorkspaceId = newId('workspace');
  readonly globex: WorkspaceId = newId('workspace');

  private constructor(address: GraphAddress, graph: Graph) {
    this.address = address;
    this.graph = graph;
  }

  static async open(engine: GraphEngine): Promise<TestGraph> {
    const address = await engine.empty();
    const test = new TestGraph(address, await openAt(address));
    await test.add('workspace', workspaceNode({ id: test.acme, name: 'Acme' }));
    await test.add('workspace', workspaceNode({ id: test.globex, name: 'Globex' }));
    return test;
  }

  /** Adds each node in a separate transaction. */
  add<Type extends TypeName>(type: Type, node: NewNode<Type>): Promise<Node<Type>> {
    return this.graph.write((transaction) => transaction.create(type, node));
  }

  addRoles(workspace: WorkspaceId, names: readonly string[]): Promise<readonly Node<'role'>[]> {
    return this.graph.write((transaction) =>
      inTurn(names, (name) => transaction.create('role', roleNode(workspace, { name }))),
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.graph.close();
  }
}

/** All nodes of a selection, page by page. */
export async function allPages<Type extends TypeName>(
  graph: Pick<Graph, 'select'>,
  selection: Selection<Type>,
): Promise<Node<Type>[]> {
  let page = await graph.select(selection);
  const nodes = [...page.nodes];
  while (page.next !== null) {
    page = await graph.select({ ...selection, after: page.next });
    nodes.push(...page.nodes);
  }
  return nodes;
}

export async function inTurn<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  for (const item of items) results.push(await work(item));
  return results;
}

export async function expectRefusal(promise: Promise<unknown>, code: ErrorCode, message = /./): Promise<void> {
  const thrown: unknown = await promise.then(
    (value) => expect.fail(`was not refused: ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
  expect(thrown).toBeInstanceOf(SvcError);
  expect(thrown).toMatchObject({ code, message: expect.stringMatching(message) });
}

/** A value that the types forbid, to show that the graph also refuses it at run time. */
export const wrong = <Wanted>(value: unknown): Wanted => value as Wanted;

export const names = (nodes: readonly { readonly name: string | null }[]) => nodes.map(({ name }) => name);
export const ids = (nodes: readonly { readonly id: string }[]) => nodes.map(({ id }) => id);
