import { engineFor } from '../../../stack/engines/engine-of.ts';
import { readPlan } from '../../../stack/engines/plan-of.ts';
import { adviseOnMembers } from '../../../stack/engines/sandbox/check-sandbox.ts';
import { checkMachine } from '../../../stack/lifecycle/check-machine.ts';
import { withoutEffect } from '../../../stack/parts/environment.ts';
import { checkSecrets } from '../../../stack/secrets/ensure-folders.ts';
import { SvcCommand, environment as shell } from '../../command.ts';
import { installationOf } from '../../objects/platform.ts';

export default class ConfigCheck extends SvcCommand {
  static override summary = 'Check svc.yaml and report each mistake with its line, rule and repair.';
  static override examples = [
    { description: 'Check the installation found from here', command: '<%= config.bin %> config check' },
    { description: 'Check another one', command: '<%= config.bin %> config check --dir tools' },
  ];

  async run(): Promise<void> {
    const { flags } = await this.parse(ConfigCheck);
    const terminal = this.terminal(flags);
    const installation = installationOf(flags);
    const { definitionFile } = installation;
    const plan = readPlan(installation);
    const { definition, parts } = plan;
    const { topology, engine } = definition;
    await checkMachine(installation, definition);
    checkSecrets(installation, definition);
    const notices = await engineFor(definition).check(plan, shell);
    const aboutMembers = await adviseOnMembers(definition, shell.PATH);
    const warnings = [...notices, ...aboutMembers, ...withoutEffect(parts)];
    terminal.json({ ok: true, file: definitionFile, topology, engine, warnings });
    for (const warning of warnings) terminal.warn(warning);
    terminal.result(`${definitionFile} is right.`);
  }
}
