// The demo's MCP server: an example in one file without dependencies. Run it by `node server.mjs`.
// It speaks MCP 2025-11-25 over stdio: one JSON-RPC message per line on standard input and output. Its log goes to standard error.

const revisions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'];

const text = (said) => ({ content: [{ type: 'text', text: said }] });
const schema = (properties, required = Object.keys(properties)) => ({ type: 'object', properties, required });
const number = (description) => ({ type: 'number', description });

/** Every tool: its description for agents, and its function. `run` gets the arguments, a function that reports progress, and the signal of a cancel. */
const tools = {
  echo: {
    description: 'Repeats a text.',
    inputSchema: schema({ text: { type: 'string', description: 'The text.' } }),
    annotations: { readOnlyHint: true },
    run: ({ text: said }) => text(`You said: ${said}`),
  },
  add: {
    description: 'Adds two numbers.',
    inputSchema: schema({ a: number('The first number.'), b: number('The second number.') }),
    annotations: { readOnlyHint: true },
    run({ a, b }) {
      if (typeof a !== 'number' || typeof b !== 'number') throw new Error('a and b must be numbers.');
      return { ...text(String(a + b)), structuredContent: { sum: a + b } };
    },
    outputSchema: schema({ sum: number('The sum.') }),
  },
  now: {
    description: 'Returns the current time.',
    inputSchema: schema({}),
    annotations: { readOnlyHint: true },
    run: () => text(new Date().toISOString()),
  },
  slow_report: {
    description: 'Writes a report section by section, which takes a while. Reports its progress.',
    inputSchema: schema({ sections: number('How many sections, 1 to 20.'), secondsEach: number('Time for each.') }, []),
    annotations: { readOnlyHint: true },
    async run({ sections = 3, secondsEach = 0.5 }, { progress, signal }) {
      const total = Math.min(Math.max(1, Math.floor(sections)), 20);
      const written = [];
      for (let section = 1; section <= total; section++) {
        progress(section, total, `Writing section ${section} of ${total}.`);
        await pause(1000 * Math.min(Math.max(0, secondsEach), 10), signal);
        written.push(`## Section ${section}\nAll is well.`);
      }
      return text(written.join('\n\n'));
    },
  },
  fail: {
    description: 'Fails, to show a failure.',
    inputSchema: schema({ reason: { type: 'string', description: 'The reason for the failure.' } }, []),
    run({ reason = 'This tool always fails.' }) {
      throw new Error(reason);
    },
  },
};

const resource = {
  uri: 'demo://handbook',
  name: 'handbook',
  description: 'How the demo works.',
  mimeType: 'text/markdown',
};
const handbook = '# Handbook\n\nAdd with `add`, tell the time with `now`, write with `slow_report`.\n';
const prompt = {
  name: 'weekly_report',
  description: 'Asks for a report about a week.',
  arguments: [{ name: 'week', description: 'Which week.', required: true }],
};

/** The functions that answer requests. An error that one throws becomes a JSON-RPC error. */
const requests = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion: revisions.includes(protocolVersion) ? protocolVersion : revisions[0],
    capabilities: { tools: {}, resources: {}, prompts: {} },
    serverInfo: { name: 'demo', title: 'Demo', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({
    tools: Object.entries(tools).map(([name, { run: _, ...described }]) => ({ name, ...described })),
  }),
  'tools/call': callTool,
  'resources/list': () => ({ resources: [resource] }),
  'resources/templates/list': () => ({ resourceTemplates: [] }),
  'resources/read': ({ uri }) =>
    uri === resource.uri
      ? { contents: [{ uri, mimeType: resource.mimeType, text: handbook }] }
      : refuse(-32002, `There is no resource "${uri}".`),
  'prompts/list': () => ({ prompts: [prompt] }),
  'prompts/get': ({ name, arguments: { week = 'this week' } = {} }) =>
    name === prompt.name
      ? { messages: [{ role: 'user', content: { type: 'text', text: `Write a short report about ${week}.` } }] }
      : refuse(-32602, `There is no prompt "${name}".`),
};

/** A tool that fails answers with `isError`, so the agent reads the reason. Only an unknown tool is a protocol error. */
async function callTool({ name, arguments: given = {}, _meta: { progressToken } = {} }, signal) {
  if (!Object.hasOwn(tools, name)) refuse(-32602, `There is no tool "${name}".`);
  const progress = (done, total, message) => {
    if (progressToken === undefined) return;
    send({ method: 'notifications/progress', params: { progressToken, progress: done, total, message } });
  };
  try {
    return await tools[name].run(given, { progress, signal });
  } catch (error) {
    if (signal.aborted) throw error;
    return { ...text(error.message), isError: true };
  }
}

const running = new Map();

async function answer({ id, method, params = {} }) {
  const cancel = new AbortController();
  running.set(id, cancel);
  try {
    const handle = Object.hasOwn(requests, method)
      ? requests[method]
      : () => refuse(-32601, `There is no "${method}".`);
    const result = await handle(params, cancel.signal);
    send({ id, result });
  } catch (error) {
    // No caller waits for the answer to a cancelled request.
    if (!cancel.signal.aborted) send({ id, error: { code: error.code ?? -32603, message: error.message } });
  } finally {
    running.delete(id);
  }
}

function take(line) {
  let message;
  try {
    message = JSON.parse(line);
  } catch {
    return send({ id: null, error: { code: -32700, message: 'That is not JSON.' } });
  }
  if (message.method === 'notifications/cancelled') running.get(message.params?.requestId)?.abort();
  else if (message.method !== undefined && message.id !== undefined) void answer(message);
}

function send(message) {
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
}

function refuse(code, message) {
  throw Object.assign(new Error(message), { code });
}

function pause(ms, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

// Lines may arrive in pieces. The client has gone when the input ends.
let rest = '';
process.stdin.setEncoding('utf8');
process.stdin.on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) if (line.trim() !== '') take(line);
});
process.stdin.on('end', () => process.exit());
