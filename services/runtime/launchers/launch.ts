import type { Launch, Reason } from '../../contracts/bus/messages.ts';
import type { McpServerId, WorkspaceId } from '../../contracts/ids.ts';
import type { Author } from '../../contracts/sandbox.ts';
import type { Channel, ChannelListener } from './channel.ts';

/** One MCP server to be started. */
export interface LaunchOrder<Kind extends Launch['kind'] = Launch['kind']> {
  readonly mcpServer: McpServerId;
  readonly workspace: WorkspaceId;
  readonly name: string;
  readonly setBy: Author;
  readonly launch: Extract<Launch, { kind: Kind }>;
  readonly listener: ChannelListener;
  /** The present value of the header Authorization, which is renewed while it runs. */
  readonly authorization?: () => string | undefined;
}

export type Launched =
  | { readonly ok: true; readonly channel: Channel }
  | { readonly ok: false; readonly reason: Reason };

/** Starts an MCP server of one kind. The result lives until it is stopped or reports its end. */
export type Launcher<Kind extends Launch['kind'] = Launch['kind']> = (order: LaunchOrder<Kind>) => Promise<Launched>;

export type Launchers = { readonly [Kind in Launch['kind']]: Launcher<Kind> };
