import { useMemo, useState } from 'react';
import { type DeadlineName, deadlineRanges, deadlineRule } from '../../../contracts/mcp-server-deadlines.ts';
import { parseName } from '../../../contracts/names.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ErrorLine, ErrorState } from '../../components/error-state.tsx';
import { Field, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { SelectField } from '../../components/select-field.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import {
  type McpServerPatch,
  type RuntimesQuery,
  runtimesQuery,
  updateMcpServerMutation,
} from '../../graphql/generated/operations.ts';
import { usePages } from '../../graphql/use-pages.ts';
import { type EditedLaunch, type EditedSetting, editedLaunch, readEdited } from './edited-launch.ts';
import type { ShownLaunch } from './filled-launch.ts';
import type { ShownServer } from './shown-server.ts';

const nameRule = (text: string) => parseName('mcpServer', text);

/** How an MCP server is started, where, and how long people wait for it. */
export function McpServerForm({ server, launch }: { readonly server: ShownServer; readonly launch: ShownLaunch }) {
  const { workspace } = usePlace();
  const start = useMemo(() => ({ ...valuesOf(server), launch: editedLaunch(launch) }), [server, launch]);
  const [draft, setDraft] = useState<Partial<typeof start>>({});
  /** The version that the person began to change. Another one by now is a conflict. */
  const [version, setVersion] = useState(server.version);
  const shown = { ...start, ...draft };
  const read = readEdited(launch, shown.launch);
  const problem = 'problem' in read ? read.problem : null;
  const isChanged = Object.keys(draft).length > 0;
  const set = (changed: Partial<typeof start>) => {
    if (!isChanged) setVersion(server.version);
    setDraft({ ...draft, ...changed });
  };
  const setLaunch = (changed: Partial<EditedLaunch>) => set({ launch: { ...shown.launch, ...changed } });

  const save = useAction(async () => {
    if ('problem' in read) return;
    const { name, runtime, startTimeout, callTimeout } = draft;
    const input: McpServerPatch = {
      ...(name !== undefined && { name: name.trim() }),
      ...(draft.launch !== undefined && { launch: read.launch }),
      ...(runtime !== undefined && { runtime }),
      ...(startTimeout !== undefined && { startTimeout: Number(startTimeout) }),
      ...(callTimeout !== undefined && { callTimeout: Number(callTimeout) }),
      ifVersion: version,
    };
    await send(updateMcpServerMutation, { workspace: workspace.id, id: server.id, input });
    setDraft({});
    showToast(`${shown.name.trim()} was changed.`);
  });
  return (
    <Form onSubmit={() => isChanged && save.run()} className="grid gap-4">
      <Field label="Name" value={shown.name} onText={(name) => set({ name })} rule={nameRule} isCode />
      <TextField
        label="Command or address"
        hint="Words with spaces stand in quotes."
        rows={3}
        value={shown.launch.line}
        onText={(line) => setLaunch({ line })}
        problem={problem}
      />
      {!isAddress(read) && (
        <Field
          label="Working folder"
          hint="A full path on the machine that runs it. Empty: a folder of its own."
          value={shown.launch.cwd}
          onText={(cwd) => setLaunch({ cwd })}
          isCode
        />
      )}
      <SettingList
        title={isAddress(read) ? 'Headers' : 'Environment variables'}
        settings={shown.launch.settings}
        onSettings={(settings) => setLaunch({ settings })}
      />
      <RuntimeField value={shown.runtime} onValue={(runtime) => set({ runtime })} />
      <div className="grid gap-4 tablet:grid-cols-2">
        <DeadlineField
          name="startTimeout"
          label="Start within (seconds)"
          hint="Until it lists its tools."
          value={shown.startTimeout}
          onText={(startTimeout) => set({ startTimeout })}
        />
        <DeadlineField
          name="callTimeout"
          label="Answer within (seconds)"
          hint="Without any progress."
          value={shown.callTimeout}
          onText={(callTimeout) => set({ callTimeout })}
        />
      </div>
      {draft.launch !== undefined && launch.setBy === 'operator' && (
        <p className="text-12 text-quiet">
          An operator set this launch. When you save, it counts as yours: it runs in a sandbox, and you give the values
          of its secrets again.
        </p>
      )}
      <ErrorLine error={save.error} />
      <div className="flex flex-wrap items-center gap-2">
        <Button look="primary" type="submit" disabled={!isChanged} isBusy={save.isBusy}>
          Save changes
        </Button>
        {isChanged && !save.isBusy && <Button onClick={() => setDraft({})}>Discard</Button>}
      </div>
    </Form>
  );
}

function valuesOf({ name, runtimes, startTimeout, callTimeout }: ShownServer) {
  return {
    name,
    /** The name of a registered one. Empty: the platform's own. */
    runtime: runtimes.find(({ platform }) => !platform)?.name ?? '',
    startTimeout: startTimeout == null ? '' : String(startTimeout),
    callTimeout: callTimeout == null ? '' : String(callTimeout),
  };
}

