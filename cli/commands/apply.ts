import { resolve } from 'node:path';
import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../services/contracts/errors.ts';
import { apply, type Change } from '../../stack/apply/apply.ts';
import { findProblems, type Problem } from '../../stack/apply/find-problems.ts';
import { applyFileMaxBytes, readApplyFile } from '../../stack/apply/read-file.ts';
import { connectToBackend } from '../../stack/client/backend-client.ts';
import { AlreadyReported, environment, interruption, SvcCommand, yesFlag } from '../command.ts';
import { agreeToRemoval } from '../consent.ts';
import { describeChange, kindNames } from '../output/changes.ts';
import type { Terminal } from '../output/terminal.ts';
import { oneLine } from '../output/width.ts';
import { installationOf } from '../platform.ts';
import { readBoundedStdin } from '../stdin.ts';

export default class Apply extends SvcCommand {
  static override summary = 'Change MCP servers, skills and roles to match files.';
  static override description =
    'A field that a file does not name stays as it is. Applying the same files again changes nothing. The command also reports what does not work, and then ends with exit code 1.';
  static override examples = [
    { description: 'Apply a file', command: '<%= config.bin %> apply platform.yaml' },
    { description: 'Apply what another program writes', command: 'cat platform.yaml | <%= config.bin %> apply -' },
    { description: 'Only show what would change', command: '<%= config.bin %> apply platform.yaml --dry-run' },
    { description: 'Remove what the file no longer names', command: '<%= config.bin %> apply platform.yaml --prune' },
  ];
  static override strict = false;
  static override args = {
    file: Args.string({ description: 'YAML files; - is standard input', required: true, name: 'FILE' }),
  };
  static override flags = {
    'dry-run': Flags.boolean({ summary: 'Show what would change without changing it.' }),
    prune: Flags.boolean({
      summary: 'Remove what the files no longer name, of the kinds that they list. Asks before it removes.',
    }),
    yes: yesFlag,
  };

  async run(): Promise<void> {
    const { argv, flags } = await this.parse(Apply);
    const terminal = this.terminal(flags);
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
    const signal = interruption();
    const agree = (planned: readonly Change[]) => agreeToPrune(planned, { terminal, yes });
    const { changes, plans } = await apply({ backend, files, dryRun, prune, agree, signal });
    tellChanges(changes, dryRun, terminal);
    const onWait = (names: readonly string[]) =>
      terminal.talk(`Waiting until ${names.join(', ')} ${names.length === 1 ? 'is' : 'are'} Connected.`);
    const problems = dryRun ? [] : await findProblems({ backend, plans, onWait, signal });
    terminal.json({ changes, problems });
    if (problems.length === 0) return;
    tellProblems(problems, terminal);
    throw new AlreadyReported(1);
  }
}

async function agreeToPrune(planned: readonly Change[], { terminal, yes }: { terminal: Terminal; yes: boolean }) {
  const removed = planned.filter(({ action }) => action === 'delete');
  await agreeToRemoval(terminal, {
    subject: removed.length === 1 ? 'one object' : `${removed.length} objects`,
    affected: removed.map(({ kind, name }) => `The ${kindNames[kind]} "${name}" is removed.`),
    yes,
  });
}

function tellChanges(changes: readonly Change[], dryRun: boolean, terminal: Terminal): void {
  const made = changes.filter((change) => change.action !== 'none');
  for (const change of made) terminal.result(describeChange(change, terminal));
  const same = changes.length - made.length;
  const kept = same === 0 ? '' : ` ${same} ${same === 1 ? 'is unchanged' : 'are unchanged'}.`;
  if (made.length > 0) terminal.result(`${made.length} ${dryRun ? 'would change' : 'changed'}.${kept}`);
  else terminal.result(same > 0 ? `Nothing changes:${kept}` : 'The files name nothing, so nothing changes.');
}

function tellProblems(problems: readonly Problem[], terminal: Terminal): void {
  terminal.complain(`\n${terminal.paint('red', 'Some of it does not work:')}`);
  for (const { message, hint } of problems) terminal.complain(`- ${oneLine(message)}\n  ${oneLine(hint)}`);
  terminal.complain('Look again later: svc status');
}
