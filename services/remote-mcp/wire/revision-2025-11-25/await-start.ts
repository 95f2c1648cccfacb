import type { Principal } from '../../../contracts/bus/messages.ts';
import { refuseSuspended } from '../../auth/refusals.ts';
import type { RemoteMcp } from '../../context.ts';
import type { Attempts } from '../../routing/attempts.ts';
import { resolveTool, type View } from '../../tools/view.ts';
import type { SessionRequest } from './session-request.ts';

interface WaitingCall {
  readonly view: View;
  readonly name: string;
  /** Null where it was not sent yet. */
  readonly attempts: Attempts | null;
  readonly signal: AbortSignal;
}

/** Clients give up after a minute by themselves: half of it, so that they are told what was waited for. */
const startWaitMaxMs = 30_000;

/**
 * A call that comes while an MCP server of its skill is being started, or has just lost its process, waits here, and nowhere else, until all of
 * them are Connected, one of them has failed, or the time is over. Returns what is true then, of the key too: it may have been revoked meanwhile.
 */
export async function awaitStart(
  { waits, principals }: Pick<RemoteMcp, 'waits' | 'principals'>,
  { exchange, session }: SessionRequest,
  { view, name, attempts, signal }: WaitingCall,
): Promise<{ readonly catalogue: View['catalogue']; readonly principal: Principal }> {
  const isSo = (catalogue: View['catalogue']) => resolveTool({ ...view, catalogue, session }, name).kind !== 'starting';
  const timeoutMs = Math.min(startWaitMaxMs, attempts?.silenceLeftMs ?? startWaitMaxMs);
  const catalogue = await waits.until({ present: view.catalogue, isSo, timeoutMs, signal });
  const principal = await principals.authenticate(exchange.request.headers.authorization);
  refuseSuspended(principal);
  signal.throwIfAborted();
  return { catalogue, principal };
}
