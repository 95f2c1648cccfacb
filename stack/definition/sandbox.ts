import { sandboxes } from '../../services/contracts/sandbox.ts';
import { type Field, oneOf } from './field.ts';

const known = oneOf(...sandboxes);

/** `runtime.sandbox`. */
export const sandbox: Field<(typeof sandboxes)[number]> = {
  ...known,
  complaints: (raw) =>
    raw === 'container'
      ? [{ path: [], message: `runtime.sandbox: container is not part of this version; ${known.rule} is.` }]
      : [],
};
