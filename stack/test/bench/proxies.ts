import { spawn } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { foreignServers } from '../foreign-servers.ts';
import { freePort } from '../free-ports.ts';
import { initPlatform } from './bench-platform.ts';
import { atLeast, atMost, type Figure, reported, skipped } from './figure.ts';
import { median, perSecondOf, quantile } from './load.ts';
import { eventually, startNode } from './processes.ts';
import { loadOf, openCaller, type PerSide, perSide, ratio, type Side, targetOf } from './sides.ts';

/** Where other proxies of MCP servers lie, which this repository does not hold. */
export interface ProxyFiles {
  /** The program `mcp-proxy` of github.com/TBXark/mcp-proxy, in Go. */
  readonly tbxark: string;
  /** The script of the npm package `mcp-proxy`. */
  readonly npmProxy: string;
}

/** The platform and two proxies without keys, roles or usage, in turn; behind each, server-everything as a child. */
export async function measureProxies({ tbxark, npmProxy }: ProxyFiles): Promise<Figure[]> {
  if (tbxark === '' || npmProxy === '') {
    return [skipped('other proxies', 'name them: proxies --tbxark FILE --npm-proxy FILE')];
  }
  await using platform = await initPlatform();
  await platform.up();
  await platform.addEcho();
  const key = await platform.addKey('bench');
  using ends = new DisposableStack();
  const sides = [
    { name: 'svc', target: targetOf(platform, key) },
    await startTbxark(tbxark, platform.folder, ends),
    await startNpmProxy(npmProxy, ends),
  ];
  for (const { name, target } of sides) (await eventually(name, () => openCaller(target))).close();
  const one = await measured(sides, 1);
  const some = await measured(sides, 8);
  const many = await measured(sides, 32);
  return [
    atMost('one session: median against TBXark', ratio(one.median, 'svc', 'TBXark'), 1.05, '×', one.median),
    reported('one session: median against npm mcp-proxy', ratio(one.median, 'svc', 'npm'), '×'),
    atLeast('8 sessions: calls a second against TBXark', pace(some, 'TBXark'), 0.9, '×', some.perSecond),
    atMost('8 sessions: p99 against TBXark', ratio(some.p99, 'svc', 'TBXark'), 1.5, '×', some.p99),
    reported('8 sessions: calls a second against npm mcp-proxy', pace(some, 'npm'), '×'),
    atLeast('32 sessions: calls a second against TBXark', pace(many, 'TBXark'), 0.9, '×', many.perSecond),
    reported('32 sessions: p99 against TBXark', ratio(many.p99, 'svc', 'TBXark'), '×', many.p99),
    reported('32 sessions: calls a second against npm mcp-proxy', pace(many, 'npm'), '×'),
  ];
}

function pace({ perSecond }: { readonly perSecond: PerSide<number> }, other: string): number {
  return ratio(perSecond, 'svc', other);
}

async function measured(sides: readonly Side[], sessions: number) {
  const loads = await perSide(sides, (side) => loadOf(side, sessions));
  return {
    median: numbersOf(loads, ({ latenciesMs }) => median(latenciesMs)),
    p99: numbersOf(loads, ({ latenciesMs }) => quantile(latenciesMs, 0.99)),
    perSecond: numbersOf(loads, perSecondOf),
  };
}

function numbersOf<Measured>(measured: PerSide<Measured>, numberOf: (one: Measured) => number): PerSide<number> {
  return Object.fromEntries(Object.entries(measured).map(([name, all]) => [name, all.map(numberOf)]));
}

async function startTbxark(file: string, folder: string, ends: DisposableStack): Promise<Side> {
  const port = await freePort();
  const addr = `127.0.0.1:${port}`;
  const [command, ...args] = foreignServers.everything;
  const config = {
    mcpProxy: { baseURL: `http://${addr}`, addr, name: 'bench', version: '1', type: 'streamable-http' },
    mcpServers: { everything: { command, args, env: {} } },
  };
  const configFile = join(folder, 'tbxark.json');
  await writeFile(configFile, JSON.stringify(config));
  ends.adopt(spawn(file, ['-config', configFile], { stdio: 'ignore' }), (child) => child.kill());
  return { name: 'TBXark', target: { port, path: '/everything/', headers: {}, isStateless: true } };
}

async function startNpmProxy(file: string, ends: DisposableStack): Promise<Side> {
  const port = await freePort();
  const flags = ['--host', '127.0.0.1', '--port', String(port), '--server', 'stream'];
  ends.adopt(startNode([file, ...flags, '--', ...foreignServers.everything]), (child) => child.kill());
  return { name: 'npm', target: { port, path: '/mcp', headers: {} } };
}
