import { useEffect, useRef, useState } from 'react';
import { type CatalogueEntry, launchOfEntry, mcpServerCatalogue } from '../../../contracts/mcp-server-catalogue.ts';
import { parseName } from '../../../contracts/names.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { createMcpServerMutation } from '../../graphql/generated/operations.ts';

const nameRule = (text: string) => parseName('mcpServer', text);

/** The well-known MCP servers to choose from. */
export function CatalogueList({ onChoose }: { readonly onChoose: (entry: CatalogueEntry) => void }) {
  return (
    <section aria-labelledby="catalogue" className="grid gap-2">
      <h3 id="catalogue" className="font-medium text-13">
        Or choose a well-known one
      </h3>
      <ul className="grid divide-y divide-border rounded-control border border-border">
        {mcpServerCatalogue.map((entry) => (
          <li key={entry.name}>
            <button
              type="button"
              onClick={() => onChoose(entry)}
              className="grid w-full gap-x-4 px-3 py-2 text-left transition-colors hover:bg-hover tablet:grid-cols-[minmax(0,1fr)_minmax(0,3fr)]"
            >
              <span className="font-medium text-13">{entry.title}</span>
              <span className="text-13 text-quiet">{entry.about}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Asks for what a well-known MCP server needs, and adds it. */
export function CatalogueForm({
  entry,
  onBack,
  onAdded,
}: {
  readonly entry: CatalogueEntry;
  readonly onBack: () => void;
  readonly onAdded: (id: string) => void;
}) {
  const { workspace } = usePlace();
  const [name, setName] = useState(entry.name);
  const [filled, setFilled] = useState<ReadonlyMap<string, string>>(new Map());
  const form = useRef<HTMLFormElement>(null);
  // The button that was pressed is gone.
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  const fill = (field: string, text: string) => setFilled(new Map(filled).set(field, text));
  const add = useAction(async () => {
    const input = { name: name.trim(), launch: launchOfEntry(entry, filled) };
    const { createMcpServer } = await send(createMcpServerMutation, { workspace: workspace.id, input });
    showToast(`${input.name} was added.`);
    onAdded(createMcpServer.id);
  });
  const { launch } = entry;
  return (
    <Form ref={form} onSubmit={add.run} className="grid gap-4">
      <div className="grid gap-1 text-13 text-quiet">
        <p>
          {entry.about}{' '}
          <a href={entry.homepage} target="_blank" rel="noreferrer" className="text-accent hover:underline">
            Documentation
          </a>
        </p>
        {launch.kind === 'command' && <p>{programs[launch.command]}</p>}
        <code className="break-all text-12">
          {launch.kind === 'url' ? launch.url : [launch.command, ...launch.args].join(' ')}
        </code>
      </div>
      <Field label="Name" value={name} onText={setName} rule={nameRule} isCode />
      {entry.blanks.map(({ name: blank, title, description }) => (
        <Field
          key={blank}
          label={title}
          hint={description}
          value={filled.get(blank) ?? ''}
          onText={(text) => fill(blank, text)}
          required
          isCode
        />
      ))}
      {entry.settings.map(({ name: setting, title, description, secret, required }) => (
        <Field
          key={setting}
          label={title ? `${title} (${setting})` : setting}
          hint={[description, required === false ? 'Optional.' : later].filter(Boolean).join(' ')}
          type={secret === false ? 'text' : 'password'}
          // A browser must not fill in the password of the person.
          autoComplete={secret === false ? 'off' : 'new-password'}
          value={filled.get(setting) ?? ''}
          onText={(text) => fill(setting, text)}
          isCode
        />
      ))}
      <ErrorLine error={add.error} />
      <div className="flex justify-end gap-2">
        <Button onClick={onBack}>Back</Button>
        <Button look="primary" type="submit" isBusy={add.isBusy}>
          Add MCP server
        </Button>
      </div>
    </Form>
  );
}

const later = 'The MCP server does not start without it. You can also set it after you add the MCP server.';

const programs = {
  npx: 'Runs as a program that npx downloads at its first start.',
  uvx: 'Runs as a program that uvx downloads at its first start. The machine that runs it needs uv.',
} as const;
