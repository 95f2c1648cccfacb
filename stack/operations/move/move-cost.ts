import type { Side } from './side.ts';

export interface Load {
  readonly from: Side;
  readonly to: Side;
  readonly carries: { readonly bus: boolean; readonly graph: boolean };
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

/** A container for each start and copy. */
const downSecondsInContainers = 30;

/** What a move takes, so that it can be said, and refused, before anything is stopped. */
export function costOf({ from, to, carries, graphBytes, fileBytes, busBytes, otherBytes }: Load): Cost {
  const busSeconds = busBytes / (to.topology === 'distributed' ? bytesASecondToNats : bytesASecond);
  const isInDgraph = [from, to].some(({ graph }) => graph === 'dgraph');
  const graph = carries.graph && isInDgraph ? costOfDgraph(to, graphBytes) : costOfCopy(from, graphBytes);
  const engine = costOfEngines(from, to, { graphBytes: graphBytes + fileBytes, otherBytes });
  return {
    neededBytes: graph.neededBytes + fileBytes + 3 * busBytes + engine.neededBytes + spareBytes,
    downSeconds:
      downSecondsLeast + Math.ceil(graph.downSeconds + fileBytes / bytesASecond + busSeconds + engine.downSeconds),
  };
}

/** What lies in volumes is copied from them, and into them. */
function costOfEngines(
  from: Side,
  to: Side,
  { graphBytes, otherBytes }: Pick<Load, 'graphBytes' | 'otherBytes'>,
): Cost {
  if (from.engine === 'process' && to.engine === 'process') return { neededBytes: 0, downSeconds: 0 };
  const bytes = 2 * graphBytes + (from.engine === to.engine ? 0 : otherBytes);
  return { neededBytes: bytes, downSeconds: downSecondsInContainers + bytes / bytesASecond };
}

function costOfDgraph(to: Side, graphBytes: number): Cost {
  const isTo = to.graph === 'dgraph';
  return {
    neededBytes: isTo ? dgraph.bytes + dgraph.growth * graphBytes : graphBytes,
    downSeconds: dgraph.downSeconds + graphBytes / (isTo ? dgraph.bytesASecondTo : dgraph.bytesASecondFrom),
  };
}

function costOfCopy({ graph }: Side, graphBytes: number): Cost {
  if (graph === 'dgraph') return { neededBytes: 0, downSeconds: 0 };
  return { neededBytes: graphBytes, downSeconds: graphBytes / bytesASecond };
}
