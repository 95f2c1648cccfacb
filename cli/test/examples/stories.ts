/** A line of a story, as a person types it, with the answer. A line that is no example of a command prepares the next ones. */
export interface Line {
  readonly line: string;
  /** How stdout begins; for a refusal, the message after `Error: `. */
  readonly says: string;
  /** Default: 0. */
  readonly code?: number;
  /** The folder below the story's in which it is typed. */
  readonly in?: string;
  /** For a line that ends at Ctrl-C: what it shows before. */
  readonly until?: string;
  /** Why this example cannot succeed in a test. */
  readonly because?: string;
}

const line = (line: string, says = '', more: Partial<Line> = {}): Line => ({ line, says, ...more });
const watch = (typed: string, until: string): Line => line(typed, '', { until });

/** The examples that are answered by a refusal, each with its reason. */
const refused = (code: number, because: string) => (typed: string, says: string) =>
  line(typed, says, { code, because });
const asks = refused(2, 'It asks, and a script has nobody to answer.');
const unknownHost = refused(1, 'The host of an example does not exist.');
const isRoot = process.geteuid?.() === 0;
const noIntegration = refused(1, 'The host of the example has never asked for authorization.');
const notFilledIn = refused(1, 'Nobody has filled in the setting of the example yet.');
const notRoot = refused(
  isRoot ? 4 : 3,
  'Only root may install a service of the machine, and the systemd of the test refuses root too.',
);
const noSuchId = refused(1, 'No installation has the id of an example.');
const noDocker = refused(4, 'The shell of the test finds no Docker.');
const noDgraph = refused(4, 'The shell of the test finds no dgraph.');
const nothingMoved = refused(1, 'The move before has ended.');

const everything = 'npx -y @modelcontextprotocol/server-everything';
const filesystem = 'npx -y @modelcontextprotocol/server-filesystem';
const connected = 'Connected\n\nTOOLS (1';

