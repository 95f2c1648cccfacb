import { z } from 'zod';
import { errorCodes } from '../../services/contracts/errors.ts';
import { topologies } from '../settings/choices.ts';
import { writeWhole } from './durable-file.ts';
import { processIdentity } from './process-identity.ts';
import { recordedUrls } from './recorded-urls.ts';
import { stateFile } from './state-file.ts';
import { serviceStates } from './transition.ts';

/** An unrequested end, and its reason in words that follow the name of the part. */
const partEnd = z.object({ at: z.string(), reason: z.string() });
export type PartEnd = z.infer<typeof partEnd>;

const readyCheck = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('http'), url: z.string() }),
  z.object({ kind: z.literal('nats'), url: z.string(), seedFile: z.string() }),
]);

const serviceRecord = z.object({
  name: z.string(),
  state: z.enum(serviceStates),
  /** ISO 8601, when it entered this state. */
  since: z.string(),
  url: z.string(),
  ready: readyCheck,
  /** Null when it runs inside the platform's own process. */
  process: processIdentity.nullable(),
  /** The number of its unrequested ends, and the last of them, the youngest last. */
  endCount: z.number().int(),
  lastEnds: z.array(partEnd),
});
export type ServiceRecord = z.infer<typeof serviceRecord>;

/** `state/process.json`: the record of the platform's process about itself, from its first moment to its last. */
export const platformRecord = z.object({
  pid: z.number().int().positive(),
  startTime: z.string(),
  version: z.string(),
  topology: z.enum(topologies),
  /** In the terminal of the operator, not in the background. */
  foreground: z.boolean().default(false),
  /** All start values by name, to show what `svc up` would change. Never a secret. */
  settings: z.record(z.string(), z.string()),
  urls: recordedUrls,
  services: z.array(serviceRecord),
  /** The platform still starts, or replaces parts one after the other. */
  isChanging: z.boolean().optional(),
});
export type PlatformRecord = z.infer<typeof platformRecord>;

/** `state/failure.json`: why the last platform ended by itself. */
export const failure = z.object({
  pid: z.number().int().positive(),
  at: z.string(),
  service: z.string(),
  check: z.string(),
  code: z.enum(errorCodes),
  /** Another program took one of its ports between the check and the use. */
  portTaken: z.boolean().default(false),
  message: z.string(),
  hint: z.string().nullable(),
});
export type Failure = z.infer<typeof failure>;

/** The supervisor also touches this file at intervals. */
export const {
  file: recordFile,
  read: readRecord,
  write: writeRecord,
  remove: removeRecord,
} = stateFile('process.json', platformRecord, { writeText: writeWhole });

export const {
  read: readFailure,
  write: writeFailure,
  remove: removeFailure,
} = stateFile('failure.json', failure, { writeText: writeWhole });
