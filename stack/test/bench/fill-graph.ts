import { join } from 'node:path';
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
  await platform.svc('down');
  await fillGraph(join(platform.installation.dataDir, 'graph.sqlite'));
  await platform.up();
  return platform;
}

async function fillGraph(file: string): Promise<void> {
  const content = await openGraphContent({ engine: 'sqlite', file, readOnly: false });
  const { value } = await content.nodes('workspace')[Symbol.asyncIterator]().next();
  const workspace: WorkspaceId = value.id;
  async function* nodes(): AsyncGenerator<NodeRecord> {
    for (let i = 0; i < skillCount; i++) {
      yield recordOf('skill', skillNode(workspace, { name: `measured ${i}`, description: 'What it does' }));
    }
    for (let i = 0; i < recordCount; i++) yield i % 2 === 0 ? usageOf(workspace, i) : activityOf(workspace, i);
  }
  await content.addNodes(nodes());
  await content.finish();
  await content.close();
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

function recordOf(type: string, node: Readonly<Record<string, unknown>>): NodeRecord {
  const { id, workspace, ...values } = node;
  return { type, id: String(id), version: 1, workspace, values } as NodeRecord;
}
