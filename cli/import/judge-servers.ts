import { nearest } from '../../services/contracts/did-you-mean.ts';
import { SvcError } from '../../services/contracts/errors.ts';
import type { FoundServer } from './sources.ts';

/** What happens with a found MCP server before anybody is asked. */
export type Judged =
  | { readonly kind: 'new'; readonly name: string; readonly found: FoundServer }
  | { readonly kind: 'replaces'; readonly name: string; readonly found: FoundServer; readonly existing: Existing }
  | {
      readonly kind: 'skipped' | 'refused';
      readonly name: string;
      readonly found: FoundServer;
      readonly reason: string;
    };

export interface Existing {
  readonly id: string;
  readonly name: string;
  readonly version: number;
}

export interface Judgement {
  /** Names of --only; empty: all. */
  readonly only: readonly string[];
  readonly replaces: boolean;
  readonly existing: readonly Existing[];
  /** The platform's own addresses for agents. */
  readonly ownUrls: readonly string[];
}

export function judgeServers(servers: readonly FoundServer[], judgement: Judgement): readonly Judged[] {
  const judged = chosenServers(servers, judgement.only).map((found) => judge(found, judgement));
  return judged.map((one, at) =>
    judged.findIndex(({ name }) => name === one.name) === at
      ? one
      : {
          kind: 'refused',
          name: one.name,
          found: one.found,
          reason: `another one of the file is named "${one.name}" too`,
        },
  );
}

/** Those that a person named, or all. */
export function chosenServers(servers: readonly FoundServer[], only: readonly string[]): readonly FoundServer[] {
  for (const wanted of only) {
    if (servers.some(({ name }) => name === wanted)) continue;
    const names = servers.map(({ name }) => name);
    const meant = nearest(wanted, names);
    throw new SvcError('not_found', `The file names no MCP server "${wanted}".`, {
      hint: meant === null ? `There are: ${names.slice(0, 20).join(', ')}.` : `Did you mean "${meant}"?`,
    });
  }
  return servers.filter(({ name }) => only.length === 0 || only.includes(name));
}

function judge(found: FoundServer, { only, replaces, existing, ownUrls }: Judgement): Judged {
  const name = nameFor(found.name);
  const outcome = (kind: 'skipped' | 'refused', reason: string): Judged => ({ kind, name, found, reason });
  const entry = JSON.stringify(found.entry);
  if (ownUrls.some((url) => entry.includes(JSON.stringify(url).slice(1, -1)))) {
    return outcome('skipped', 'it is this platform');
  }
  if (found.disabled && only.length === 0) return outcome('skipped', 'it is disabled in the file');
  if (found.entry.kind === 'unreadable') return outcome('refused', found.entry.problem);
  if (name === '') return outcome('refused', 'its name has no letter that an MCP server may have');
  const same = existing.find((other) => other.name === name);
  if (same === undefined) return { kind: 'new', name, found };
  if (replaces) return { kind: 'replaces', name, found, existing: same };
  return outcome('skipped', 'one of this name exists already; --replace changes it');
}

/** The name in the form that an MCP server may have here, which is a part of the names of its tools. */
function nameFor(name: string): string {
  return name
    .replace(/[^A-Za-z0-9_-]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 32);
}
