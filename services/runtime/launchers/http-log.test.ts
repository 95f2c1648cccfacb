import { expect, test } from 'vitest';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import { createLog } from '../../kit/log.ts';
import { HttpLog } from './http-log.ts';
import type { LaunchOrder } from './launch.ts';

const listener = { message: () => true, lost: () => {}, garbage: () => {}, renewed: () => {}, ended: () => {} };

function orderOf(workspace: WorkspaceId, name: string): LaunchOrder<'http'> {
  const launch = { kind: 'http', url: 'http://x.example/', headers: {} } as const;
  return { mcpServer: newId('mcpServer'), workspace, name, setBy: 'member', launch, listener };
}

test('MCP servers of one workspace leave log lines for those of other workspaces', () => {
  const lines: { readonly mcpServerName: string }[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const log = new HttpLog(createLog({ service: 'test', level: 'info', destination })('launchers'));
  const hostile = newId('workspace');
  for (let n = 0; n < 1000; n++) log.answered(orderOf(hostile, `hostile-${n}`), { status: 500, said: 'no' });
  expect(lines).toHaveLength(100);
  log.refused(orderOf(newId('workspace'), 'other'), new Error('refused'));
  expect(lines.at(-1)).toMatchObject({ mcpServerName: 'other' });
});
