import { join } from 'node:path';
import type { EdgeRecord } from '../../../services/backend/graph/content.ts';
import { skillNode } from '../../../services/backend/graph/contract/sample-nodes.contract.ts';
import type { NodeRecord } from '../../../services/backend/graph/node-record.ts';
import { openGraphContent } from '../../../services/backend/graph/open-content.ts';
import { newId, type WorkspaceId } from '../../../services/contracts/ids.ts';
import type { Platform } from '../platform.ts';
import { startPlatform } from './bench-platform.ts';

const skillCount = 1000;
const recordCount = 100_000;
const hourMs = 3_600_000;

export const muchOfIt = `${skillCount.toLocaleString('en')} skills, ${recordCount.toLocaleString('en')} records`;

/** A running platform with the calls and changes of many hours. */
export async function startFilled(): Promise<Platform> {
  const { platform } = await startPlatform();
  await fillGraph(platform, async function* nodes({ workspace }) {
    for (let i = 0; i < skillCount; i++) {
      yield recordOf('skill', skillNode(workspace, { name: `measured ${i}`, description: 'What it does' }));
    }
    for (let i = 0; i < recordCount; i++) yield i % 2 === 0 ? usageOf(workspace, i) : activityOf(workspace, i);
  });
  return platform;
}

interface FilledPlace {
  readonly workspace: WorkspaceId;
  /** An MCP server in it. */
  readonly mcpServer: string;
}

/** Adds nodes to the graph of a platform, which is down meanwhile. Its tools belong to their MCP servers. */
export async function fillGraph(
  platform: Platform,
  nodesIn: (place: FilledPlace) => AsyncGenerator<NodeRecord>,
): Promise<void> {
  await platform.svc('down');
  const file = join(platform.installation.dataDir, 'graph.sqlite');
  const content = await openGraphContent({ engine: 'sqlite', file, readOnly: false });
  const firstOf = async (type: 'workspace' | 'mcpServer') =>
    (await content.nodes(type)[Symbol.asyncIterator]().next()).value.id;
  const tools: NodeRecord[] = [];
  async function* nodes(place: FilledPlace): AsyncGenerator<NodeRecord> {
    for await (const node of nodesIn(place)) {
      if (node.type === 'tool') tools.push(node);
      yield node;
    }
  }
  async function* servers(): AsyncGenerator<EdgeRecord> {
    for (const { id, values } of tools) yield { source: id, target: String(values.mcpServer) };
  }
  await content.addNodes(nodes({ workspace: await firstOf('workspace'), mcpServer: await firstOf('mcpServer') }));
  await content.addEdges('tool', 'server', servers());
  await content.finish();
  await content.close();
  await platform.up();
}

function usageOf(workspace: string, i: number): NodeRecord {
  const [key, tool, skill] = [`key ${i % 50}`, `tool ${i % 300}`, `skill ${i % skillCount}`];
  const hour = Math.floor(Date.now() / hourMs - (i % 500)) * hourMs;
  return recordOf('usage', {
    ...{ id: newId('usage'), workspace, hour, key, tool, skill, slot: `${hour} ${key} ${tool} ${skill} ${i}` },
    ...{ mcpServer: `mcp ${i % 20}`, calls: i, errors: 0, durationMs: 3 * i },
  });
}

function activityOf(workspace: string, i: number): NodeRecord {
  return recordOf('activity', {
    ...{ id: newId('activity'), workspace, at: Date.now() - i * 1000, actor: `user ${i % 20}`, actorName: 'Ada' },
    ...{ action: 'update', subject: `skill ${i % skillCount}`, subjectKind: 'skill', subjectName: 'measured' },
    changes: JSON.stringify({ description: ['before', 'after'] }),
  });
}

export function recordOf(type: string, node: Readonly<Record<string, unknown>>): NodeRecord {
  const { id, workspace, ...values } = node;
  return { type, id: String(id), version: 1, workspace, values } as NodeRecord;
}
