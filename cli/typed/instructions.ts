import { instructionsMaxBytes } from '../../services/contracts/workspace-limits.ts';
import { readBounded } from '../../stack/machine/bounded-file.ts';
import { refuseSecret } from './secret-file.ts';

/** The instructions of a skill, from the file that `--instructions` names. */
export function readInstructions(file: string): string {
  refuseSecret(file);
  const options = { sizeMaxBytes: instructionsMaxBytes, name: `--instructions "${file}"`, takesPipes: true };
  return readBounded(file, options).toString('utf8');
}
