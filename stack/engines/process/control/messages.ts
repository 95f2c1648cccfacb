import { z } from 'zod';
import { failure, platformRecord } from '../../../state/platform-record.ts';
import { serviceStates } from '../../../state/transition.ts';

/**
 * Messages of the control socket of a platform of processes: JSON, one line each. The client sends one request. The last line of the answer
 * is the result.
 */
export const request = z.discriminatedUnion('kind', [
  /** Asks for the record of the supervisor. */
  z.object({ kind: z.literal('status') }),
  /** Asks for what svc.yaml says now, on these ports. */
  z.object({ kind: z.literal('apply'), ports: z.string().max(4096) }),
]);
export type Request = z.infer<typeof request>;

export const reply = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('service'), name: z.string(), state: z.enum(serviceStates) }),
  z.object({ kind: z.literal('record'), record: platformRecord }),
  z.object({ kind: z.literal('applied') }),
  z.object({ kind: z.literal('failed'), failure }),
]);
export type Reply = z.infer<typeof reply>;

/** Ten times the record of the largest platform. */
export const lineMaxBytes = 1024 * 1024;
