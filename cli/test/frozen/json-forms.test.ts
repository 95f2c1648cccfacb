import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { readDefinition } from '../../../stack/settings/check.ts';
import { foreignServers } from '../../../stack/test/foreign-servers.ts';
import { Platform, startTimeoutMs } from '../../../stack/test/platform.ts';
import { until } from '../../../stack/test/until.ts';
import { svcFile } from '../run-svc.ts';
import { formOf } from './form-of.ts';

/**
 * What programs read from `svc … --json`: the form of each answer and its exit code, as json-forms.json has them. A name, a type or a code
 * that changes breaks such programs. A new member is written into the file by hand.
 */
const frozen: unknown = JSON.parse(readFileSync(join(import.meta.dirname, 'json-forms.json'), 'utf8'));
let platform: Platform;
const answers: { readonly command: string; readonly exitCode: number | null; readonly form: unknown }[] = [];

beforeAll(async () => {
  platform = await Platform.init();
}, startTimeoutMs);
afterAll(() => platform[Symbol.asyncDispose](), startTimeoutMs);

/** `more` are arguments that differ from run to run. */
async function ask(typed: string, ...more: readonly string[]): Promise<unknown> {
  return await askWith({}, typed, ...more);
}

async function askWith(env: Readonly<Record<string, string>>, typed: string, ...more: readonly string[]) {
  const args = [...typed.split(' '), '--json', ...more];
  const { code, stdout, stderr } = await platform.run(args, { env });
  const command = ['svc', typed, ...(more.length > 0 ? ['…'] : [])].join(' ');
  if (!stdout.startsWith('{')) throw new Error(`${command} printed no JSON: ${stdout}${stderr}`);
  const answer: unknown = JSON.parse(stdout);
  answers.push({ command, exitCode: code, form: formOf(answer) });
  return answer;
}

