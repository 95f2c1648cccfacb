import { StatusDot } from '../../components/status-dot.tsx';

export function MemberState({ isSuspended }: { readonly isSuspended: boolean }) {
  return <StatusDot tone={isSuspended ? 'warn' : 'good'}>{isSuspended ? 'Suspended' : 'Active'}</StatusDot>;
}
