import { useMemo, useState } from 'react';
import type { CatalogueEntry } from '../../../contracts/mcp-server-catalogue.ts';
import { parseName } from '../../../contracts/names.ts';
import { looksSecret } from '../../../contracts/secret-words.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { Field, problemOf, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { createMcpServerMutation, type McpServerInput, type Setting } from '../../graphql/generated/operations.ts';
import { CatalogueForm, CatalogueList } from './catalogue-form.tsx';
import { readTypedLaunch } from './typed-launch.ts';

const nameRule = (text: string) => parseName('mcpServer', text);

interface AddProps {
  readonly onClose: () => void;
  readonly onAdded: (id: string) => void;
}

/** Adds what a person types or pastes, or a well-known MCP server. */
export function AddMcpServer({ onClose, onAdded }: AddProps) {
  const [entry, setEntry] = useState<CatalogueEntry | null>(null);
  return (
    <Dialog title={entry === null ? 'Add MCP server' : `Add ${entry.title}`} onClose={onClose}>
      {entry === null ? (
        <TypedForm onClose={onClose} onAdded={onAdded} onChoose={setEntry} />
      ) : (
        <CatalogueForm entry={entry} onBack={() => setEntry(null)} onAdded={onAdded} />
      )}
    </Dialog>
  );
}

/** One field takes an address, a command, or a pasted block of JSON. */
function TypedForm({ onClose, onAdded, onChoose }: AddProps & { readonly onChoose: (entry: CatalogueEntry) => void }) {
  const { workspace } = usePlace();
  const [text, setText] = useState('');
  const [typedName, setName] = useState<string | null>(null);
  const [settings, setSettings] = useState('');
  /** The ids of those that were added before one was refused, by their inputs. */
  const [added, setAdded] = useState<ReadonlyMap<string, string>>(new Map());
  const typed = useMemo(() => readTypedLaunch(text), [text]);
  const single = typed.kind === 'command' || typed.kind === 'url' ? typed : null;
  const name = typedName ?? single?.suggestedName ?? '';
  const given = useMemo(() => readSettings(settings, single?.kind === 'url' ? ':' : '='), [settings, single?.kind]);
  const inputs = inputsOf();
  const rest = inputs.filter((input) => !added.has(JSON.stringify(input)));

  function inputsOf(): readonly McpServerInput[] {
    if (typed.kind === 'block') return typed.servers;
    if (single === null || given === null || problemOf(nameRule, name) !== null) return [];
    const field = single.kind === 'url' ? { headers: given } : { env: given };
    return [{ name: name.trim(), launch: { ...single.launch, ...(given.length > 0 && field) } }];
  }

  const add = useAction(async () => {
    const ids = new Map(added);
    for (const input of rest) {
      const { createMcpServer } = await send(createMcpServerMutation, { workspace: workspace.id, input });
      ids.set(JSON.stringify(input), createMcpServer.id);
      setAdded(new Map(ids));
    }
    showToast(inputs.length === 1 ? `${inputs[0]?.name} was added.` : `${inputs.length} MCP servers were added.`);
    const first = ids.get(JSON.stringify(inputs[0]));
    if (inputs.length === 1 && first !== undefined) onAdded(first);
    else onClose();
  });
  return (
    <Form onSubmit={add.run} className="grid gap-4">
      <TextField
        label="Command, address or JSON"
        hint="Such as npx -y @modelcontextprotocol/server-memory, https://mcp.example.com/mcp, or the block for an agent."
        rows={4}
        required
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
      {typed.kind === 'block' && <p className="break-words text-13 text-quiet">{progressOf(inputs, rest)}</p>}
      {typed.kind === 'empty' && <CatalogueList onChoose={onChoose} />}
      <ErrorLine error={add.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onClose}>Cancel</Button>
        <Button look="primary" type="submit" isBusy={add.isBusy}>
          {rest.length > 1 ? `Add ${rest.length} MCP servers` : 'Add MCP server'}
        </Button>
      </div>
    </Form>
  );
}

/** What the button adds, and what it added before one was refused. */
function progressOf(inputs: readonly McpServerInput[], rest: readonly McpServerInput[]): string {
  const namesOf = (some: readonly McpServerInput[]) => some.map(({ name }) => name).join(', ');
  const done = inputs.filter((input) => !rest.includes(input));
  return done.length === 0 ? `Adds ${namesOf(rest)}.` : `Added ${namesOf(done)}. Still to add: ${namesOf(rest)}.`;
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