test('every answer of the command line has its recorded form', async () => {
  const file = join(platform.folder, 'notes.md');
  await writeFile(file, 'notes');
  const elsewhere = join(platform.folder, 'elsewhere');
  await mkdir(elsewhere);
  const message = join(platform.folder, 'message.json');
  await writeFile(message, '{"message":"hello"}');
  await writeFile(
    join(platform.folder, '.mcp.json'),
    JSON.stringify({ mcpServers: { imported: { command: 'true' } } }),
  );
  await ask('init --yes', elsewhere);
  await ask('status');
  await ask('config check');
  await ask('config docs runtime');
  await ask('config show');
  await ask('completion bash');
  await ask('service install --print');
  await ask('service uninstall');
  await askWith({ PATH: '' }, 'doctor');
  await ask('destroy --dir elsewhere');
  await ask('destroy --dir elsewhere --confirm elsewhere');
  await ask('up');
  await ask('up --as-copy');
  await ask('status');
  await ask('server add everything', '--', ...foreignServers.everything);
  await ask('server add everything', '--', ...foreignServers.everything);
  await ask('server add');
  await ask('server list');
  await ask('server show everything');
  await ask('server show nothing');
  await ask('skill create all --tool everything/echo --tool everything/get-env');
  await ask('skill create all --tool everything/echo');
  await ask('skill create gone --tool everything/echo');
  await ask('skill remove gone');
  await ask('skill list');
  await ask('role create Agents --skill all');
  await ask('role create Others --skill nothing');
  await ask('role list');
  await ask('file add all', file);
  await ask('file list all');
  await ask('file remove all notes.md');
  const created = (await ask('keys create --name agent --role Agents')) as { readonly key: string };
  await ask('keys list');
  await ask('keys show agent');
  await ask('keys explain agent');
  await ask('keys update agent --disclosure all');
  await askWith({ SVC_API_KEY: created.key }, 'keys test');
  await ask('keys test --key SVA_wrong');
  await ask('keys rotate agent');
  await ask('keys rotate agent --finish');
  await ask('keys rotate agent --finish --yes');
  await ask('keys rotate agent --finish');
  await askWith({ SVC_API_KEY: 'USK-0123456789-0123456789' }, 'keys import older --role Agents');
  await ask('keys revoke agent');
  await ask('keys revoke nothing');
  await ask('runtime register edge');
  await ask('runtime list');
  await ask('runtime revoke edge');
  await writeFile(
    join(platform.folder, 'platform.yaml'),
    'workspace: Default\nskills:\n  - name: more\n    tools: [everything/echo]\n',
  );
  await ask('apply platform.yaml');
  await writeFile(join(platform.folder, 'wrong.yaml'), 'workspace: Default\nskill: []\n');
  await ask('apply wrong.yaml');
  await ask('server update everything --env LOG=1');
  await ask('server update everything');
  await ask('server restart everything');
  await ask('server test everything');
  await ask('server logs everything');
  await ask('server disable everything');
  await ask('server enable everything');
  await ask('skill show all');
  await ask('skill publish all');
  await ask('skill publish all --draft --yes');
  await ask('skill export all');
  await ask('skill export all');
  await ask('skill import all');
  await ask('skill publish all --role Agents');
  await ask('skill update all --description Everything');
  await ask('skill update all --description Everything');
  await ask('role show Agents');
  await ask('role update Agents --disable');
  await ask('role update Agents');
  await ask('role remove Agents --yes');
  await ask('tool list');
  await ask('tool call everything/echo', '--input', message);
  await ask('tool call everything/nothing');
  await until(async () => (await platform.svc('usage')).usage.length > 0);
  await ask('usage');
  await ask('audit --lines 1');
  await ask('logs frontend --lines 1');
  await ask('open');
  await ask('connect --client cursor');
  await ask('connect');
  await ask('status --all');
  await ask('server add needy --require TOKEN', '--', ...foreignServers.everything);
  await ask('server show needy');
  await ask('server remove needy --yes');
  await ask('integration list');
  await ask('integration show nothing');
  await ask('integration connect nothing');
  await ask('integration update nothing --default-scopes');
  await ask('integration disconnect nothing');
  await ask('server import .mcp.json');
  await ask('server import .mcp.json --yes');
  await ask('server remove imported');
  await ask('user create ann@example.com');
  await ask('user invite cleo@example.com');
  await ask('user reset ann@example.com');
  await ask('user update ann@example.com --role editor');
  await ask('user list');
  await ask('user remove ann@example.com');
  await ask('workspace create Acme');
  await ask('workspace list');
  await ask('workspace update Acme --suspend');
  await ask('workspace use Default');
  await ask('workspace remove Acme');
  await ask('workspace remove Acme --confirm Acme');
  await ask('backup tools.backup.gz');
  await ask('restore tools.backup.gz');
  await ask('restore tools.backup.gz', '--over', readDefinition(platform.installation.definitionFile).name);
  await ask('restore --confirm');
  await ask('restore --undo');
  await ask('move --engine process');
  await ask('move --confirm');
  await until(async () => (await platform.svc('server', 'show', 'everything')).status === 'Connected');
  await ask('server remove everything');
  await ask('server list');
  await ask('server remove everything --yes');
  await ask('restart');
  await ask('down');
  await ask('down');
  await ask('server list');
  await ask('nothing');
  expect(answers).toEqual(frozen);
}, 480_000);

/** Commands whose JSON is something else, with the reason. */
const others: Readonly<Record<string, string>> = {
  'runtime:start': 'It prints a line of JSON for each line of its log.',
};

test('every command has a recorded form', () => {
  const { commands }: { commands: Record<string, unknown> } = JSON.parse(
    readFileSync(join(svcFile, '../../oclif.manifest.json'), 'utf8'),
  );
  const recorded = z.array(z.object({ command: z.string() })).parse(frozen);
  const ids = new Set(
    recorded.flatMap(({ command }) => {
      const [, first = '', second = ''] = command.split(' ');
      return [first, `${first}:${second}`];
    }),
  );
  expect(Object.keys(commands).filter((id) => !ids.has(id) && !(id in others))).toEqual([]);
});
