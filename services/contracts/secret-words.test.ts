import { describe, expect, test } from 'vitest';
import { findSecretWord, withoutSecretWords } from './secret-words.ts';

const body = 'a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8';

describe('a secret in a word is found and not shown', () => {
  test.each([
    [
      ['env', `TOKEN=ghp_${body}`, 'npx'],
      ['env', 'TOKEN=[secret]', 'npx'],
    ],
    [
      ['node', `ghp_${body}`],
      ['node', '[secret]'],
    ],
    [
      ['node', `github_pat_11${body}_x`],
      ['node', '[secret]'],
    ],
    [
      ['node', `gho_${body}`],
      ['node', '[secret]'],
    ],
    [
      ['node', `sk-${body}`],
      ['node', '[secret]'],
    ],
    [
      ['node', `sk-ant-api03-${body}`],
      ['node', '[secret]'],
    ],
    [
      ['node', `--key=sk-proj-${body}`],
      ['node', '--key=[secret]'],
    ],
    [
      ['node', 'xoxb-123456789012-abcdef'],
      ['node', '[secret]'],
    ],
    [
      ['node', 'AKIAIOSFODNN7EXAMPLE'],
      ['node', '[secret]'],
    ],
    [
      ['node', `glpat-${body}`],
      ['node', '[secret]'],
    ],
    [
      ['node', `npm_${body}`],
      ['node', '[secret]'],
    ],
    [
      ['node', `SVA_${body}`],
      ['node', '[secret]'],
    ],
    [
      ['node', `RTK_${body}`],
      ['node', '[secret]'],
    ],
    [
      ['node', `SYK_${body}`],
      ['node', '[secret]'],
    ],
    [
      ['node', `USK${body}`],
      ['node', '[secret]'],
    ],
    [
      ['node', `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${body}`],
      ['node', '[secret]'],
    ],
    [
      ['node', `jwt_eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.${body}`],
      ['node', '[secret]'],
    ],
    [
      ['node', '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Bl'],
      ['node', '[secret]'],
    ],
    [
      ['env', 'DB_PASSWORD=hunter2', 'x'],
      ['env', 'DB_PASSWORD=[secret]', 'x'],
    ],
    [
      ['env', 'API_KEY=abc', 'x'],
      ['env', 'API_KEY=[secret]', 'x'],
    ],
    [
      ['env', 'APIKEY=abc', 'x'],
      ['env', 'APIKEY=[secret]', 'x'],
    ],
    [
      ['docker', 'run', '-e', 'SECRET=abc', 'x'],
      ['docker', 'run', '-e', 'SECRET=[secret]', 'x'],
    ],
    [
      ['sh', '-c', 'TOKEN=abc exec x'],
      ['sh', '-c', 'TOKEN=[secret] exec x'],
    ],
    [
      ['x', '--api-key', 'abc'],
      ['x', '--api-key', '[secret]'],
    ],
    [
      ['x', '--auth-token=abc'],
      ['x', '--auth-token=[secret]'],
    ],
    [
      ['x', 'postgres://me:hunter2@db.example/app'],
      ['x', 'postgres://me:[secret]@db.example/app'],
    ],
    [
      ['x', 'https://a.example/mcp?token=abc&x=1'],
      ['x', 'https://a.example/mcp?token=[secret]&x=1'],
    ],
    [
      ['x', 'https://a.example/mcp?x=1&api_key=abc'],
      ['x', 'https://a.example/mcp?x=1&api_key=[secret]'],
    ],
    [
      ['x', '--header', 'Authorization: Bearer abc'],
      ['x', '--header', 'Authorization: Bearer [secret]'],
    ],
    [
      ['x', '--header', 'X-Api-Key: abc'],
      ['x', '--header', 'X-Api-Key: [secret]'],
    ],
  ])('%j', (words, shown) => {
    expect(withoutSecretWords(words)).toEqual(shown);
    const at = words.findIndex((word, index) => word !== shown[index]);
    expect(findSecretWord(words)).toEqual({ at, shown: shown[at] });
  });
});

