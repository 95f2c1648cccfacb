import { readdir } from 'node:fs/promises';
import { type Installation, runtimeDirOf } from '../../state/installation.ts';

/** The folders of all runtimes that ever ran here. */
const ofRuntime = /^runtime(-\d+)?$/;

/** Ends MCP servers that killed runtimes left behind. Returns their number. */
export async function endLeftMcpServers(
  installation: Installation,
  isMeant: (part: string) => boolean = () => true,
): Promise<number> {
  const names = await readdir(installation.dataDir).catch(() => []);
  const runtimes = names.filter((name) => ofRuntime.test(name) && isMeant(name));
  if (runtimes.length === 0) return 0;
  const { endLeftBehind } = await import('../../../services/runtime/start.ts');
  const ended = await Promise.all(runtimes.map((name) => endLeftBehind(runtimeDirOf(installation, name))));
  return ended.reduce((sum, count) => sum + count, 0);
}
