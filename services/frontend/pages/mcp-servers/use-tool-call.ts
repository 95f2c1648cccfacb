import { useEffect, useRef, useState } from 'react';
import { send } from '../../graphql/client.ts';
import { createToolTokenMutation } from '../../graphql/generated/operations.ts';
import { callTool } from '../../graphql/mcp-client.ts';
import { ShownError, shownErrorOf } from '../../graphql/shown-error.ts';
import { readToolResult, type ToolResult } from './tool-result.ts';

export type CallState =
  | { readonly kind: 'none' }
  | { readonly kind: 'running'; readonly startedAt: number; readonly progress: string }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'answered'; readonly result: ToolResult; readonly durationMs: number }
  | { readonly kind: 'failed'; readonly error: ShownError; readonly durationMs: number };

export type TokenSource = () => Promise<string>;

const renewBeforeMs = 60_000;

/** Tokens for the tools of a workspace. Each is used until shortly before it expires, and is in memory only. */
export function toolTokens(workspace: string): TokenSource {
  let known: { readonly token: string; readonly expiresAt: number } | null = null;
  return async () => {
    if (known === null || known.expiresAt - Date.now() < renewBeforeMs) {
      known = (await send(createToolTokenMutation, { workspace })).createToolToken;
    }
    return known.token;
  };
}

/** One call of a tool at a time. A call ends when the person leaves its form. */
export function useToolCall(name: string, token: TokenSource) {
  const [state, setState] = useState<CallState>({ kind: 'none' });
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const run = async (input: Readonly<Record<string, unknown>>) => {
    if (running.current !== null) return;
    const controller = new AbortController();
    running.current = controller;
    const startedAt = Date.now();
    const begun = performance.now();
    const durationMs = () => Math.round(performance.now() - begun);
    setState({ kind: 'running', startedAt, progress: '' });
    const onProgress = (progress: string) => {
      if (!controller.signal.aborted) setState({ kind: 'running', startedAt, progress });
    };
    try {
      const result = await callTool({ name, input, token, signal: controller.signal, onProgress });
      setState({ kind: 'answered', result: readToolResult(result), durationMs: durationMs() });
    } catch (error) {
      if (controller.signal.aborted) setState({ kind: 'cancelled' });
      else setState({ kind: 'failed', error: shown(error), durationMs: durationMs() });
    } finally {
      running.current = null;
    }
  };
  return {
    state,
    run: (input: Readonly<Record<string, unknown>>) => void run(input),
    cancel: () => running.current?.abort(),
  };
}

/** remote-mcp speaks of an API key, which the person does not have. */
function shown(thrown: unknown): ShownError {
  const error = shownErrorOf(thrown);
  if (error.code !== 'unauthenticated') return error;
  const message = 'The platform no longer lets you try tools here.';
  const hint = 'Only owners and admins may. Reload the page, and sign in again if it asks.';
  return new ShownError({ code: error.code, message, hint, requestId: error.requestId });
}
