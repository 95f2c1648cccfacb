import { z } from 'zod';
import { findId, type Id, type IdKind } from './ids.ts';

/** Parser of an id inside a message: its kind must be the expected one. */
export const id = <Kind extends IdKind>(kind: Kind) =>
  z.custom<Id<Kind>>((value) => typeof value === 'string' && findId(kind, value) !== null);
