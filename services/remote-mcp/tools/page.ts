import { SvcError } from '../../contracts/errors.ts';

/** A cursor is the name behind which the next page begins, so it stays right when the list changes meanwhile. Opaque to clients. */
export function formatCursor(lastName: string): string {
  return Buffer.from(lastName).toString('base64url');
}

/** Throws `invalid_input` if the text is not a cursor. */
export function parseCursor(cursor: unknown): string | null {
  if (cursor === undefined || cursor === null) return null;
  const name =
    typeof cursor === 'string' && cursor.length <= lengthMax ? Buffer.from(cursor, 'base64url').toString() : '';
  if (name !== '' && formatCursor(name) === cursor) return name;
  throw new SvcError('invalid_input', `The cursor ${JSON.stringify(cursor).slice(0, 80)} is not one of this list.`, {
    hint: 'Leave it out to begin at the start.',
  });
}

const lengthMax = 2000;
