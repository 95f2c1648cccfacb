import type { Replacement } from './replacement.ts';
import { isSameSide, sideName } from './side.ts';

/** A replacement at the beginning of a sentence. */
export function replacementName({ command, from, to }: Replacement): string {
  if (command === 'nodes') return 'The change of the number of NATS nodes';
  return command === 'restore' || isSameSide(from, to)
    ? 'The restore'
    : `The move from ${sideName(from)} to ${sideName(to)}`;
}

/** The commands that end a replacement. */
export function commandsToEnd({ command }: Replacement): string {
  return command === 'nodes' ? 'svc up' : `svc ${command} --confirm, or svc ${command} --undo`;
}
