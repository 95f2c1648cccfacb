import { SvcError } from '../../../services/contracts/errors.ts';
import { checkDefinition } from '../check.ts';
import type { Definition } from '../definition.ts';

const id = 'id: abcdef0123456789\n';

/** A svc.yaml with an id and these further lines. */
export function definitionOf(yaml: string): Definition {
  return checkDefinition(id + yaml, 'svc.yaml');
}

/** The message that refuses a svc.yaml with these further lines as invalid input. */
export function refusalOf(yaml: string): string {
  try {
    definitionOf(yaml);
  } catch (error) {
    if (error instanceof SvcError && error.code === 'invalid_input') return error.message;
    throw error;
  }
  throw new Error('nothing was refused');
}
