import { z } from 'zod';
import { failure, platformRecord } from '../../../state/platform-record.ts';
import { serviceStates } from '../../../state/transition.ts';

/**
 * What passes over the control socket of a platform whose parts are processes: JSON, a line each. A client says one thing and is answered
 * with lines of which the last is the result.
 */
export const request = z.discriminatedUnion('kind', [
  /** What runs, as its supervisor knows it. */
  z.object({ kind: z.literal('status') }),
  /** Make it run as svc.yaml says now, on these ports. */
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

/** The record of the largest platform takes a tenth of it. */
export const lineMaxBytes = 1024 * 1024;
