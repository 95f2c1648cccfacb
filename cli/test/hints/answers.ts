/** The installation in which a hint is tried. */
export type Place = 'none' | 'unchanged' | 'changed' | 'in turn' | 'own';

/**
 * Starting a platform takes most of the time, so hints share one unless they would disturb each other: those that leave
 * it unchanged, those that change or add objects and keep all that the others need, and those whose order is known.
 */
export function placeOf(command: string): Place {
  if (command.startsWith('init')) return 'none';
  if (onlyLooks.test(command) || answers[command] !== undefined) return 'unchanged';
  const text = filled[command] ?? command;
  if (keepsAll.test(text)) return 'changed';
  return inTurn.includes(text) ? 'in turn' : 'own';
}

/** Hints that disturb others, in an order in which each finds what it needs. Those that remove it are last. */
export const inTurn: readonly string[] = [
  'up',
  'up --as-copy',
  'up --start-empty',
  'move --engine process',
  'move --graph sqlite',
  'restart',
  'apply platform.yaml',
  'server import .mcp.json --yes',
  'skill publish x --draft --yes',
  'skill update x --add-tool x/fail',
  'skill import skills/echo --replace',
  'skill update x --remove-tool x/now --add-tool x/fail',
  'skill import ./skills/echo --replace',
  'skill update x --remove-tool x/echo',
  'keys rotate x',
  'keys rotate x --finish',
  'keys revoke x',
  'server remove x --yes',
  'workspace use x',
  'down --dir svc',
  'up --dir svc',
  'down',
  'up --as-copy --start-empty',
];

const onlyLooks =
  /^(?:audit|backup|completion|config|file list|logs|open|server logs|service install|status|tool list|connect --client|apply \S+ --export|(?:integration|keys|runtime|server|skill|role|user|workspace) (?:list|show|explain|test)\b)/;

const keepsAll =
  /^(?:file add|(?:keys|role|skill|user|workspace) create|(?:keys|role|server|user) update|server (?:add|enable|restart)|skill publish x$|skill update x --description|user reset)\b/;

/**
 * Hints whose placeholders or inserted values a person fills in with what there is: everything in the installation is
 * named x. DEMO is the demo's MCP server.
 */
