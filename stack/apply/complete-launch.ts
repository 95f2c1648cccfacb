import type { LaunchInput } from '../../services/contracts/launch.ts';
import type { LiveMcpServerFragment } from '../client/generated/operations.ts';

type LiveLaunch = LiveMcpServerFragment['launch'];

/**
 * The launch that a file asks for: a field that the file does not name stays as it is. Null without a command and a URL.
 * A setting without a value keeps its stored one.
 */
export function completeLaunch(given: LaunchInput, live: LiveLaunch): LaunchInput | null {
  const url = given.url ?? (given.command == null ? live?.url : null) ?? null;
  if (url !== null) return { url, headers: given.headers ?? kept(live?.url == null ? [] : live.headers) };
  const before = live?.command == null ? null : live;
  const command = given.command ?? before?.command ?? null;
  if (command === null) return null;
  return {
    command,
    args: given.args ?? before?.args ?? [],
    cwd: given.cwd ?? before?.cwd ?? null,
    env: given.env ?? kept(before?.env ?? []),
  };
}

function kept(settings: readonly { readonly name: string }[]) {
  return settings.map(({ name }) => ({ name, value: null }));
}
