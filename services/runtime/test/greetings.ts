import { type AddressBlock, parseAddressBlock } from '../../contracts/address-block.ts';
import type { Reason } from '../../contracts/bus/messages.ts';
import { newId } from '../../contracts/ids.ts';
import type { Author } from '../../contracts/sandbox.ts';
import type { Resolve } from '../../kit/addresses/allowed-lookup.ts';
import { createLog } from '../../kit/log.ts';
import { createHttpLauncher } from '../launchers/http.ts';
import { writeRequest } from '../wire/write-message.ts';

export interface Attempt {
  readonly url: string;
  readonly setBy?: Author;
  readonly allowed?: readonly string[];
  readonly headers?: Record<string, string>;
  readonly inherited?: Record<string, string>;
  /** The answers to each lookup of a name; the last one stays. */
  readonly answers?: readonly (readonly string[])[];
}

export interface Greetings {
  readonly outcomes: readonly (Reason | 'answered')[];
  readonly log: string;
}

/** Launches an MCP server and greets it several times; returns the outcome of each greeting. */
export async function greetings(attempt: Attempt, times = 1): Promise<Greetings> {
  const { url, setBy = 'member', allowed = [], headers = {}, inherited = {}, answers } = attempt;
  const lines: string[] = [];
  const outcomes: (Reason | 'answered')[] = [];
  let heard = Promise.withResolvers<Reason | 'answered'>();
  const launch = createHttpLauncher({
    inherited,
    allowedAddresses: allowed.map(parseAddressBlock).filter((block): block is AddressBlock => block !== null),
    log: createLog({ service: 'runtime', level: 'info', destination: { write: (line) => lines.push(line) } }),
    ...(answers === undefined ? {} : { resolve: answering(answers) }),
  });
  const launched = await launch({
    mcpServer: newId('mcpServer'),
    workspace: newId('workspace'),
    name: 'one',
    setBy,
    launch: { kind: 'http', url, headers },
    listener: {
      message: () => {
        heard.resolve('answered');
        return true;
      },
      lost: (_id, { code, message }) => heard.resolve({ code, message, repair: '' }),
      garbage: () => {},
      renewed: () => {},
      ended: (reason) => heard.resolve(reason),
    },
  });
  if (!launched.ok) throw new Error(launched.reason.message);
  for (let id = 1; id <= times; id++) {
    heard = Promise.withResolvers();
    const method = 'initialize';
    launched.channel.send(writeRequest(id, method, Buffer.from('{}')), { kind: 'request', id, method });
    outcomes.push(await heard.promise);
  }
  await launched.channel.stop();
  return { outcomes, log: lines.join('') };
}

function answering(answers: readonly (readonly string[])[]): Resolve {
  let asked = 0;
  return async () => {
    const found = answers[Math.min(asked++, answers.length - 1)] ?? [];
    return found.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
}