export const filled: Readonly<Record<string, string>> = {
  apply: 'apply platform.yaml',
  'backup FILE': 'backup other.backup',
  'file add x FILE': 'file add x notes.md',
  'init DIR': 'init other',
  'keys create NAME': 'keys create y',
  'keys explain --key-file FILE': 'keys explain --key-file key.txt',
  'keys explain KEY': 'keys explain x',
  'keys explain NAME': 'keys explain x',
  'keys test': 'keys test --key-file key.txt',
  'keys revoke NAME': 'keys revoke x',
  'keys update x --role ROLE': 'keys update x --role x',
  'keys update x x': 'keys update x --role x',
  'logs --server NAME': 'logs --server x',
  'logs x': 'logs backend',
  'move --to x --graph x': 'move --to distributed --graph sqlite',
  'restore FILE': 'restore x.backup',
  'restore tools.backup.gz': 'restore x.backup',
  'role create NAME --skill SKILL': 'role create y --skill x',
  'role create NAME --skill x': 'role create y --skill x',
  'role update NAME': 'role update x --description new',
  'role update NAME --add-skill SKILL': 'role update x --add-skill x',
  'role update x x': 'role update x --no-read-only',
  'role update x --add-skill SKILL': 'role update x --add-skill x',
  'runtime register NAME': 'runtime register y',
  'runtime register NAME --out FILE': 'runtime register y --out y.env',
  'runtime revoke NAME': 'runtime revoke y --yes',
  'server add --from x x': 'server add --from github',
  'server add NAME -- COMMAND': 'server add y -- node DEMO',
  'server add NAME -- COMMAND ARGSx': 'server add y -- node DEMO',
  'server add NAME --url URL': 'server add y --url http://127.0.0.1:9/mcp',
  'server import .mcp.json': 'server import .mcp.json --yes',
  'server import FILE': 'server import .mcp.json --yes',
  'server remove x': 'server remove x --yes',
  'server restart NAME': 'server restart x',
  'server show NAME': 'server show x',
  'server update NAME': 'server update x --call-timeout 60',
  'server update NAME -- COMMAND': 'server update x -- node DEMO',
  'server update NAME --call-timeout SECONDS': 'server update x --call-timeout 60',
  'server update NAME --start-timeout SECONDS': 'server update x --start-timeout 60',
  'server update x --env NAME': 'server update x --env LOG=debug',
  'server update x --env x': 'server update x --env LOG=debug',
  'server update x -- COMMAND': 'server update x -- node DEMO',
  'server update x x x': 'server update x --start-timeout 60',
  'skill create NAME --tool MCPSERVER/TOOL': 'skill create y --tool x/echo',
  'skill create NAME --tool x/TOOL': 'skill create y --tool x/echo',
  'skill import x': 'skill import skills/echo --replace',
  'skill import ./skills/echo': 'skill import ./skills/echo --replace',
  'skill update NAME': 'skill update x --description new',
  'skill update SKILL --add-tool x': 'skill update x --add-tool x/fail',
  'skill update NAME --remove-tool PATTERN --add-tool PATTERN': 'skill update x --remove-tool x/now --add-tool x/fail',
  'skill update NAME --remove-tool x/x': 'skill update x --remove-tool x/echo',
  'skill update x --add-tool MCPSERVER/TOOL': 'skill update x --add-tool x/fail',
  'skill update x --add-tool x': 'skill update x --add-tool x/fail',
  'skill update x --remove-tool PATTERN --add-tool PATTERN': 'skill update x --remove-tool x/now --add-tool x/fail',
  'skill update x --remove-tool x': 'skill update x --remove-tool x/echo',
  'up x': 'up',
  'up --as-copy --dir x': 'up --dir svc',
  'down --dir x': 'down --dir svc',
  'user create EMAIL': 'user create y@example.com',
  'user reset x': 'user reset x@example.com',
  'user update EMAIL --role ROLE': 'user update x@example.com --role editor',
  'user update EMAIL --role owner': 'user update x@example.com --role owner',
  'workspace create NAME': 'workspace create y',
  'workspace use NAME': 'workspace use x',
  'connect --client x': 'connect --client cursor',
  'connect --client x --write': 'connect --client json',
  'init --import .mcp.json --share': 'init --import .mcp.json --share --yes',
  'server add files -- npx -y @modelcontextprotocol/server-filesystem ./docs': 'server add files -- node DEMO',
  'service install --system': 'service install --system --print',
};

interface Answer {
  readonly code: number;
  readonly says: string;
}

const asks: Answer = { code: 2, says: 'Moves from embedded with sqlite to distributed with sqlite:' };
const replaces: Answer = { code: 2, says: 'Replaces the data of this installation:' };
const nothingWaits: Answer = { code: 1, says: 'that waits to be confirmed or undone.' };
const incomplete: Answer = { code: 2, says: 'needs one of' };
const embedded: Answer = { code: 2, says: 'Runtimes on other machines need NATS.' };

/** Hints that are answered by a refusal in this installation, which has one process and nobody who answers. */
export const answers: Readonly<Record<string, Answer>> = {
  'down --id x': { code: 2, says: 'is not the id of an installation.' },
  'integration connect x': { code: 1, says: 'There is no integration "x".' },
  move: incomplete,
  'move --confirm': nothingWaits,
  'move --to distributed': asks,
  'move --to x --graph x': asks,
  'move --to distributed --engine docker': { code: 4, says: 'Docker' },
  restore: incomplete,
  'restore --confirm': nothingWaits,
  'restore FILE': replaces,
  'restore tools.backup.gz': replaces,
  'skill import': { code: 2, says: 'Name at least one folder.' },
  'runtime register NAME': embedded,
  'runtime register NAME --out FILE': embedded,
  'runtime register x': embedded,
  'runtime revoke NAME': { code: 1, says: 'There is no runtime "y".' },
  'runtime start': { code: 2, says: 'RUNTIME_KEY is required' },
  'runtime start --variable-file x': { code: 2, says: '--variable-file "x" cannot be read' },
  'server add --from x x': { code: 1, says: 'the required setting' },
  'server add NAME --url URL': { code: 1, says: 'connection refused' },
  'logs caddy': { code: 1, says: 'There is no log of "caddy".' },
  'logs dgraph-alpha': { code: 1, says: 'There is no log of "dgraph-alpha".' },
  'logs dgraph-zero': { code: 1, says: 'There is no log of "dgraph-zero".' },
};
