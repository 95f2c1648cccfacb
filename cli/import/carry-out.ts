import { SvcError } from '../../services/contracts/errors.ts';
import { oneLine } from '../../services/contracts/one-line.ts';
import { everyPage } from '../../stack/client/every-page.ts';
import {
  createMcpServerMutation,
  liveMcpServersQuery,
  updateMcpServerMutation,
} from '../../stack/client/generated/operations.ts';
import { share } from '../launch/share.ts';
import type { Tenancy } from '../objects/platform.ts';
import { table } from '../output/table.ts';
import type { Terminal } from '../output/terminal.ts';
import type { Existing, Judged } from './judge-servers.ts';
import { launchOf } from './launch-of.ts';
import type { FoundServer } from './sources.ts';

/** What a person agreed to, and what they did not. */
export type Agreed = Judged | { readonly kind: 'declined'; readonly name: string; readonly found: FoundServer };

export interface Imported {
  readonly action: 'created' | 'updated' | 'skipped' | 'declined' | 'refused';
  readonly name: string;
  readonly found: FoundServer;
  readonly id: string | null;
  readonly reason?: string;
  /** Somebody else changed or added it meanwhile. */
  readonly isConflict?: boolean;
}

export interface CarryingOut {
  readonly tenancy: Tenancy;
  readonly runtime: string | null;
  /** Agents may use all tools of those that are created. */
  readonly shares: boolean;
  readonly values: Parameters<typeof launchOf>[1];
}

export function existingServers({ backend, workspace }: Tenancy): Promise<readonly Existing[]> {
  return everyPage(
    async (page) =>
      (await backend.send(liveMcpServersQuery, { workspace: workspace.id, ...page })).workspace?.mcpServers,
  );
}

/** Creates or changes one MCP server. A failure concerns this one, and the others are added. */
export async function carryOut(one: Agreed, carryingOut: CarryingOut): Promise<Imported> {
  const { name, found } = one;
  if (one.kind !== 'new' && one.kind !== 'replaces') return { ...one, action: one.kind, id: null };
  try {
    return await send(one, carryingOut);
  } catch (error) {
    if (!(error instanceof SvcError) || error.code === 'cancelled') throw error;
    const reason = [error.message, error.hint].filter((text) => text !== undefined).join(' ');
    return { action: 'refused', name, found, id: null, reason, isConflict: error.code === 'conflict' };
  }
}

async function send(
  { name, found, ...one }: Extract<Judged, { kind: 'new' | 'replaces' }>,
  { tenancy, runtime, shares, values }: CarryingOut,
): Promise<Imported> {
  const { backend, workspace } = tenancy;
  const { entry } = found;
  if (entry.kind === 'unreadable') return { action: 'refused', name, found, id: null, reason: entry.problem };
  const launch = launchOf({ ...found, entry }, values);
  if (one.kind === 'replaces') {
    const { id, version } = one.existing;
    const input = { launch, ifVersion: version, ...(runtime === null ? {} : { runtime }) };
    await backend.send(updateMcpServerMutation, { workspace: workspace.id, id, input });
    return { action: 'updated', name, found, id };
  }
  const input = { name, launch, runtime };
  const { id } = (await backend.send(createMcpServerMutation, { workspace: workspace.id, input })).createMcpServer;
  if (shares) await share(tenancy, name);
  return { action: 'created', name, found, id };
}

/** The `mcpServers` of the JSON document. */
export function importedForm(imported: readonly Imported[]) {
  return imported.map(({ action, name, found, id, reason = null }) => ({
    ...{ id, name, action, reason },
    ...{ nameInFile: found.name, file: found.file, ignored: found.ignored },
  }));
}

const colours = { created: 'green', updated: 'green', skipped: 'grey', declined: 'grey', refused: 'red' } as const;

export function describeImported(imported: readonly Imported[], { paint, columns }: Terminal): string {
  const rows = imported.map(({ action, name, reason = '' }) => [name, paint(colours[action], action), oneLine(reason)]);
  return table(['NAME', 'RESULT', ''], rows, columns);
}
