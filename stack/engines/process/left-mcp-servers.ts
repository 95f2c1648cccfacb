import { readdir } from 'node:fs/promises';
import { type Installation, runtimeDirOf } from '../../state/installation.ts';

/** The folders of all runtimes that ever ran here, also of those that svc.yaml asks for no more. */
const ofRuntime = /^runtime(-\d+)?$/;

/** Ends the MCP servers that runtimes which were killed left behind; returns how many still lived. */
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
