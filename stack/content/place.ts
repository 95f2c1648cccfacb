import type { Alone } from './alone.ts';

/** The kinds of content that may be kept in different places. */
export type Kinds = Readonly<Record<'bus' | 'graph' | 'blobs', boolean>>;

export const allKinds: Kinds = { bus: true, graph: true, blobs: true };
export const noKinds: Kinds = { bus: false, graph: false, blobs: false };

/** Content of a platform, opened by its engine while no backend works on it. */
export interface Place extends AsyncDisposable {
  /** The kinds that were asked for and are there. */
  readonly there: Kinds;
  /** The folder with the files of the graph and of an embedded bus. It holds copies if the originals are in a volume. */
  readonly dir: string;
  /** Runs the nodes that keep the rest. */
  run(kinds: Kinds): Promise<Alone>;
  /** Puts the files of `dir` where the platform keeps them. */
  save(): Promise<void>;
}

export interface Opening {
  readonly kinds: Kinds;
  /** `fill` makes what is missing, `read` changes nothing. */
  readonly to: 'read' | 'fill';
  /** Whether the parts of the platform run. */
  readonly isRunning?: boolean;
}
