import { z } from 'zod';
import { type Id, type IdKind, idPrefixes } from './ids.ts';

/** Parser of an id inside a message: its kind must be the one asked for. */
export const id = <Kind extends IdKind>(kind: Kind) =>
  z.custom<Id<Kind>>(
    (value) => typeof value === 'string' && value.startsWith(`${idPrefixes[kind]}_`) && value.length <= 64,
  );
