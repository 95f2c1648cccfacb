import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { foreignServers } from '../../../stack/test/foreign-servers.ts';
import { Platform, startTimeoutMs } from '../../../stack/test/platform.ts';
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
  await ask('init --yes', elsewhere);
  await ask('status');
  await ask('config check');
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
  await ask('server remove everything');
  await ask('server list');
  await ask('server remove everything --yes');
  await ask('down');
  await ask('down');
  await ask('server list');
  await ask('nothing');
  expect(answers).toEqual(frozen);
}, 240_000);
