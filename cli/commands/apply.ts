import { existsSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../services/contracts/errors.ts';
import { oneLine } from '../../services/contracts/one-line.ts';
import { apply, type Change } from '../../stack/apply/apply.ts';
import { exportFile } from '../../stack/apply/export-file.ts';
import { findProblems, type Problem } from '../../stack/apply/find-problems.ts';
import { readContent } from '../../stack/apply/live-workspace.ts';
import { applyFileMaxBytes, readApplyFile } from '../../stack/apply/read-file.ts';
import { connectToBackend } from '../../stack/client/backend-client.ts';
import { inParallel } from '../../stack/client/in-parallel.ts';
import { writeIfAbsent } from '../../stack/state/durable-file.ts';
import { AlreadyReported, environment, interruption, type SharedFlags, SvcCommand, yesFlag } from '../command.ts';
import { agreeToRemoval } from '../consent.ts';
import { installationOf, tenancyOf } from '../objects/platform.ts';
import { fetchWhole, writeSkillFolders } from '../objects/skill-folders.ts';
import { kindNames, tellChanges, tellLeftOut } from '../output/changes.ts';
import type { Terminal } from '../output/terminal.ts';
import { readBoundedStdin } from '../typed/stdin.ts';

export default class Apply extends SvcCommand {
  static override summary = 'Change MCP servers, skills and roles to match files.';
  static override description =
    'A field that a file does not name stays as it is. Applying the same files again changes nothing. The command also reports what does not work, and then ends with exit code 1.';
  static override examples = [
    { description: 'Apply a file', command: '<%= config.bin %> apply platform.yaml' },
    { description: 'Apply what another program writes', command: 'cat platform.yaml | <%= config.bin %> apply -' },
    { description: 'Only show what would change', command: '<%= config.bin %> apply platform.yaml --dry-run' },
    { description: 'Remove what the file no longer names', command: '<%= config.bin %> apply platform.yaml --prune' },
    { description: 'Write the file for what exists', command: '<%= config.bin %> apply exported.yaml --export' },
  ];
  static override strict = false;
  static override args = {
    file: Args.string({ description: 'YAML files; - is standard input, and output with --export', name: 'FILE' }),
  };
  static override flags = {
    'dry-run': Flags.boolean({ summary: 'Show what would change without changing it.' }),
    prune: Flags.boolean({
      summary: 'Remove what the files no longer name, of the kinds that they list. Asks before it removes.',
    }),
    yes: yesFlag,
    export: Flags.boolean({
      summary:
        'Write the file for what exists, and folders of skills with files beside it. Secrets become names of variables. Without a file: to standard output.',
      exclusive: ['dry-run', 'prune'],
    }),
    workspace: Flags.string({
      summary: 'Workspace to export. Default: the one in use.',
      helpValue: 'NAME',
      dependsOn: ['export'],
    }),
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Apply);
    const terminal = this.terminal(flags);
    if (flags.export) return await this.#export(argv.map(String), flags, terminal);
    if (argv.length === 0)
      throw new SvcError('invalid_input', 'Name at least one file.', { hint: 'svc apply platform.yaml' });
    const backend = await connectToBackend(installationOf(flags));
    const files = [];
    // Until all files are read nothing has changed, so a signal may end the process at once.
    for (const file of argv.map(String)) {
      // Paths in standard input are relative to the working folder.
      const text = file === '-' ? await readBoundedStdin(applyFileMaxBytes) : undefined;
      files.push(readApplyFile(resolve(file), environment, text));
    }
    const { 'dry-run': dryRun, prune, yes } = flags;
    const leftOut = files.flatMap((file) => file.leftOut);
    tellLeftOut(leftOut, terminal);
    const signal = interruption();
    const agree = (planned: readonly Change[]) => agreeToPrune(planned, { terminal, yes });
    const { changes, plans } = await apply({ backend, files, dryRun, prune, agree, signal });
    tellChanges(changes, dryRun, terminal);
    const onWait = (names: readonly string[]) =>
      terminal.talk(`Waiting until ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} Connected.`);
    const problems = dryRun ? [] : await findProblems({ backend, plans, onWait, signal });
    terminal.json({ changes, problems, leftOut });
    if (problems.length === 0) return;
    tellProblems(problems, terminal);
    throw new AlreadyReported(1);
  }

  async #export(
    [file = '-', ...others]: readonly string[],
    flags: SharedFlags & { readonly workspace?: string | undefined },
    terminal: Terminal,
  ): Promise<void> {
    if (others.length > 0) throw new SvcError('invalid_input', 'With --export, name one file, or none.');
    const tenancy = await tenancyOf(flags);
    const { backend, workspace } = tenancy;
    const path = file === '-' ? null : resolve(file);
    if (path !== null && existsSync(path)) throw existing(path);
    const folder = path === null ? process.cwd() : dirname(path);
    const schema = relative(folder, join(this.config.root, 'dist/schemas/apply.schema.json'));
    const content = { workspace: workspace.name, ...(await readContent(backend, workspace.id)) };
    const { mcpServers, skills, roles } = content;
    const whole = await inParallel(skills, (skill) => fetchWhole(tenancy, skill));
    const withFiles = whole.filter(({ skill }) => skill.files.length > 0);
    const skillFolders = await writeSkillFolders(withFiles, path);
    const { text, variables } = exportFile(content, { folder, schema, skillFolders });
    if (path !== null && !writeIfAbsent(path, text, 0o644)) throw existing(path);
    const counts = { mcpServers: mcpServers.length, skills: skills.length, roles: roles.length };
    terminal.json({ file: path, text, variables, ...counts, folders: [...skillFolders.values()] });
    terminal.result(path === null ? text : `Wrote "${path}": ${describeCounts(counts)}.`);
    for (const at of skillFolders.values()) terminal.result(`Wrote "${join(folder, at)}": a skill with files.`);
    if (variables.length === 0) return;
    terminal.talk(`The file holds no secret. Set these variables before you apply it: ${variables.join(', ')}`);
  }
}

function existing(path: string): SvcError {
  return new SvcError('conflict', `"${path}" exists already.`, { hint: 'Name another file.' });
}

function describeCounts({ mcpServers, skills, roles }: Readonly<Record<'mcpServers' | 'skills' | 'roles', number>>) {
  const counted = (count: number, one: string) => `${count} ${one}${count === 1 ? '' : 's'}`;
  return `${counted(mcpServers, 'MCP server')}, ${counted(skills, 'skill')}, ${counted(roles, 'role')}`;
}

async function agreeToPrune(planned: readonly Change[], { terminal, yes }: { terminal: Terminal; yes: boolean }) {
  const removed = planned.filter(({ action }) => action === 'delete');
  await agreeToRemoval(terminal, {
    subject: removed.length === 1 ? 'one object' : `${removed.length} objects`,
    affected: removed.map(({ kind, name }) => `The ${kindNames[kind]} "${name}" is removed.`),
    yes,
  });
}

function tellProblems(problems: readonly Problem[], terminal: Terminal): void {
  terminal.complain(`\n${terminal.paint('red', 'Some of it does not work:')}`);
  for (const { message, hint } of problems) terminal.complain(`- ${oneLine(message)}\n  ${oneLine(hint)}`);
  terminal.complain('Look again later: svc status');
}
