import { HttpRefusal } from '../../kit/http/http-refusal.ts';

/** The forms of answer that the client accepts. */
export interface Accepts {
  readonly json: boolean;
  readonly events: boolean;
}

const both: Accepts = { json: true, events: true };

/** Reads an Accept header (RFC 9110, 12.5.1); without a header both forms are accepted. Throws `unsupported` if neither form is. */
export function readAccept(header: string | undefined): Accepts {
  if (header === undefined || header === usual) return both;
  const ranges = header.split(',', rangesMax).map(readRange);
  const takes = (type: string, group: string) => {
    const exact = ranges.find((range) => range.type === type) ?? ranges.find((range) => range.type === group);
    return (exact ?? ranges.find((range) => range.type === '*/*'))?.wanted ?? false;
  };
  const accepts = { json: takes('application/json', 'application/*'), events: takes('text/event-stream', 'text/*') };
  if (accepts.json || accepts.events) return accepts;
  throw new HttpRefusal(
    'unsupported',
    `Accept "${header.slice(0, 200)}" allows neither application/json nor text/event-stream.`,
    {
      status: 406,
      hint: 'Send "Accept: application/json, text/event-stream".',
    },
  );
}

/** A body must be uncompressed JSON. */
export function checkContent(type: string | undefined, encoding: string | undefined): void {
  const [essence = ''] = (type ?? '').split(';', 1);
  if (essence.trim().toLowerCase() !== 'application/json') {
    throw new HttpRefusal('unsupported', `Content-Type "${(type ?? '').slice(0, 200)}" is not supported.`, {
      status: 415,
      hint: 'Send "Content-Type: application/json".',
    });
  }
  if (encoding === undefined || encoding === '' || encoding === 'identity') return;
  throw new HttpRefusal('unsupported', `Content-Encoding "${encoding.slice(0, 200)}" is not supported.`, {
    status: 415,
    hint: 'Send the body without an encoding.',
  });
}

/** The header that all clients of the official libraries send. */
const usual = 'application/json, text/event-stream';
const rangesMax = 50;

function readRange(text: string): { readonly type: string; readonly wanted: boolean } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim().toLowerCase());
  return { type, wanted: !parameters.some((parameter) => /^q\s*=\s*0(\.0*)?$/.test(parameter)) };
}
