import { refuseSuspended } from '../auth/refusals.ts';
import { resolveTool } from '../tools/view.ts';
import type { Call, CallParts, CallView } from './call.ts';

interface WaitingCall {
  readonly view: CallView;
  readonly name: string;
  /** The silence that its attempts may still have. */
  readonly silenceLeftMs: number;
}

/** Clients give up after a minute. Half of it leaves time to answer the call after the start. */
const startWaitMaxMs = 30_000;

/**
 * Waits while an MCP server of the tool's skill starts or has just lost its process. Ends when all are Connected, one
 * has failed, or the time is over, and returns the new view. The key is checked again, because it may have been revoked
 * meanwhile.
 */
export async function awaitStart(
  { waits, principals }: Pick<CallParts, 'waits' | 'principals'>,
  { authorization, signal }: Pick<Call, 'authorization' | 'signal'>,
  { view, name, silenceLeftMs }: WaitingCall,
): Promise<CallView> {
  const isSo = (catalogue: CallView['catalogue']) => resolveTool({ ...view, catalogue }, name).kind !== 'starting';
  const timeoutMs = Math.min(startWaitMaxMs, silenceLeftMs);
  const catalogue = await waits.until({ present: view.catalogue, isSo, timeoutMs, signal });
  const principal = await principals.authenticate(authorization);
  refuseSuspended(principal);
  signal.throwIfAborted();
  return { ...view, catalogue, principal };
}
