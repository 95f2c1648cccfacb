import { StatusDot, type Tone } from '../components/status-dot.tsx';
import type { Health, McpServerStatus } from '../graphql/generated/operations.ts';

const statusTones = { Connected: 'good', Disconnected: 'none', Error: 'bad' } as const satisfies Record<
  McpServerStatus,
  Tone
>;
const healths = {
  green: { tone: 'good', word: 'healthy' },
  yellow: { tone: 'warn', word: 'degraded' },
  red: { tone: 'bad', word: 'down' },
} as const satisfies Record<Health, { tone: Tone; word: string }>;

export function ServerStatus({ status }: { readonly status: McpServerStatus }) {
  return <StatusDot tone={statusTones[status]}>{status}</StatusDot>;
}

export function ServerHealth({ health }: { readonly health: Health }) {
  const { tone, word } = healths[health];
  return <StatusDot tone={tone}>{word}</StatusDot>;
}
