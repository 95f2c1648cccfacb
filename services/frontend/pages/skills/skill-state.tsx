import { StatusDot } from '../../components/status-dot.tsx';

/** Incomplete: agents can use it, but not all of its tools. */
export function SkillStatus({ available, reason }: { readonly available: boolean; readonly reason?: object | null }) {
  if (!available) return <StatusDot tone="bad">unavailable</StatusDot>;
  if (reason !== null && reason !== undefined) return <StatusDot tone="warn">incomplete</StatusDot>;
  return <StatusDot tone="good">available</StatusDot>;
}
