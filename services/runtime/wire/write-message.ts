/**
 * JSON-RPC 2.0 messages to an MCP server, each as one line with its newline (MCP 2025-11-25, "Transports", stdio); over
 * HTTP the newline is white space. `params` is validated JSON text, which is inserted without parsing.
 */
export function writeRequest(id: number, method: string, params: Uint8Array): Buffer {
  const start = `{"jsonrpc":"2.0","id":${id},"method":"${method}"`;
  return params.length === 0 ? Buffer.from(`${start}}\n`, 'latin1') : join(`${start},"params":`, params);
}

export function writeNotification(method: string, params?: unknown): Buffer {
  return Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', method, ...(params === undefined ? {} : { params }) })}\n`);
}

export function writeAnswer(id: string | number, answer: { result: unknown } | { error: unknown }): Buffer {
  return Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`);
}

/** JSON text of an MCP server's value; null when it is nested so deeply that writing, which recurses, would fail. */
export function writeJson(value: unknown): string | null {
  try {
    return JSON.stringify(value);
  } catch {
    return null;
  }
}

/** A method that needs no escaping inside a JSON text: every method of every revision has this form. */
export function isMethod(text: string): boolean {
  return /^[A-Za-z0-9_$./-]{1,128}$/.test(text);
}

const newline = 10;
const carriageReturn = 13;
const space = 32;

function join(start: string, params: Uint8Array): Buffer {
  const message = Buffer.allocUnsafe(start.length + params.length + 2);
  message.write(start, 0, 'latin1');
  message.set(params, start.length);
  replaceByte(message, newline, start.length);
  replaceByte(message, carriageReturn, start.length);
  message.write('}\n', start.length + params.length, 'latin1');
  return message;
}

/** A raw line break in JSON can only be white space between tokens. On stdio it would end the message. */
function replaceByte(message: Buffer, byte: number, from: number): void {
  for (let i = message.indexOf(byte, from); i >= 0; i = message.indexOf(byte, i + 1)) message[i] = space;
}
