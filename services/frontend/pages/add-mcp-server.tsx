import { type FormEvent, useMemo, useState } from 'react';
import { parseName } from '../../contracts/names.ts';
import { looksSecret } from '../../contracts/secret-words.ts';
import { usePlace } from '../app/workspace.ts';
import { Button } from '../components/button.tsx';
import { Dialog } from '../components/dialog.tsx';
import { ErrorLine } from '../components/error-state.tsx';
import { Field, problemOf, TextField } from '../components/field.tsx';
import { showToast } from '../components/toast.tsx';
import { useAction } from '../components/use-action.ts';
import { send } from '../graphql/client.ts';
import { createMcpServerMutation, type McpServerInput, type Setting } from '../graphql/generated/operations.ts';
import { readTypedLaunch } from './typed-launch.ts';

const nameRule = (text: string) => parseName('mcpServer', text);

/** One field takes an address, a command, or a pasted block of JSON. */
export function AddMcpServer({
  onClose,
  onAdded,
}: {
  readonly onClose: () => void;
  readonly onAdded: (id: string) => void;
}) {
  const { workspace } = usePlace();
  const [text, setText] = useState('');
  const [typedName, setName] = useState<string | null>(null);
  const [settings, setSettings] = useState('');
  const typed = useMemo(() => readTypedLaunch(text), [text]);
  const single = typed.kind === 'command' || typed.kind === 'url' ? typed : null;
  const name = typedName ?? single?.suggestedName ?? '';
  const given = useMemo(() => readSettings(settings, single?.kind === 'url' ? ':' : '='), [settings, single?.kind]);
  const inputs = inputsOf();

  function inputsOf(): readonly McpServerInput[] {
    if (typed.kind === 'block') return typed.servers;
    if (single === null || given === null || problemOf(nameRule, name) !== null) return [];
    const field = single.kind === 'url' ? { headers: given } : { env: given };
    return [{ name: name.trim(), launch: { ...single.launch, ...(given.length > 0 && field) } }];
  }

  const add = useAction(async () => {
    const ids: string[] = [];
    for (const input of inputs) {
      const { createMcpServer } = await send(createMcpServerMutation, { workspace: workspace.id, input });
      ids.push(createMcpServer.id);
    }
    showToast(inputs.length === 1 ? `${inputs[0]?.name} was added.` : `${inputs.length} MCP servers were added.`);
    const [first] = ids;
    if (ids.length === 1 && first !== undefined) onAdded(first);
    else onClose();
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (inputs.length > 0) add.run();
  };
  return (
    <Dialog title="Add MCP server" onClose={onClose}>
      <form onSubmit={submit} className="grid gap-4">
        <TextField
          label="Command, address or JSON"
          hint="Such as npx -y @modelcontextprotocol/server-memory, https://mcp.example.com/mcp, or the block for an agent."
          rows={4}
          value={text}
          onText={setText}
          problem={typed.kind === 'wrong' ? typed.problem : null}
        />
        {single !== null && (
          <>
            <Field label="Name" value={name} onText={setName} rule={nameRule} isCode />
            <TextField
              label={single.kind === 'url' ? 'Headers' : 'Environment variables'}
              hint={
                single.kind === 'url'
                  ? 'One a line: NAME: VALUE. Values are stored encrypted, and secret ones are never shown again.'
                  : 'One a line: NAME=VALUE. Values are stored encrypted, and secret ones are never shown again.'
              }
              rows={3}
              value={settings}
              onText={setSettings}
              problem={given === null ? 'A line has no name, or nothing between its name and its value.' : null}
            />
          </>
        )}
        {typed.kind === 'block' && (
          <p className="text-13 text-quiet">{`Adds ${typed.servers.map((server) => server.name).join(', ')}.`}</p>
        )}
        <ErrorLine error={add.error} />
        <div className="flex justify-end gap-2">
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" disabled={inputs.length === 0} isBusy={add.isBusy}>
            {inputs.length > 1 ? `Add ${inputs.length} MCP servers` : 'Add MCP server'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Lines of a name and a value. Null if a line is not of this form. */
function readSettings(text: string, separator: '=' | ':'): readonly Setting[] | null {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const settings = lines.map((line): Setting | null => {
    const at = line.indexOf(separator);
    const name = line.slice(0, at).trim();
    const value = line.slice(at + 1).trim();
    return at < 1 || name === '' ? null : { name, value, secret: looksSecret(name, value) };
  });
  return settings.every((setting) => setting !== null) ? settings : null;
}