function isAddress(read: ReturnType<typeof readEdited>): boolean {
  return 'launch' in read && read.launch.url != null;
}

function SettingList({
  title,
  settings,
  onSettings,
}: {
  readonly title: string;
  readonly settings: readonly EditedSetting[];
  readonly onSettings: (settings: readonly EditedSetting[]) => void;
}) {
  const change = (key: number, changed: Partial<EditedSetting>) =>
    onSettings(settings.map((one) => (one.key === key ? { ...one, ...changed } : one)));
  const add = () => {
    const key = 1 + Math.max(-1, ...settings.map((one) => one.key));
    onSettings([...settings, { key, name: '', value: '', isSecret: false, isStored: false }]);
  };
  return (
    <fieldset className="grid gap-2">
      <legend className="mb-1 font-medium text-13">{title}</legend>
      {settings.map(({ key, name, value, isSecret, isStored }) => (
        <div key={key} className="grid grid-cols-[minmax(0,1fr)_auto] items-end gap-2 tablet:items-center">
          <div className="grid min-w-0 gap-2 tablet:grid-cols-2">
            {isStored ? (
              <code className="self-center break-all text-13">{name}</code>
            ) : (
              <Line label="Name" value={name} onText={(text) => change(key, { name: text })} />
            )}
            <Line
              label={isStored ? `Value of ${name}` : 'Value'}
              value={value ?? ''}
              placeholder={isSecret && value === null ? 'Unchanged' : ''}
              isSecret={isSecret}
              onText={(text) => change(key, { value: isSecret && isStored && text === '' ? null : text })}
            />
          </div>
          <Button
            look="quiet"
            aria-label={`Remove ${name === '' ? 'the new line' : name}`}
            onClick={() => onSettings(settings.filter((one) => one.key !== key))}
          >
            Remove
          </Button>
        </div>
      ))}
      <div>
        <Button isSmall icon="plus" onClick={add}>
          Add
        </Button>
      </div>
      <p className="text-12 text-quiet">Values are stored encrypted, and secret ones are never shown again.</p>
    </fieldset>
  );
}

function Line({
  label,
  value,
  onText,
  placeholder = '',
  isSecret = false,
}: {
  readonly label: string;
  readonly value: string;
  readonly onText: (text: string) => void;
  readonly placeholder?: string;
  readonly isSecret?: boolean;
}) {
  return (
    <input
      aria-label={label}
      value={value}
      placeholder={placeholder === '' ? label : placeholder}
      type={isSecret ? 'password' : 'text'}
      // A browser must not fill in the password of the person.
      autoComplete={isSecret ? 'new-password' : 'off'}
      spellCheck={false}
      onChange={({ target }) => onText(target.value)}
      className="h-11 w-full min-w-0 rounded-control border border-border-strong bg-surface px-3 font-mono text-16 tablet:h-9 tablet:text-13"
    />
  );
}

/** The runtimes of the workspace, beside the platform's own. */
function RuntimeField({ value, onValue }: { readonly value: string; readonly onValue: (value: string) => void }) {
  const { workspace } = usePlace();
  const { rows, error, retry } = usePages({
    operation: runtimesQuery,
    variables: { workspace: workspace.id },
    pageOf: (answer: RuntimesQuery) => answer.workspace?.runtimes ?? null,
  });
  if (error !== null) return <ErrorState error={error} onRetry={retry} />;
  const names = new Set([...(rows ?? []).map(({ name }) => name), ...(value === '' ? [] : [value])]);
  const away = new Set((rows ?? []).flatMap(({ name, available }) => (available ? [] : [name])));
  const options = [
    { value: '', title: "The platform's own" },
    ...[...names].map((name) => ({ value: name, title: away.has(name) ? `${name} (unavailable)` : name })),
  ];
  return <SelectField label="Runtime" value={value} options={options} onValue={onValue} />;
}

interface DeadlineFieldProps {
  readonly name: DeadlineName;
  readonly label: string;
  readonly hint: string;
  readonly value: string;
  readonly onText: (text: string) => void;
}

function DeadlineField({ name, label, hint, value, onText }: DeadlineFieldProps) {
  return (
    <Field
      label={label}
      hint={`${hint} Empty: as the platform has it.`}
      inputMode="numeric"
      value={value}
      onText={onText}
      problem={isDeadline(name, value) ? null : `It must be ${deadlineRule(deadlineRanges[name])}.`}
      isCode
    />
  );
}

/** Empty or 0: the setting of the platform. */
function isDeadline(name: DeadlineName, text: string): boolean {
  const { min, max } = deadlineRanges[name];
  const seconds = Number(text);
  return /^\d{0,4}$/.test(text) && (seconds === 0 || (seconds >= min && seconds <= max));
}
