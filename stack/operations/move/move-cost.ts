import type { Side } from '../replace/side.ts';

export interface Load {
  readonly from: Side;
  readonly to: Side;
  readonly carries: { readonly bus: boolean; readonly graph: boolean };
  /** Whether one of the sides keeps its files in volumes. */
  readonly inVolumes: boolean;
  readonly graphBytes: number;
  /** Of files of skills that lie beside a graph, and go with it or are copied as it is. */
  readonly fileBytes: number;
  readonly busBytes: number;
  /** Of files that are copied only to another engine. */
  readonly otherBytes: number;
}

export interface Cost {
  /** Room for what is made while the old side is kept. */
  readonly neededBytes: number;
  readonly downSeconds: number;
}

const megabyte = 1024 * 1024;
/** Records, logs and what a file system needs for itself. */
const spareBytes = megabyte;
/** Stop, a bus for itself, and start: measured, rounded up. */
const downSecondsLeast = 4;
/** What is copied and read again in a second on a slow disk. NATS has each message on the disk before the next (measured: a thousand a second). */
const bytesASecond = 20 * megabyte;
const bytesASecondToNats = megabyte / 2;
/** A Dgraph by itself, and what is filled or read there for each byte of the other side, measured and rounded up. */
const dgraph = {
  bytes: 64 * megabyte,
  downSeconds: 40,
  growth: 4,
  bytesASecondTo: megabyte,
  bytesASecondFrom: 4 * megabyte,
};

/** Records that are added to a graph, one by one. */
const bytesFilledASecond = 10 * megabyte;

/** A container for each start and copy. */
const downSecondsInContainers = 30;

/** What a move takes, so that it can be said, and refused, before anything is stopped. */
export function costOf(load: Load): Cost {
  const { from, to, carries, inVolumes, graphBytes, fileBytes, busBytes, otherBytes } = load;
  const busSeconds = busBytes / (to.topology === 'distributed' ? bytesASecondToNats : bytesASecond);
  const keptBytes = graphBytes + fileBytes + busBytes;
  const graph = carries.graph ? costOfGraph(to, graphBytes) : nothing;
  const read = from.graph === 'dgraph' ? costOfReading(graphBytes) : nothing;
  const copied = 2 * (graphBytes + fileBytes) + (from.engine === to.engine ? 0 : 2 * otherBytes);
  const engine = inVolumes ? costOfVolumes(copied) : nothing;
  const parts = [read, graph, engine];
  return {
    neededBytes: keptBytes + parts.reduce((sum, one) => sum + one.neededBytes, 2 * busBytes) + spareBytes,
    downSeconds:
      downSecondsLeast +
      Math.ceil(parts.reduce((sum, one) => sum + one.downSeconds, busSeconds + keptBytes / bytesASecond)),
  };
}

const nothing: Cost = { neededBytes: 0, downSeconds: 0 };

/** Files are copied out of volumes, and into them; own folders to the kept folder, and from there. */
function costOfVolumes(bytes: number): Cost {
  return { neededBytes: bytes, downSeconds: downSecondsInContainers + bytes / bytesASecond };
}

function costOfGraph({ graph }: Side, bytes: number): Cost {
  if (graph === 'sqlite') return { neededBytes: bytes, downSeconds: bytes / bytesFilledASecond };
  return {
    neededBytes: dgraph.bytes + dgraph.growth * bytes,
    downSeconds: dgraph.downSeconds + bytes / dgraph.bytesASecondTo,
  };
}

function costOfReading(bytes: number): Cost {
  return { neededBytes: 0, downSeconds: dgraph.downSeconds + bytes / dgraph.bytesASecondFrom };
}
