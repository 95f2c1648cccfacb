import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { McpServerId, WorkspaceId } from '../../contracts/ids.ts';
import { LineAllowance } from './line-allowance.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const of = (mcpServer: string, workspace: string) => ({
  mcpServer: mcpServer as McpServerId,
  workspace: workspace as WorkspaceId,
});
const a = of('a', 'one');
const b = of('b', 'one');
const c = of('c', 'other');

it('gives each MCP server its lines a minute, then says once that there are more', () => {
  const allowance = new LineAllowance({ linesMax: 2 });
  expect([a, a, a, a, c].map((order) => allowance.take(order))).toEqual(['write', 'write', 'over', 'silent', 'write']);
  vi.advanceTimersByTime(60_000);
  expect(allowance.take(a)).toBe('write');
});

it('lets the MCP servers of a workspace share its lines, and leaves those of others alone', () => {
  const allowance = new LineAllowance({ linesMax: 2, linesOfWorkspaceMax: 3 });
  expect([a, a, b, b, b].map((order) => allowance.take(order))).toEqual(['write', 'write', 'write', 'over', 'silent']);
  expect(allowance.take(c)).toBe('write');
});

it('says once that a workspace has no room, however many MCP servers it has', () => {
  const allowance = new LineAllowance({ linesMax: 1, linesOfWorkspaceMax: 2 });
  const taken = Array.from({ length: 1000 }, (_, i) => allowance.take(of(`server ${i}`, 'one')));
  expect(taken.filter((one) => one !== 'silent')).toEqual(['write', 'write', 'over']);
});
