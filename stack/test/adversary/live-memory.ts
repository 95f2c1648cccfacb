import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { z } from 'zod';

/** The address of a Node process's inspector after SIGUSR1. */
const inspectorUrl = 'http://127.0.0.1:9229/json/list';
const openWithinMs = 5000;

const targets = z.tuple([z.object({ webSocketDebuggerUrl: z.string() })]);
const memory = z.object({ pid: z.number(), bytes: z.number() });
const evaluated = z.object({ result: z.object({ result: z.object({ value: memory }) }) });

const expression = `(({ heapUsed, external }) => ({ pid: process.pid, bytes: heapUsed + external }))(process.memoryUsage())`;

/**
 * The bytes that a Node process holds after a garbage collection. The resident size says little about a leak: an idle
 * process keeps its garbage, and malloc keeps freed memory.
 */
export async function liveBytes(pid: number): Promise<number> {
  process.kill(pid, 'SIGUSR1');
  const socket = new WebSocket(await debuggerUrl());
  await once(socket, 'open');
  const ask = async (id: number, method: string, params = {}): Promise<unknown> => {
    socket.send(JSON.stringify({ id, method, params }));
    const [{ data }] = await once(socket, 'message');
    return JSON.parse(data);
  };
  try {
    // The first collection runs finalizers, and the second frees their memory.
    for (const id of [1, 2]) await ask(id, 'HeapProfiler.collectGarbage');
    const { value } = evaluated.parse(await ask(3, 'Runtime.evaluate', { expression, returnByValue: true })).result
      .result;
    if (value.pid !== pid) throw new Error(`process ${value.pid} has the port of the inspector, not ${pid}`);
    return value.bytes;
  } finally {
    socket.close();
  }
}

async function debuggerUrl(): Promise<string> {
  const signal = AbortSignal.timeout(openWithinMs);
  for (;;) {
    const response = await fetch(inspectorUrl, { signal }).catch(() => null);
    if (response !== null) return targets.parse(await response.json())[0].webSocketDebuggerUrl;
    await wait(50, undefined, { signal });
  }
}
