import type { DeclaredSettingInput } from './declared-settings.ts';
import type { LaunchInput, Setting } from './launch.ts';

/** A well-known MCP server, with the launch that its own documentation gives. */
export interface CatalogueEntry {
  /** The suggested name. */
  readonly name: string;
  readonly title: string;
  readonly about: string;
  /** Its documentation. */
  readonly homepage: string;
  readonly launch: CatalogueLaunch;
  /** Arguments that a person fills in. */
  readonly blanks: readonly Blank[];
  /** Variables of a command, or headers of an address. */
  readonly settings: readonly DeclaredSettingInput[];
}

type CatalogueLaunch =
  | { readonly kind: 'command'; readonly command: 'npx' | 'uvx'; readonly args: readonly string[] }
  | { readonly kind: 'url'; readonly url: string };

/** Stands in the arguments as `{NAME}`. */
export interface Blank {
  readonly name: string;
  readonly title: string;
  readonly description: string;
}

const reference = 'https://github.com/modelcontextprotocol/servers/tree/main/src';
const none = { blanks: [], settings: [] } as const;

/** In the order of their titles. */
export const mcpServerCatalogue: readonly CatalogueEntry[] = [
  {
    ...none,
    name: 'everything',
    title: 'Everything',
    about: 'Offers a tool for each feature of MCP, to try out a platform or an agent.',
    homepage: `${reference}/everything`,
    launch: { kind: 'command', command: 'npx', args: ['-y', '@modelcontextprotocol/server-everything'] },
  },
  {
    ...none,
    name: 'fetch',
    title: 'Fetch',
    about: 'Reads web pages as Markdown.',
    homepage: `${reference}/fetch`,
    launch: { kind: 'command', command: 'uvx', args: ['mcp-server-fetch'] },
  },
  {
    ...none,
    name: 'files',
    title: 'Filesystem',
    about: 'Reads, writes and searches the files of one folder.',
    homepage: `${reference}/filesystem`,
    launch: { kind: 'command', command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '{folder}'] },
    blanks: [
      { name: 'folder', title: 'Folder', description: 'Its full path on the machine that runs the MCP server.' },
    ],
  },
  {
    ...none,
    name: 'git',
    title: 'Git',
    about: 'Reads and changes one Git repository.',
    homepage: `${reference}/git`,
    launch: { kind: 'command', command: 'uvx', args: ['mcp-server-git', '--repository', '{repository}'] },
    blanks: [
      {
        name: 'repository',
        title: 'Repository',
        description: 'Its full path on the machine that runs the MCP server.',
      },
    ],
  },
  {
    name: 'github',
    title: 'GitHub',
    about: 'Repositories, issues and pull requests, run by GitHub.',
    homepage: 'https://github.com/github/github-mcp-server',
    launch: { kind: 'url', url: 'https://api.githubcopilot.com/mcp/' },
    blanks: [],
    settings: [authorization('The word Bearer, a space, and a personal access token of GitHub.')],
  },
  {
    name: 'linear',
    title: 'Linear',
    about: 'Issues, projects and comments, run by Linear.',
    homepage: 'https://linear.app/docs/mcp',
    launch: { kind: 'url', url: 'https://mcp.linear.app/mcp' },
    blanks: [],
    settings: [authorization('The word Bearer, a space, and an API key of Linear.')],
  },
  {
    name: 'memory',
    title: 'Memory',
    about: 'Keeps facts about people and things between conversations.',
    homepage: `${reference}/memory`,
    launch: { kind: 'command', command: 'npx', args: ['-y', '@modelcontextprotocol/server-memory'] },
    blanks: [],
    settings: [
      {
        name: 'MEMORY_FILE_PATH',
        title: 'File',
        description: 'The full path of the file for the facts. Without it, the file is in the folder of the program.',
        secret: false,
        required: false,
      },
    ],
  },
  {
    ...none,
    name: 'sequential-thinking',
    title: 'Sequential thinking',
    about: 'Lets an agent think in steps that it can revise.',
    homepage: `${reference}/sequentialthinking`,
    launch: { kind: 'command', command: 'npx', args: ['-y', '@modelcontextprotocol/server-sequential-thinking'] },
  },
  {
    ...none,
    name: 'time',
    title: 'Time',
    about: 'Tells the time, and converts it between time zones.',
    homepage: `${reference}/time`,
    launch: { kind: 'command', command: 'uvx', args: ['mcp-server-time'] },
  },
];

function authorization(description: string): DeclaredSettingInput {
  return { name: 'Authorization', title: 'Access', description, secret: true, required: true };
}

/** What a person filled in, by the name of the blank or of the setting. */
export type Filled = ReadonlyMap<string, string>;

/** The blanks that are still empty. */
export function emptyBlanks({ blanks }: CatalogueEntry, filled: Filled): readonly Blank[] {
  return blanks.filter(({ name }) => valueIn(filled, name) === '');
}

/** The launch with its declared settings. A required setting without a value may follow later. */
export function launchOfEntry({ launch, settings }: CatalogueEntry, filled: Filled): LaunchInput {
  const values = settings.flatMap(({ name, secret }): Setting[] => {
    const value = valueIn(filled, name);
    return value === '' ? [] : [{ name, value, secret: secret ?? true }];
  });
  if (launch.kind === 'url') return { url: launch.url, headers: values, settings };
  const args = launch.args.map((word) => {
    const [, blank] = /^\{(\w+)\}$/.exec(word) ?? [];
    return blank === undefined ? word : valueIn(filled, blank);
  });
  return { command: launch.command, args, env: values, settings };
}

function valueIn(filled: Filled, name: string): string {
  return (filled.get(name) ?? '').trim();
}
