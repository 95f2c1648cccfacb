import { ShownError } from '../graphql/shown-error.ts';

/** The hint of a conflict names commands. On a page, the present state is on the screen already. */
export function onPage(error: ShownError | null): ShownError | null {
  if (error?.code !== 'conflict') return error;
  const { code, message, requestId } = error;
  const hint = 'This page shows the present state. Make the change again if you still want it.';
  return new ShownError({ code, message, hint, requestId });
}
