import * as Args from '@oclif/core/args';
import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../../services/contracts/errors.ts';
import { isObject } from '../../../services/contracts/is-object.ts';
import { oneLine } from '../../../services/contracts/one-line.ts';
import { parseJson } from '../../../stack/machine/parse-json.ts';
import { connectAgent } from '../../agent.ts';
import { AlreadyReported, environment, interruption, SvcCommand, workspaceFlag } from '../../command.ts';
import { readKey } from '../../keys-test/key-source.ts';
import { remoteMcpOf, tenancyOf } from '../../objects/platform.ts';
import { getTool } from '../../objects/tools.ts';
import { contentText } from '../../output/tool-result.ts';
import { readInput } from '../../typed/input.ts';

export default class ToolCall extends SvcCommand {
  static override summary = 'Call a tool as an operator, or as an agent with a key would.';
  static override description =
    'An operator may call every tool of every MCP server. svc usage and svc audit show such a call as "operator".';
  static override aliases = ['tools:call'];
  static override examples = [
    { description: 'A tool without input', command: '<%= config.bin %> tool call everything/get-tiny-image' },
    {
      description: 'With input from a pipe',
      command: `echo '{"message":"hello"}' | <%= config.bin %> tool call everything/echo --input -`,
    },
    {
      description: 'As an agent with a key',
      command: '<%= config.bin %> tool call everything/echo --input message.json --key-file key.txt',
    },
  ];
  static override args = {
    tool: Args.string({ description: 'MCPSERVER/TOOL, or the name for agents', required: true, name: 'TOOL' }),
  };
  static override flags = {
    input: Flags.string({ summary: 'File with a JSON object; - is standard input. Default: {}.', helpValue: 'FILE' }),
    'key-file': Flags.string({ summary: 'Call it with this key, as an agent would.', helpValue: 'FILE' }),
    workspace: workspaceFlag('Workspace of the tool.'),
  };

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ToolCall);
    const terminal = this.terminal(flags);
    const input = flags.input === undefined ? {} : parseInput(flags.input, await readInput('--input', flags.input));
    const keyFile = flags['key-file'];
    const key = keyFile === undefined ? null : await readKey({ keyFile, env: environment, terminal });
    const signal = interruption();
    const tenancy = await tenancyOf(flags);
    const { name, path, mcpServer } = await getTool(tenancy, args.tool);
    const agent = await connectAgent({
      url: await remoteMcpOf(flags),
      token: key === null ? tenancy.backend.mcpToken(tenancy.workspace.id) : key.reveal(),
      version: this.config.version,
      signal,
    });
    const onProgress: Parameters<typeof agent.call>[2] = ({ progress, total, message = '' }) => {
      const share = total === undefined ? String(progress) : `${progress}/${total}`;
      terminal.talk(`${terminal.paint('grey', '·')} ${share} ${oneLine(message)}`.trimEnd());
    };
    const result = await agent.call({ name, mcpServer }, input, onProgress).finally(() => agent.close());
    terminal.json({ tool: path, result });
    const text = contentText(result);
    if (result.isError !== true) return terminal.result(text);
    if (!terminal.asJson) terminal.complain(`${terminal.paint('red', 'Error of the tool:')} ${text}`);
    throw new AlreadyReported(1);
  }
}

function parseInput(file: string, text: string): Record<string, unknown> {
  const input = parseJson(text);
  if (isObject(input)) return { ...input };
  throw new SvcError('invalid_input', `--input "${file}" must hold one JSON object, such as {"path":"."}.`);
}
