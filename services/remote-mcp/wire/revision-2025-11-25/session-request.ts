import type { Principal } from '../../../contracts/bus/messages.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { Session } from '../../sessions/session.ts';
import type { RpcRequest } from './message.ts';
import type { RpcAnswer } from './rpc-answer.ts';

/** A JSON-RPC request of an agent with a valid key, and its answer. */
export interface AgentRequest {
  readonly exchange: Exchange;
  readonly principal: Principal;
  readonly message: RpcRequest;
  readonly answer: RpcAnswer;
}

export interface SessionRequest extends AgentRequest {
  readonly session: Session;
}
