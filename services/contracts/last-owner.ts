import { SvcError } from './errors.ts';

/** A workspace always has an owner who is not suspended: keys that operators make belong to the owner. */
export function lastOwner(email: string, workspace: string): SvcError {
  return new SvcError('conflict', `"${email}" is the last owner of the workspace "${workspace}".`, {
    hint: 'First make somebody else an owner: svc user update EMAIL --role owner',
  });
}
