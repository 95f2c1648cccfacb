import { askProgram } from '../../machine/ask-program.ts';
import { findProgram } from '../../machine/find-program.ts';
import { type Examined, type Found, ok, warning } from './finding.ts';

/** A question that only the registry answers. It changes nothing. */
interface Registry {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly input?: string;
  readonly repair: string;
}

const registries: readonly Registry[] = [
  {
    name: 'npm',
    command: 'npm',
    args: ['view', 'npm', 'version', '--prefer-online', '--fetch-retries=0', '--loglevel=error'],
    repair: 'Check the network, a proxy (HTTPS_PROXY) and the registry: npm config get registry',
  },
  {
    name: 'PyPI',
    command: 'uv',
    args: ['pip', 'compile', '-', '--no-deps', '--no-cache', '--quiet', '--no-header'],
    input: 'pip\n',
    repair: 'Check the network, a proxy (HTTPS_PROXY) and the index: UV_DEFAULT_INDEX',
  },
];

const askTimeoutMs = 15_000;

/** Whether npx and uvx can fetch MCP servers. */
export async function checkRegistries({ env }: Examined): Promise<readonly Found[]> {
  return (await Promise.all(registries.map((registry) => reach(registry, env)))).flat();
}

async function reach(
  { name, command, args, input, repair }: Registry,
  env: Examined['env'],
): Promise<readonly Found[]> {
  const program = findProgram(command, env.PATH);
  if (program === null) return [];
  const options = { timeoutMs: askTimeoutMs, env, ...(input === undefined ? {} : { input }) };
  const { failed } = await askProgram(program, args, options);
  return [
    failed ? warning(`${command} cannot reach the registry of ${name}.`, repair) : ok(`${name} answers ${command}.`),
  ];
}
