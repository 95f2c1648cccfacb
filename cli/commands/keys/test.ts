import * as Flags from '@oclif/core/flags';
import { SvcError } from '../../../services/contracts/errors.ts';
import { status } from '../../../stack/operations/status.ts';
import { AlreadyReported, environment, type SharedFlags, SvcCommand } from '../../command.ts';
import type { Cause } from '../../keys-test/causes.ts';
import { readKey, refuseKeyAsArgument } from '../../keys-test/key-source.ts';
import { climb, type LadderResult } from '../../keys-test/ladder.ts';
import { installationOf } from '../../objects/platform.ts';
import { hang, type Page, seenWidth, wrapped } from '../../output/width.ts';

export default class KeysTest extends SvcCommand {
  static override summary = 'Test an API key step by step: name, TCP, TLS, health, authentication, MCP, tools.';
  static override aliases = ['key:test'];
  static override examples = [
    {
      description: 'Test a key against this installation',
      command: 'SVC_API_KEY=$(cat key.txt) <%= config.bin %> keys test',
    },
    {
      description: 'Test one against a platform elsewhere',
      command: '<%= config.bin %> keys test --url https://tools.example.com/mcp --key-file key.txt',
    },
  ];
  static override flags = {
    url: Flags.string({
      summary: 'Address of /mcp; default: the one of this installation for keys.',
      helpValue: 'URL',
    }),
    'key-file': Flags.string({ summary: 'File that holds the key.', helpValue: 'FILE' }),
  };

  async run(): Promise<void> {
    refuseKeyAsArgument(this.argv);
    const { flags } = await this.parse(KeysTest);
    const terminal = this.terminal(flags);
    const { url, isForKeys } = await addressOf(flags);
    const key = await readKey({ keyFile: flags['key-file'], env: environment, terminal });
    const found = await climb({
      url,
      key,
      isForKeys,
      onRung: (rung) => {
        const mark = marks[rung.mark];
        const head = `${terminal.paint(mark.colour, mark.sign)} ${rung.name.padEnd(16)} ${`${rung.ms} ms`.padStart(10)}  `;
        terminal.result(hang({ head, text: rung.detail, indent: seenWidth(head) }, terminal));
      },
    });
    terminal.json(found);
    terminal.result(conclusion(found, terminal));
    if (found.cause !== null) throw new AlreadyReported(exitCodeOf(found.cause));
  }
}

const marks = {
  passed: { sign: '✓', colour: 'green' },
  noted: { sign: '!', colour: 'yellow' },
  untested: { sign: '–', colour: 'yellow' },
  failed: { sign: '✗', colour: 'red' },
} as const;

const verdicts = {
  valid: 'The key is valid, but:',
  refused: 'The key is refused:',
  untested: 'The key could not be tested:',
};

function conclusion({ cause, rungs, verdict }: LadderResult, page: Page): string {
  if (cause !== null)
    return `\n${wrapped(`${verdicts[verdict]} ${cause.message}`, page)}\n${wrapped(cause.hint, page)}`;
  return rungs.some((rung) => rung.mark === 'noted')
    ? 'The key is valid. Check the lines marked "!".'
    : 'The key is valid and the tools can be listed.';
}

/** 3: the key or its request is refused. 4: the key could not be tested, or is valid and a later rung failed. */
function exitCodeOf({ code }: Cause): number {
  return code === 'unauthenticated' || code === 'forbidden' ? 3 : 4;
}

interface TestedAddress {
  readonly url: URL;
  /** It is the address for keys alone. */
  readonly isForKeys: boolean;
}

async function addressOf(flags: SharedFlags & { readonly url?: string | undefined }): Promise<TestedAddress> {
  if (flags.url === undefined) {
    const { mcp, keys } = (await status({ installation: installationOf(flags) })).urls;
    return { url: new URL(keys), isForKeys: keys !== mcp };
  }
  const text = flags.url;
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol)) {
    throw new SvcError(
      'invalid_input',
      `--url must be an http or https address such as https://tools.example.com/mcp, not "${text}".`,
    );
  }
  return { url: new URL(text), isForKeys: false };
}
