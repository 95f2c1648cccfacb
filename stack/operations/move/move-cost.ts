import type { Sizes } from '../../engines/places.ts';
import type { Graph, Topology } from '../../settings/choices.ts';
import type { Side } from '../replace/side.ts';

export interface Load extends Omit<Sizes, 'disk'> {
  readonly from: Side;
  readonly to: Side;
  readonly fillsGraph: boolean;
  /** Whether files are copied out of volumes or into them. */
  readonly inVolumes: boolean;
}

const megabyte = 1024 * 1024;

/** Measured on a slow disk and rounded up. `firstMb` and `growth` say the size of filled data. */
const graphs = {
  sqlite: { startSeconds: 0, readMbASecond: 20, fillMbASecond: 10, firstMb: 0, growth: 1 },
  dgraph: { startSeconds: 40, readMbASecond: 4, fillMbASecond: 1, firstMb: 64, growth: 4 },
} as const satisfies Record<Graph, object>;
/** NATS stores each message on the disk before the next one. */
const busMbASecond: Readonly<Record<Topology, number>> = { embedded: 20, distributed: 0.5 };
/** The stop and the start of a platform, and of the containers that copy files. */
const platformSeconds = 4;
const containerSeconds = 30;

/** An estimate of what a move takes, for the question and for the refusal of a full disk. */
export function costOf({ from, to, fillsGraph, inVolumes, graphBytes, fileBytes, busBytes, otherBytes }: Load) {
  const [read, filled] = [graphs[from.graph], graphs[to.graph]];
  const copiedBytes = inVolumes ? 2 * (graphBytes + fileBytes + otherBytes) : 0;
  const filledBytes = fillsGraph ? filled.firstMb * megabyte + filled.growth * graphBytes : 0;
  const seconds =
    read.startSeconds +
    (graphBytes + fileBytes + copiedBytes) / (read.readMbASecond * megabyte) +
    (fillsGraph ? filled.startSeconds + graphBytes / (filled.fillMbASecond * megabyte) : 0) +
    (inVolumes ? containerSeconds : 0) +
    busBytes / (busMbASecond[to.topology] * megabyte);
  return {
    // Room for the kept archive and the new data.
    neededBytes: graphBytes + fileBytes + 3 * busBytes + filledBytes + copiedBytes + megabyte,
    downSeconds: platformSeconds + Math.ceil(seconds),
  };
}
