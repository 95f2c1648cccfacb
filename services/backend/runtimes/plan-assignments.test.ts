import { expect, test } from 'vitest';
import { assignmentsMax } from '../../contracts/bus/messages.ts';
import { newId, type WorkspaceId } from '../../contracts/ids.ts';
import { mcpServersMax } from '../../contracts/workspace-limits.ts';
import {
  assignmentsMaxBytes,
  type Candidate,
  entryBytes,
  planAssignments,
  workspaceMaxBytes,
} from './plan-assignments.ts';

const mebibyte = 1024 * 1024;

function candidates(count: number, bytes: number, workspace = newId('workspace')): readonly Candidate[] {
  return Array.from({ length: count }, () => ({ id: newId('mcpServer'), workspace, bytes }));
}

const workspaces = (count: number, each: () => readonly Candidate[]) => Array.from({ length: count }, each).flat();

/** How many of them are granted their launch. */
function grantedOf(plan: ReadonlyMap<string, number>, own: readonly Candidate[]): number {
  return own.filter(({ id, bytes }) => bytes <= (plan.get(id) ?? 0)).length;
}

function expectWithinBounds(plan: ReadonlyMap<string, number>): void {
  expect([...plan.values()].reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(assignmentsMaxBytes);
  expect(plan.size).toBeLessThanOrEqual(assignmentsMax);
}

test('a workspace with the most and largest launches takes nothing from the others', () => {
  const hostile = candidates(mcpServersMax, 64 * 1024);
  const others = workspaces(50, () => [...candidates(20, 700), ...candidates(5, 8000)]);
  const plan = planAssignments([...hostile, ...others]);
  expect(grantedOf(plan, others)).toBe(others.length);
  expect(grantedOf(plan, hostile)).toBe(Math.floor(workspaceMaxBytes / (63 * 1024)));
  expect(plan.size).toBe(hostile.length + others.length);
  expectWithinBounds(plan);
});

test('four launches of 3.5 MiB that were stored before the limit leave room for another workspace', () => {
  const hostile = candidates(4, 3.5 * mebibyte);
  const other = candidates(100, 10_000);
  const plan = planAssignments([...hostile, ...other]);
  expect([grantedOf(plan, hostile), grantedOf(plan, other)]).toEqual([0, 100]);
  expectWithinBounds(plan);
});

test("small launches arrive however many others there are, up to a runtime's limit", () => {
  const hostile = workspaces(9, () => candidates(mcpServersMax, 64 * 1024));
  const small = candidates(mcpServersMax, entryBytes);
  const plan = planAssignments([...hostile, ...small]);
  expect(grantedOf(plan, small)).toBe(small.length);
  expectWithinBounds(plan);
});

test("beyond a runtime's limit, the newest MCP servers of the largest workspaces are left out", () => {
  const hostile = candidates(20_000, 400);
  const others = workspaces(300, () => candidates(10, 400));
  const plan = planAssignments([...hostile, ...others]);
  expect(others.every(({ id }) => plan.has(id))).toBe(true);
  expect(hostile.filter(({ id }) => plan.has(id))).toEqual(hostile.slice(0, assignmentsMax - others.length));
  expectWithinBounds(plan);
});

test('the oldest of a workspace come first, and smaller ones fill the rest', () => {
  const workspace: WorkspaceId = newId('workspace');
  const [first, second] = [candidates(1, 1.5 * mebibyte, workspace), candidates(1, mebibyte, workspace)];
  const third = candidates(1, 0.5 * mebibyte, workspace);
  const plan = planAssignments([...first, ...second, ...third]);
  expect([first, second, third].map((own) => grantedOf(plan, own))).toEqual([1, 0, 1]);
});

test('is the same for the same MCP servers', () => {
  const all = workspaces(7, () => candidates(300, 20_000));
  expect([...planAssignments(all)]).toEqual([...planAssignments(all)]);
});

test('workspaces with too large demands get equal shares', () => {
  const all = Array.from({ length: 40 }, () => candidates(100, 64 * 1024));
  const plan = planAssignments(all.flat());
  const granted = all.map((own) => grantedOf(plan, own));
  expect(new Set(granted).size).toBe(1);
  expect(granted[0]).toBeGreaterThan(0);
  expectWithinBounds(plan);
});
