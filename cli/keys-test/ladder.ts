import type { Secret } from '../../services/contracts/secret.ts';
import { authenticate, endSession, listSkills, listTools, openStream, ping, shakeHands } from './ask-mcp.ts';
import { type Cause, causeOf } from './causes.ts';
import { askHealth, openTcp, openTls, readText, resolveName } from './reach.ts';
import { type Climber, elapsedMs, failed, type Mark, type RungTest, type Verdict } from './rung.ts';

export interface Rung {
  readonly name: string;
  readonly ok: boolean;
  readonly mark: Mark;
  readonly ms: number;
  readonly detail: string;
}

export interface LadderResult {
  /** No rung broke. */
  readonly ok: boolean;
  /** Facts about the key itself, also if a later rung failed. */
  readonly verdict: Verdict;
  /** HTTP status of the answer to the key; 0 if it was never sent. */
  readonly status: number;
  readonly latencyMs: number;
  readonly rungs: readonly Rung[];
  readonly cause: Cause | null;
}

export interface LadderOptions {
  readonly url: URL;
  readonly key: Secret;
  /** The address is for keys alone, so it must show no address of OAuth. */
  readonly isForKeys?: boolean;
  readonly onRung?: (rung: Rung) => void;
}

/** From the text of the key, through the host name, to the skills. */
const rungTests: readonly RungTest[] = [
  { name: 'key', climb: readText },
  { name: 'name resolution', climb: resolveName },
  { name: 'TCP', climb: openTcp },
  { name: 'TLS', climb: openTls },
  { name: '/health', climb: askHealth },
  { name: 'authentication', climb: authenticate },
  { name: 'MCP handshake', climb: shakeHands },
  { name: 'streaming', climb: openStream },
  { name: 'ping', climb: ping },
  { name: 'tools', climb: listTools },
  { name: 'skills', climb: listSkills },
];

/** Climbs to the top and stops at the first rung that breaks, which is the reason why the key does not work. */
export async function climb(options: LadderOptions): Promise<LadderResult> {
  const climber: Climber = { isForKeys: false, ...options, session: null, status: 0, pingMs: 0, verdict: 'untested' };
  const rungs: Rung[] = [];
  let cause: Cause | null = null;
  for (const test of rungTests) {
    const start = performance.now();
    const outcome = await test.climb(climber).catch((error: unknown) => failed(causeOf(error, options.url)));
    if (outcome === null) continue;
    const rung = {
      name: test.name,
      ok: outcome.cause === null,
      mark: outcome.mark,
      ms: elapsedMs(start),
      detail: outcome.detail,
    };
    rungs.push(rung);
    options.onRung?.(rung);
    cause = outcome.cause;
    if (cause !== null) break;
  }
  if (climber.session !== null) await endSession(climber);
  const { verdict, status, pingMs } = climber;
  return { ok: cause === null, verdict, status, latencyMs: pingMs, rungs, cause };
}
