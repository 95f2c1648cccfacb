import { SvcError } from '../../contracts/errors.ts';

/** Refusals of both engines. */

export function notThere(type: string, id: string): SvcError {
  return new SvcError('not_found', `The ${type} "${id}" is not there.`);
}

export function takenBy(type: string, fields: readonly string[], options: ErrorOptions = {}): SvcError {
  const named = fields.map((field) => `"${field}"`).join(' and ');
  return new SvcError('conflict', `There is a ${type} with the same ${named} already.`, options);
}

export interface Versions {
  readonly is: number;
  readonly expected: number;
}

export function changedMeanwhile(type: string, id: string, { is, expected }: Versions): SvcError {
  return new SvcError(
    'conflict',
    `The ${type} "${id}" is at version ${is}, not ${expected}: it was changed meanwhile.`,
    {
      hint: 'Read it again, then repeat the change.',
    },
  );
}

export function tooManyEdges(max: number): SvcError {
  return new SvcError('too_large', `More than ${max} edges were to be followed at once: follow fewer nodes.`);
}

export function tooMuchText(max: number): SvcError {
  const message = `The nodes at the other ends of the edges hold more than ${max} characters.`;
  return new SvcError('too_large', message, { hint: 'Ask for fewer of them with "first".' });
}
