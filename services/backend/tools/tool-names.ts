import { createHash } from 'node:crypto';
import { isConstantTool } from '../../contracts/constant-tools.ts';
import type { McpServerId } from '../../contracts/ids.ts';

/** Allowed tool names for agents: the strictest rule of all agents. */
export const toolNamePattern = /^[a-zA-Z0-9_-]{1,64}$/;
const lengthMax = 64;
const hashLength = 8;
/** More than one name with a hash is needed only against names chosen to collide. */
const hashedMax = 100;

export interface NamedTool {
  readonly mcpServer: McpServerId;
  readonly mcpServerName: string;
  readonly originalName: string;
}

/**
 * Candidates for a tool's name, the best first: its own, SERVER_TOOL, then with a distinguishing hash. The first free
 * one is taken.
 */
export function* candidateNames({ mcpServer, mcpServerName, originalName }: NamedTool): Generator<string, void> {
  const own = allowed(originalName);
  const full = `${allowed(mcpServerName)}_${own}`;
  for (const name of [own, full]) {
    const cut = name.length > lengthMax ? hashed(name, [originalName]) : name;
    if (!isConstantTool(cut)) yield cut;
  }
  for (let i = 0; i < hashedMax; i++) yield hashed(full, [mcpServer, originalName, String(i)]);
}

function allowed(name: string): string {
  return name.replace(/[^a-zA-Z0-9_-]/g, '_');
}

function hashed(name: string, told: readonly string[]): string {
  const hash = createHash('sha256').update(told.join('\0')).digest('hex').slice(0, hashLength);
  return `${name.slice(0, lengthMax - hashLength - 1)}_${hash}`;
}
