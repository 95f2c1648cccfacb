import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { skillNode } from '../../../services/backend/graph/contract/sample-nodes.contract.ts';
import { findDgraph } from '../../../services/backend/graph/dgraph/test/test-cluster.ts';
import type { NodeRecord } from '../../../services/backend/graph/node-record.ts';
import { openGraphContent } from '../../../services/backend/graph/open-content.ts';
import { newId, type WorkspaceId } from '../../../services/contracts/ids.ts';
import { atMost, type Figure, reported } from './figure.ts';
import { recordOf } from './graph.ts';
import { startPlatform } from './platform.ts';
import { svc } from './processes.ts';

const skillCount = 1000;
const recordCount = 100_000;
const moveMaxS = 60;
const hourMs = 3_600_000;

/** How long a whole `svc move` takes of a platform that runs and holds much, to each side and back. */
export async function measureMove(): Promise<Figure[]> {
  const { dir, remove } = await startPlatform();
  try {
    await svc(dir, 'down');
    await fill(join(dir, 'data', 'graph.sqlite'));
    await svc(dir, 'up');
    const sides = [
      ['several processes', '--to', 'distributed'],
      ...(findDgraph() === null
        ? []
        : [
            ['Dgraph', '--graph', 'dgraph'],
            ['SQLite again', '--graph', 'sqlite'],
          ]),
    ] as const;
    if (sides.length === 1) process.stderr.write('without dgraph on the path, no move to it is measured\n');
    const figures: Figure[] = [];
    for (const [name, ...flags] of sides) figures.push(...(await measureOne(dir, name, flags)));
    return figures;
  } finally {
    await remove();
    await rm(dir, { recursive: true, force: true });
  }
}

async function measureOne(dir: string, name: string, flags: readonly string[]): Promise<Figure[]> {
  const what = `svc move of ${skillCount.toLocaleString('en')} skills, ${recordCount.toLocaleString('en')} records: to ${name}`;
  const moved = await secondsOf(() => svc(dir, 'move', ...flags, '--yes'));
  const confirmed = await secondsOf(() => svc(dir, 'move', '--confirm'));
  return [atMost(what, moved, moveMaxS, 's'), reported(`svc move --confirm, from there`, confirmed, 's')];
}

/** Calls and changes of many hours, in the workspace that is there. */
async function fill(file: string): Promise<void> {
  const content = await openGraphContent({ engine: 'sqlite', file, readOnly: false });
  const workspaces = content.nodes('workspace')[Symbol.asyncIterator]();
  const { value } = await workspaces.next();
  const workspace = value.id as WorkspaceId;
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

async function secondsOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return (performance.now() - start) / 1000;
}
