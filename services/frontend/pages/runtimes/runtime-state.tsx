import { StatusDot } from '../../components/status-dot.tsx';
import type { RuntimeRowFragment } from '../../graphql/generated/operations.ts';

export type Runtime = RuntimeRowFragment;

export function RuntimeState({ isAvailable }: { readonly isAvailable: boolean }) {
  return <StatusDot tone={isAvailable ? 'good' : 'bad'}>{isAvailable ? 'available' : 'unavailable'}</StatusDot>;
}

export const sandboxWords = 'How it confines the commands of members: bwrap is a sandbox, none is not.';
