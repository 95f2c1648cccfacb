import { SvcError } from '../../services/contracts/errors.ts';
import { describeMistakes, type Mistake } from '../settings/yaml-text.ts';
import type { Place } from './wanted-workspace.ts';

export interface PlacedMistake extends Mistake {
  readonly file: string;
}

export function mistakeAt({ file, line, column }: Place, message: string): PlacedMistake {
  return { file, line, column, message };
}

/** One error with every mistake, file by file in the order of their lines; nothing without mistakes. */
export function refuseMistaken(mistakes: readonly PlacedMistake[]): void {
  if (mistakes.length === 0) return;
  const files = [...new Set(mistakes.map(({ file }) => file))];
  const told = files.map((file) =>
    describeMistakes(
      file,
      mistakes.filter((mistake) => mistake.file === file),
    ),
  );
  throw new SvcError('invalid_input', told.join('\n'));
}