/** Commands as people add them, and as the documentation of these servers names them. */
const ordinary = `
npx -y @modelcontextprotocol/server-everything
npx -y @modelcontextprotocol/server-filesystem ./docs /srv/me/projects
npx -y @modelcontextprotocol/server-memory
npx -y @modelcontextprotocol/server-sequential-thinking
npx -y @modelcontextprotocol/server-github
npx -y @modelcontextprotocol/server-gitlab
npx -y @modelcontextprotocol/server-postgres postgresql://localhost/mydb
npx -y @modelcontextprotocol/server-postgres postgresql://me@localhost:5432/mydb?sslmode=disable
npx -y @modelcontextprotocol/server-puppeteer
npx -y @modelcontextprotocol/server-slack
npx -y @modelcontextprotocol/server-brave-search
npx -y @modelcontextprotocol/server-redis redis://localhost:6379
uvx mcp-server-git --repository /srv/me/repo
uvx mcp-server-fetch --ignore-robots-txt
uvx mcp-server-time --local-timezone=Europe/Berlin
uvx mcp-server-sqlite --db-path ~/test.db
uvx --from git+https://github.com/owner/repo mcp-server
uv --directory /opt/server run main.py
python -m mcp_server_git -r .
python3 server.py --transport stdio --log-level debug
node ./build/index.js
node --max-old-space-size=4096 --env-file=.env dist/server.js
node -e setInterval(()=>{},1000)
deno run --allow-net --allow-env server.ts
bun run src/index.ts
docker run -i --rm -e GITHUB_PERSONAL_ACCESS_TOKEN ghcr.io/github/github-mcp-server
docker run -i --rm -e GITHUB_TOKEN=\${GITHUB_TOKEN} ghcr.io/github/github-mcp-server
docker run -i --rm --mount type=bind,src=/srv/me,dst=/projects mcp/filesystem /projects
docker run -i --rm --env-file secrets.env mcp/slack
npx -y mcp-remote https://mcp.example.com/sse
npx -y mcp-remote https://mcp.example.com/mcp --header Authorization:\${AUTH_HEADER}
npx -y mcp-remote https://mcp.example.com/mcp 3334 --transport http-only
npx -y @playwright/mcp@latest --headless --browser chromium --viewport-size 1280,720
npx -y chrome-devtools-mcp@latest --isolated
npx -y @upstash/context7-mcp --api-key YOUR_API_KEY
npx -y firecrawl-mcp
npx -y tavily-mcp@0.1.4
npx -y @notionhq/notion-mcp-server
npx -y @supabase/mcp-server-supabase@latest --read-only --project-ref=abcdefghijklmnopqrst
npx -y @stripe/mcp --tools=all
npx -y @sentry/mcp-server@latest --host=sentry.example.com
npx -y kubernetes-mcp-server@latest --kubeconfig /srv/me/.kube/config
npx -y mongodb-mcp-server --connectionString mongodb://localhost:27017/app --readOnly
npx -y task-master-ai --sk-learn-something-long-here-2
npx -y @scope/sk-learn-mcp-server-with-a-long-name2
java -jar mcp-server.jar --spring.profiles.active=stdio
go run github.com/mark3labs/mcp-filesystem-server@latest /tmp
cargo run --release -- --stdio
dotnet run --project ./Server.csproj
sh -c exec\u00a0npx\u00a0server\u00a0--token\u00a0"$TOKEN"
env LOG_LEVEL=debug MAX_TOKENS=4096 KEYBOARD=de TOKENIZER=bpe npx server
env SSH_KEY=/srv/me/.ssh/id_ed25519 SSL_CERT_FILE=/etc/ca.pem npx server
terraform-mcp-server stdio --primary-key=id --sort-key=name
ssh -i ~/.ssh/id_ed25519 host mcp-server --key-file=/etc/key
`
  .trim()
  .split('\n')
  .map((line) => line.split(' ').map((word) => word.replaceAll('\u00a0', ' ')));

test('there are fifty ordinary commands', () => expect(ordinary.length).toBeGreaterThanOrEqual(50));

test('a program given as a word may name a secret', () => {
  expect(findSecretWord(['node', '-e', 'connect({ token: process.env.TOKEN, secret: read() })'])).toBe(null);
});

test.each(ordinary.map((words) => ({ words, line: words.join(' ') })))('$line', ({ words }) => {
  expect(withoutSecretWords(words)).toEqual(words);
  expect(findSecretWord(words)).toBeNull();
});

/** The text on which each pattern backtracks most. */
test.each([
  ['the keys of GitHub and GitLab', '-glpat-'],
  ['the keys of OpenAI', '-sk-a'],
  ['the keys of Slack', '-xoxb-'],
  ['the keys of this platform', '-SVA_'],
  ['the first part of a JSON Web Token', '-eyJ'],
  ['the second part of a JSON Web Token', '-eyJaaaaaaaa.'],
  ['a private key', '-----BEGIN A '],
  ['a variable', '"A_TOKEN'],
  ['a flag', ' --a-token'],
  ['the scheme of a URL', 'a+.-'],
  ['the user of a URL', 'a://b'],
  ['the password of a URL', 'a://b:c'],
  ['a parameter', '&token-'],
  ['a header', ' authorization: '],
  ['the name of a header', 'a-token'],
  ['a bearer token', 'bearer '],
  ['a harmless value', ' TOKEN=*x'],
])('%s: a megabyte of its worst text takes no more than a moment', (_name, unit) => {
  const word = unit.repeat(mebibyte / unit.length);
  // The best of three, in processor time, because other processes share the machine.
  const timesMs = [1, 2, 3].map(() => {
    const begun = process.threadCpuUsage();
    findSecretWord([word]);
    const { user, system } = process.threadCpuUsage(begun);
    return (user + system) / 1000;
  });
  expect(Math.min(...timesMs)).toBeLessThan(100);
});

const mebibyte = 1024 * 1024;
