import { SvcError } from '../../contracts/errors.ts';
import { parseId, type WorkspaceId } from '../../contracts/ids.ts';
import type { Anchor, Graph, Node } from './graph.ts';
import { idKindOf } from './schema.ts';

const words = { workspace: 'workspace', role: 'role', skill: 'skill', mcpServer: 'MCP server' } as const;
type NamedType = keyof typeof words;

/** The node with an id from a request. A node of another workspace counts as missing. */
export async function getNode<Type extends NamedType>(
  graph: Pick<Graph, 'find'>,
  type: Type,
  id: string,
  anchor: Anchor<Type>,
): Promise<Node<Type>> {
  const node = await graph.find(type, parseId(idKindOf[type], id), anchor);
  if (node === null) throw noSuchNode(type, id);
  return node;
}

export function noSuchNode(type: NamedType, id: string): SvcError {
  return new SvcError('not_found', `There is no ${words[type]} "${id}".`);
}

/** A name is unique within its type and workspace. */
export async function requireFreeName(
  graph: Pick<Graph, 'findBy'>,
  type: Exclude<NamedType, 'workspace'>,
  name: string,
  workspace: WorkspaceId,
): Promise<void> {
  if ((await graph.findBy(type, { name }, workspace)) !== null) throw nameTaken(type, name);
}

export function nameTaken(type: NamedType, name: string): SvcError {
  return new SvcError('conflict', `Another ${words[type]} is named "${name}" already.`, {
    hint: hintsOfTaken[type],
  });
}

const hintsOfTaken: Readonly<Record<NamedType, string>> = {
  workspace: 'Choose another name.',
  role: 'Choose another name, or change that one: svc role update NAME',
  skill: 'Choose another name, or change that one: svc skill update NAME',
  mcpServer: 'Choose another name, or change that one: svc server update NAME',
};

export function tooMany(of: string, max: number, options: { readonly hint?: string } = {}): SvcError {
  return new SvcError('too_large', `There may be at most ${max} ${of}.`, options);
}
