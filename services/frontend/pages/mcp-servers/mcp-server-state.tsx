import { StatusDot, type Tone } from '../../components/status-dot.tsx';
import { useNow } from '../../components/use-now.ts';
import type { Health, McpServerStatus } from '../../graphql/generated/operations.ts';
import { withoutCommands } from '../../graphql/without-commands.ts';

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

/** The time until the MCP server is started again, second by second. */
export function NextRetry({ at }: { readonly at: number }) {
  const seconds = Math.ceil((at - useNow(1000)) / 1000);
  return (
    <span className="whitespace-nowrap tabular-nums">{seconds > 0 ? `Retry in ${clock(seconds)}.` : 'Retry now.'}</span>
  );
}

function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/** What repairs it here, in place of a command where a page does the same. */
export function repairOf({ code, repair }: { readonly code: string; readonly repair: string }): string {
  switch (code) {
    case 'missing_settings':
      return 'Set it in the panel of the MCP server, under Settings.';
    case 'disabled':
      return 'Enable it in the panel of the MCP server.';
    case 'needs_authorization':
      return 'Connect it to the service that it uses.';
    default:
      return withoutCommands(repair) ?? 'The panel of the MCP server shows its last output.';
  }
}
