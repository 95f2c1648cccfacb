import type { EnvRecord } from '../../services/contracts/env/check.ts';
import type { Kinds, Opening, Place } from '../content/place.ts';
import type { Part } from '../parts/part.ts';
import type { Losses } from '../place/losses.ts';
import type { Plan } from '../plan/plan.ts';
import type { Disk } from '../state/free-space.ts';

/** Where an engine keeps the data of a plan. The own folders of a part are copied as they are. */
export interface Places {
  /** The places that hold data of this plan, named as people find them. */
  list(): Promise<readonly string[]>;
  /** Whether this number of NATS nodes has kept something there: one node and a cluster have different places. */
  keepsBus(): Promise<boolean>;
  /** How people move places out of the way. */
  clearHint(places: readonly string[]): string;
  /** Finds data that the platform had and that is gone. */
  findLosses(): Promise<Losses>;
  measure(): Promise<Sizes>;
  /** Refuses to read a cluster of Dgraph without the majority of its nodes. Nodes that lost their data do not run. */
  open(opening: Opening): Promise<Place>;
  /** Removes the content of these kinds, whichever topology and graph it is of. */
  empty(kinds: Kinds): Promise<void>;
  /** Removes all data, so that another engine may begin. */
  emptyAll(): Promise<void>;
  /** Copies the own folder of a part, if it has one, to a folder that is made for it. */
  copyOut(part: string, folder: string): Promise<void>;
  /** Copies a folder to the place of a part's own folder, which is empty. */
  copyIn(folder: string, part: string): Promise<void>;
  /** Ends what a killed command left running there. */
  endLeft(): Promise<void>;
}

export interface PlacesOptions {
  readonly plan: Plan;
  readonly env: EnvRecord;
  readonly signal: AbortSignal;
  readonly onNotice: (message: string) => void;
}

/** Bytes of each kind of data, and the room on the disk of the places. */
export interface Sizes {
  readonly graphBytes: number;
  readonly fileBytes: number;
  readonly busBytes: number;
  readonly otherBytes: number;
  readonly disk: Disk;
}

/** The parts with a folder that only they read. */
export function ownFoldersOf({ parts }: { readonly parts: readonly Part[] }): readonly string[] {
  return parts
    .filter(({ service, keeps }) => keeps !== null && (service === 'runtime' || service === 'caddy'))
    .map(({ name }) => name);
}