/** Files that the examples of the first story read. */
export const filesOfStory: Readonly<Record<string, string>> = {
  'docs/notes.md': 'Notes.\n',
  'forms.md': 'Fill in the form.\n',
  'skills/read-documents/SKILL.md': '---\nname: read-documents\ndescription: Reads documents\n---\n\nRead them.\n',
  'echo.md': 'Say it back.\n',
  'message.json': '{"message":"hello"}',
  'crm.secret': 'secret of the client\n',
  'old-key.txt': 'USK-0123456789-0123456789\n',
  'passphrase.txt': 'five random words of mine\n',
  '.mcp.json': JSON.stringify({
    mcpServers: {
      files: { command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', 'docs'] },
      github: { command: 'npx', args: ['-y', 'github-mcp-server'] },
    },
  }),
  '.claude.json': JSON.stringify({ mcpServers: { inClaude: { command: 'npx', args: ['-y', 'github-mcp-server'] } } }),
  '.cursor/mcp.json': JSON.stringify({ mcpServers: { inCursor: { url: 'https://cursor.example.com/mcp' } } }),
  'platform.yaml': `workspace: Default
mcpServers:
  applied: { command: npx, args: [-y, "@modelcontextprotocol/server-everything"] }
skills:
  - { name: applied, tools: [applied/echo] }
`,
};

/** A platform of one process, from its first start to its removal. */
const onePlatform: readonly Line[] = [
  line('svc config check', '/'),
  line('svc config show', 'SERVICE'),
  line('svc config show --json', '{"variables":['),
  line('svc config docs', 'id\nMeaning'),
  line('svc config docs runtime', 'runtime.name\nMeaning'),
  refused(4, 'The platform does not run.')('svc keys list', 'The platform is not running.'),
  line('svc up', 'The platform is running.'),
  line('svc status', 'The platform is running (embedded, process)'),
  line('svc status --all', 'NAME'),
  watch('svc status --watch', 'The platform is running'),
  watch('svc logs -f', 'listening'),
  line('svc logs runtime --since 10m --level warn'),
  line('svc restart remote-mcp runtime', 'The platform is running.'),
  line('svc open', 'http://localhost:'),
  line('svc open api', 'http://localhost:'),
  line('svc doctor', '✓ svc.yaml'),
  line('svc doctor --support support.txt', '✓ svc.yaml'),
  line('source <(svc completion bash)'),
  line('svc completion zsh > ~/.svc-completion.zsh'),
  line('svc service install', 'The platform starts at boot'),
  notRoot(
    'svc service install --system',
    isRoot ? '"systemctl --system daemon-reload" failed: Access denied.' : 'Only root may write',
  ),
  line('svc service install --print', '[Unit]'),
  line('svc service uninstall', 'The platform no longer starts at boot.'),

  line('svc workspace create Acme && svc workspace use Acme', 'Created workspace Acme'),
  line('svc workspace use Acme', 'Commands work in the workspace Acme now.'),
  line(`svc server add files -- ${filesystem} docs`, connected),
  line(`svc server add tickets -- ${everything}`, connected),
  line('svc skill create tickets --tool tickets/echo', 'Created skill tickets'),
  line('svc skill create mail --tool tickets/echo', 'Created skill mail'),
  line('svc skill create echo --tool tickets/echo', 'Created skill echo'),
  line('svc file add echo ./forms.md', 'Added'),
  line('svc keys create laptop', 'SVA_'),
  line('svc workspace list', 'NAME     STATE'),
  line('svc workspace list --json', '{"workspaces":['),
  line('svc workspace use Default', 'Commands work in the workspace Default now.'),
  line('svc user list', 'EMAIL'),
  line('svc user list --json', '{"users":['),
  line('svc user create ann@example.com', 'Made ann@example.com a member of Default: viewer.'),
  line(
    'svc user create ann@example.com --role admin --workspace Acme',
    'Made ann@example.com a member of Acme: admin.',
  ),
  line('svc user list --workspace Acme --json', '{"users":['),
  line('svc user invite cleo@example.com', 'Invited cleo@example.com to Default: viewer.'),
  line('svc user invite cleo@example.com --role editor --workspace Acme', 'Invited cleo@example.com to Acme: editor.'),
  line('svc user reset ann@example.com', 'http://localhost:'),
  line('svc user reset ann@example.com --json', '{"email":"ann@example.com"'),
  line('svc user update ann@example.com --role owner', 'Changed member ann@example.com: role.'),
  line('svc user update ann@example.com --suspend', 'Changed member ann@example.com: suspended.'),
  line('svc user remove ann@example.com', 'Removed ann@example.com from Default.'),
  line('svc user remove ann@example.com --workspace Acme --yes', 'Removed ann@example.com from Acme.'),

  asks('svc server import .mcp.json', 'Adding these MCP servers runs their commands'),
  asks('svc server import --from cursor', 'Adding these MCP servers runs their commands'),
  line('svc server import .mcp.json --only files --only github --yes', 'NAME    RESULT\nfiles   created'),
  line('svc server remove files && svc server remove github', 'Removed MCP server files.'),

  line(`svc server add everything -- ${everything}`, connected),
  line('svc server remove everything', 'Removed MCP server everything.'),
  line(`svc server add everything --share -- ${everything}`, connected),
  line('svc server add github --env LOG=debug --env GITHUB_TOKEN -- npx -y github-mcp-server', connected),
  line('svc server add --from files --fill folder=./docs', connected),
  line('svc server remove files', 'Removed MCP server files.'),
  notFilledIn(
    'svc server add tracker --require TRACKER_TOKEN -- npx -y tracker-mcp-server',
    'tracker is added, but not Connected: It is not started: the required setting',
  ),
  line('svc server remove tracker', 'Removed MCP server tracker.'),
  unknownHost(
    'svc server add crm --url https://crm.example.com/mcp --header Authorization',
    'crm is added, but not Connected: ',
  ),
  line(`svc server add files -- ${filesystem} .`, connected),
  line(`svc server update files -- ${filesystem} ./docs`, 'Changed MCP server files: args.\nConnected'),
  line('svc server update github --env GITHUB_TOKEN --unset-env LOG', 'Changed MCP server github: env.LOG.'),
  line('svc server update github --require GITHUB_TOKEN', 'Changed MCP server github: settings.\nConnected'),
  line('svc server list', 'NAME'),
  line('svc server list --json', '{"mcpServers":['),
  line('svc server show files', 'name'),
  line('svc server show files --json', '{"id":"srv_'),
  line('svc server test files', '✓ '),
  line('svc server test files --json', '{"ok":true'),
  line('svc server logs files', 'Secure MCP Filesystem Server'),
  watch('svc server logs files -f', 'Secure MCP'),
  watch('svc logs --server files -f', 'Secure MCP'),
  line('svc server restart files', connected),
  line('svc server restart files --workspace Acme', connected),
  line('svc server disable files', 'Disabled files.'),
  line('svc server disable files --workspace Acme', 'Disabled files.'),
  line('svc server enable files', connected),
  line('svc server enable files --workspace Acme', connected),

  line('svc integration list', 'There are no integrations yet.'),
  line('svc integration list --json', '{"integrations":['),
  noIntegration('svc integration show crm', 'There is no integration "crm"'),
  noIntegration('svc integration show crm --workspace Acme', 'There is no integration "crm"'),
  noIntegration('svc integration connect crm', 'There is no integration "crm"'),
  noIntegration('svc integration connect crm --workspace Acme', 'There is no integration "crm"'),
  noIntegration(
    'svc integration update crm --client-id svc --client-secret-file crm.secret',
    'There is no integration "crm"',
  ),
  noIntegration('svc integration update crm --scope files:read --scope files:write', 'There is no integration "crm"'),
  noIntegration('svc integration disconnect crm', 'There is no integration "crm"'),
  noIntegration('svc integration disconnect crm --workspace Acme --yes', 'There is no integration "crm"'),

  line("svc skill import ./skills/read-documents --tool 'files/*'", '+ skill read-documents'),
  line('svc skill import ./skills/* --dry-run', 'Nothing changes'),
  line('svc skill remove read-documents --yes', 'Removed skill read-documents.'),
  line('svc skill create read-documents --tool files/read_file --tool files/search_files', 'Created skill read-doc'),
  line(`svc server add tickets -- ${everything}`, connected),
  line(`svc server add mail -- ${filesystem} .`, connected),
  line("svc skill create support --tool 'tickets/*' --tool 'mail/read_*'", 'Created skill support: '),
  line(
    'svc skill create echo --tool everything/echo --description "Say it back" --instructions ./echo.md',
    'Created skill echo: everything/echo.',
  ),
  line("svc skill update echo --remove-tool everything/echo --add-tool 'everything/*'", 'Changed skill echo: tools.'),
  line('svc skill update echo --instructions ./echo.md', 'Nothing to change'),
  line('svc skill list', 'NAME'),
  line('svc skill list --workspace Acme --json', '{"skills":['),
  line('svc skill show echo', 'name'),
  line('svc skill show echo --json', '{"id":"skl_'),
  line('svc file add echo ./forms.md', 'Added'),
  line('svc file add echo ./forms.md --as references/forms.md', 'Added'),
  line('svc file list echo', 'PATH'),
  line('svc file list echo --json', '{"skill":"echo","files":['),
  line('svc file remove echo references/forms.md', 'Removed'),
  line('svc file remove echo forms.md --workspace Acme', 'Removed'),

  line('svc skill export echo', 'Wrote'),
  line('svc skill export echo ./skills/echo', 'Wrote'),
  line('svc skill import ./echo --replace', 'Nothing changes'),
  line('svc skill publish echo', 'Published skill echo in Everyone.'),
  asks('svc skill publish echo --draft', 'Removing the skill "echo" from its roles has consequences'),

  line('svc role create Reader --skill read-documents', 'Created role Reader with read-documents.'),
  line('svc role create Support --skill tickets --skill mail --workspace Acme', 'Created role Support with '),
  line('svc role create Support --skill support', 'Created role Support with support.'),
  line("svc role create Clerk --skill support --deny 'mail/write_*'", 'Created role Clerk with support.'),
  line("svc skill create read-mail --tool 'mail/read_*'", 'Created skill read-mail'),
  line('svc role update Reader --add-skill read-mail', 'Changed role Reader: skills.'),
  line('svc role update Reader --add-deny mail/write_file', 'Changed role Reader: deny.'),
  line('svc role update Reader --disable', 'Changed role Reader: enabled.'),
  line('svc role list', 'NAME'),
  line('svc role list --json', '{"roles":['),
  line('svc skill publish echo --role Reader', 'Published skill echo in Reader.'),
  line('svc role show Reader', 'name    Reader'),
  line('svc role show Reader --json', '{"id":"rol_'),
  line('svc role update Reader --enable', 'Changed role Reader: enabled.'),

  line('svc tool list', 'TOOL'),
  line('svc tool list files --json', '{"tools":['),
  line('svc keys create agent --disclosure all > key.txt'),
  line('svc tool list --key-file key.txt', 'TOOLS ('),
  line('svc tool call everything/get-tiny-image', "Here's the image"),
  line(`echo '{"message":"hello"}' | svc tool call everything/echo --input -`, 'Echo: hello'),
  line('svc tool call everything/echo --input message.json --key-file key.txt', 'Echo: hello'),

  line('svc keys create laptop', 'SVA_'),
  line('svc keys create reports --role Reader --expires 30d', 'SVA_'),
  line('svc keys create inspector --disclosure all', 'SVA_'),
  line('svc keys list', 'NAME'),
  line('svc keys list --json', '{"keys":['),
  line('svc keys show laptop', 'name          laptop'),
  line('svc keys show laptop --json', '{"id":"key_'),
  line('svc keys explain laptop', 'The key laptop (SVA_…'),
  line('svc keys explain --key-file key.txt', 'The key agent (SVA_…'),
  line('svc keys update laptop --disclosure all', 'Changed key laptop: disclosure.'),
  line('svc keys update laptop --role Reader --role Support --expires 90d', 'Changed key laptop: '),
  line('svc keys rotate laptop', 'SVA_'),
  line('svc keys rotate laptop --finish', 'Ended the old key SVA_…'),
  line('svc keys revoke laptop', 'Revoked laptop (SVA_…'),
  line('svc keys revoke laptop --workspace Acme', 'Revoked laptop (SVA_…'),
  line('svc keys import laptop --key-file old-key.txt', 'Imported the key laptop (USK'),
  line('svc keys revoke reports && echo USK-1111111111-1111111111 > old-key.txt', 'Revoked reports'),
  line('SVC_API_KEY=$(cat old-key.txt) svc keys import reports --role Reader', 'Imported the key reports (USK'),
  line('SVC_API_KEY=$(cat key.txt) svc keys test', '✓ name resolution'),
  line('svc keys test --url https://tools.example.com/mcp --key-file key.txt', '✗ name resolution', {
    ...{ code: 4, because: 'The host of an example does not exist.' },
  }),

  line('svc connect --client vscode', '{\n  "inputs"'),
  asks('svc connect --client cursor --role Reader --write', 'The ch'),
  asks('svc connect --client claude-desktop --write --key-file key.txt', 'The ch'),

  line('svc apply platform.yaml', '+ MCP server applied'),
  line('cat platform.yaml | svc apply -', 'Nothing changes: 2 are unchanged.'),
  line('svc apply platform.yaml --dry-run', 'Nothing changes: 2 are unchanged.'),
  asks('svc apply platform.yaml --prune', 'Removing 11 objects has consequences'),
  line('svc apply exported.yaml --export', 'Wrote "'),

  line('svc usage', 'TOOL'),
  line('svc usage --by key --since 24h --json', '{"by":"key"'),
  line('svc audit', 'WHEN'),
  line('svc audit --since 30d --lines 5000 --json', '{"entries":['),

  asks('svc skill remove echo', 'Removing the skill "echo" has consequences'),
  line('svc skill remove echo --yes', 'Removed skill echo.'),
  asks('svc role remove Reader', 'Removing the role "Reader" has consequences'),
  line('svc role remove Reader --yes', 'Removed role Reader.'),
  asks('svc server remove files', 'Removing the MCP server "files" has consequences'),
  line('svc server remove files --workspace Acme --yes', 'Removed MCP server files.'),
  line('svc workspace update Acme --suspend', 'Changed workspace Acme: suspended.'),
  line('svc workspace update Acme --name "Acme Europe"', 'Changed workspace Acme Europe: name.'),
  line('svc workspace create Acme --owner-email ann@acme.example', 'Created workspace Acme'),
  asks('svc workspace remove Acme', 'The name of the workspace must be typed.'),
  line('svc workspace remove Acme --confirm Acme', 'Removed workspace Acme.'),
  line('svc restart', 'The platform is running.'),
  line('svc down', 'The platform is stopped; all data is kept.'),
  noSuchId('svc down --id 4kq07kx0v2fy0d5s', 'No process of an installation with the id'),
  watch('svc up --foreground', 'The platform is running.'),
  asks('svc destroy', 'The name of the installation must be typed.'),
];

/** Folders: new ones, a copy, and archives. The story's installation has the name "tools". */
const folders: readonly Line[] = [
  line('svc init --yes', 'Created ', { in: 'a' }),
  line('svc init --topology distributed --graph sqlite --engine process', 'Created ', { in: 'b' }),
  line('svc init --topology distributed --graph sqlite --engine docker', 'Created ', { in: 'c' }),
  line('svc init --import claude-code --share --yes', 'Created ', { in: 'f' }),
  line('svc down', 'The platform is stopped; all data is kept.', { in: 'f' }),
  line('svc init tools --owner-email ops@example.com --yes', 'Created '),
  line('svc config check --dir tools', '/'),
  line('svc down --dir tools', 'Nothing to do: the platform was not running.'),
  line('svc service uninstall --dir tools', 'Nothing to do: no service starts this platform.'),
  line('svc up', 'The platform is running.'),
  line('svc backup', 'Wrote "'),
  line('svc backup tools.backup.gz', 'Wrote "'),
  line('svc backup --with-secrets --passphrase-file passphrase.txt', 'Wrote "'),
  line('svc restore tools.backup.gz --over tools', 'Restored the backup'),
  asks('svc restore --undo', '"Go back to the data before the restore?" must be answered.'),
  line('svc restore --confirm', 'Confirmed: '),
  line('svc init --yes && cp ../svc/secrets/encryption.key svc/secrets && cp ../tools.backup.gz .', 'Created ', {
    in: 'd',
  }),
  line('svc restore tools.backup.gz', 'Restored the backup', { in: 'd' }),
  line('svc init --yes && cp -r ../svc old && cp ../tools.backup.gz .', 'Created ', { in: 'e' }),
  line('svc restore tools.backup.gz --encryption-key-file old/secrets/encryption.key', 'Restored the backup', {
    in: 'e',
  }),
  line('cp -r svc trial'),
  line('svc up --as-copy --dir trial', 'The platform is running.'),
  line('svc destroy --dir trial --confirm tools-copy', 'The installation tools-copy is removed.'),
  line('svc init trial --yes', 'Created '),
  line('svc destroy --dir trial --confirm trial', 'The installation trial is removed.'),
];

/** Several processes, and the way there and back. */
const processes: readonly Line[] = [
  line('svc up', 'The platform is running.'),
  noDgraph('svc move --to distributed --graph dgraph', 'graph: dgraph needs dgraph, which is not on PATH.'),
  noDocker('svc move --to distributed --engine docker', 'No Docker runs on this machine'),
  line('svc move --graph sqlite', 'Nothing to do: it is embedded with sqlite already.'),
  line('svc move --engine process', 'Nothing to do: it is embedded with sqlite already.'),
  asks(
    'svc move --to distributed --graph sqlite --engine process',
    '"Move to distributed with sqlite?" must be answered.',
  ),
  line('svc move --to distributed --graph sqlite --engine process --yes', 'Moved from embedded with sqlite'),
  line('svc move --confirm', 'Confirmed'),
  nothingMoved('svc move --undo', 'There is no move that waits'),
  line('svc workspace create Acme', 'Created workspace Acme'),
  line('svc runtime register edge', ' mkdir -p '),
  line('svc runtime register edge --out edge.env', 'Wrote '),
  line('svc runtime list', 'NAME'),
  line('svc runtime list --json', '{"runtimes":['),
  watch('svc runtime start --variable-file edge.env', 'connected'),
  line('source edge.env && echo $RUNTIME_KEY > edge.key'),
  // A runtime waits for a bus that is away.
  watch(
    'RUNTIME_KEY_FILE=edge.key BUS_SERVERS=tls://bus.example.com:4222 svc runtime start',
    'Cannot reach the bus at tls://bus.example.com:4222: its name cannot be resolved.',
  ),
  asks('svc runtime revoke edge', 'Revoking "edge" must be confirmed.'),
  line('svc runtime register edge --workspace Acme', ' mkdir -p '),
  line('svc runtime revoke edge --workspace Acme --yes', 'Revoked'),
];

export const stories = { onePlatform, folders, processes };
