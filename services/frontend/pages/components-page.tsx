import { type ReactNode, useState } from 'react';
import { chooseTheme, themes, useTheme } from '../app/theme.ts';
import { type Bar, BarChart } from '../components/bar-chart.tsx';
import { Button, IconButton } from '../components/button.tsx';
import { ConfirmByTyping } from '../components/confirm-by-typing.tsx';
import { CopyButton } from '../components/copy-button.tsx';
import type { Column } from '../components/data-table.tsx';
import { DetailsPanel } from '../components/details-panel.tsx';
import { Dialog } from '../components/dialog.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { ErrorLine, ErrorState } from '../components/error-state.tsx';
import { Fact, Facts } from '../components/facts.tsx';
import { Field, TextField } from '../components/field.tsx';
import { FilterField } from '../components/filter-field.tsx';
import { Form, Requirement } from '../components/form.tsx';
import { FormDialog } from '../components/form-dialog.tsx';
import { Icon, type IconName } from '../components/icon.tsx';
import { KeyShownOnce } from '../components/key-shown-once.tsx';
import { List } from '../components/list.tsx';
import { LiveBadge } from '../components/live-badge.tsx';
import { Loaded } from '../components/loaded.tsx';
import { Menu, MenuItem, MenuLabel, MenuLine } from '../components/menu.tsx';
import { Moment } from '../components/moment.tsx';
import { PickList } from '../components/pick-list.tsx';
import { RadioGroup } from '../components/radio-group.tsx';
import { RelativeTime } from '../components/relative-time.tsx';
import { Select } from '../components/select.tsx';
import { SelectField } from '../components/select-field.tsx';
import { SidePanel } from '../components/side-panel.tsx';
import { Skeleton } from '../components/skeleton.tsx';
import { Snippet, SnippetTabs } from '../components/snippet.tsx';
import { StatusDot } from '../components/status-dot.tsx';
import { Tabs } from '../components/tabs.tsx';
import { showToast, Toasts } from '../components/toast.tsx';
import { ShownError } from '../graphql/shown-error.ts';

const longName = 'a-name-of-64-characters-which-is-the-longest-that-a-skill-can-have';
const longText =
  'Reads the tickets of the last week, sums them up by customer, and says which of them need an answer today.';
const refusal = new ShownError({
  code: 'unavailable',
  message: 'The MCP server "crm" answered 401: token expired.',
  hint: 'Open Integrations and reconnect it.',
  requestId: 'req_0Vc9w4pT0001bRkT2SmX7d',
});
const nothing = () => undefined;

/** Every building block in all its states, for those who build pages. It is only in the development server. */
export function ComponentsPage() {
  const theme = useTheme();
  return (
    <main className="mx-auto grid max-w-content gap-10 px-4 py-6 tablet:px-6">
      <header className="flex flex-wrap items-center justify-between gap-2">
        <h1 className="font-semibold text-20">Components</h1>
        <Select
          label="Theme"
          value={theme}
          options={themes.map((one) => ({ value: one, title: one }))}
          onValue={(value) => themes.filter((one) => one === value).forEach(chooseTheme)}
        />
      </header>
      <Actions />
      <Fields />
      <Choices />
      <States />
      <Texts />
      <Lists />
      <Above />
      <Toasts />
    </main>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ReactNode }) {
  return (
    <section className="grid min-w-0 gap-4">
      <h2 className="border-border border-b pb-2 font-semibold text-16">{title}</h2>
      {children}
    </section>
  );
}

function Line({ children }: { readonly children: ReactNode }) {
  return <div className="flex flex-wrap items-center gap-2">{children}</div>;
}

const looks = ['primary', 'secondary', 'quiet', 'dangerous', 'danger'] as const;
const icons = [
  ...['activity', 'agent', 'check', 'chevron', 'close', 'copy', 'home', 'integration', 'key', 'mark', 'members'],
  ...[
    'more',
    'person',
    'plus',
    'role',
    'runtime',
    'search',
    'server',
    'settings',
    'skill',
    'theme',
    'usage',
    'warning',
  ],
] as readonly IconName[];

function Actions() {
  return (
    <Part title="Buttons and icons">
      {looks.map((look) => (
        <Line key={look}>
          <Button look={look}>{look}</Button>
          <Button look={look} icon="plus">
            {`${look} with icon`}
          </Button>
          <Button look={look} isBusy>
            {`${look}, busy`}
          </Button>
          <Button look={look} disabled>
            {`${look}, disabled`}
          </Button>
          <Button look={look} isSmall>
            {`${look}, small`}
          </Button>
        </Line>
      ))}
      <Line>
        <IconButton label="Close" icon="close" />
        <CopyButton text="copied" />
        <Menu trigger={<Button>Menu</Button>}>
          <MenuLabel>Workspaces</MenuLabel>
          <MenuItem isCurrent onSelect={nothing}>
            Acme
          </MenuItem>
          <MenuItem onSelect={nothing}>{longName}</MenuItem>
          <MenuLine />
          <MenuItem isDangerous onSelect={nothing}>
            Remove…
          </MenuItem>
        </Menu>
      </Line>
      <ul className="flex flex-wrap gap-4 text-12 text-quiet">
        {icons.map((name) => (
          <li key={name} className="flex items-center gap-2">
            <Icon name={name} />
            {name}
          </li>
        ))}
      </ul>
    </Part>
  );
}

function Fields() {
  const [text, setText] = useState('');
  const shared = { value: text, onText: setText };
  return (
    <Part title="Fields">
      <div className="grid gap-4 tablet:grid-cols-2">
        <Field label="Name" {...shared} />
        <Field label="With a hint" hint="Letters, digits and hyphens." {...shared} />
        <Field label="With a problem" problem={`"${longName}" is in use. Choose another name.`} {...shared} />
        <Field label="Disabled" disabled {...shared} />
        <Field label="Code" isCode value="npx -y @acme/mcp-server" onText={nothing} />
        <SelectField
          label="Role"
          hint="Each role includes the rights of those before it."
          value="viewer"
          options={[
            { value: 'viewer', title: 'Viewer' },
            { value: 'editor', title: longName },
          ]}
          onValue={nothing}
        />
        <TextField label="Several lines" value={'A=1\nB=2'} onText={nothing} />
        <TextField label="Several lines with a problem" problem="Line 2 has no =." value={'A=1\nB'} onText={nothing} />
      </div>
      <Line>
        <FilterField label="Filter by name" {...shared} />
        <Select label="Status" value="all" options={[{ value: 'all', title: 'All' }]} onValue={nothing} />
      </Line>
      <FilterField label="As wide as its surroundings" isWide {...shared} />
      <Form onSubmit={nothing} className="grid gap-4">
        <Field label="Asked for by its form" required {...shared} />
        <Requirement isMet={false}>Choose at least one role.</Requirement>
        <div>
          <Button type="submit">Refuse</Button>
        </div>
      </Form>
    </Part>
  );
}

function Choices() {
  const [chosen, setChosen] = useState<'every' | 'some'>('some');
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set(['a']));
  return (
    <Part title="Choices">
      <RadioGroup
        legend="What it may use"
        value={chosen}
        onValue={setChosen}
        options={[
          { value: 'every', title: 'Every role, later ones too' },
          { value: 'some', title: 'Only some roles', about: longText },
        ]}
      />
      <PickList
        label="Roles"
        picked={picked}
        onToggle={({ id }) => setPicked(picked.symmetricDifference(new Set([id])))}
        options={[
          { id: 'a', title: 'Support', about: 'For agents of the help desk' },
          { id: 'b', title: longName, about: longText },
        ]}
      />
      <Tabs
        label="Parts"
        tabs={[
          { title: 'First', content: <p>The first part.</p> },
          { title: 'Second', content: <p>The second part.</p> },
        ]}
      />
    </Part>
  );
}

function States() {
  return (
    <Part title="States">
      <Line>
        <StatusDot tone="good">Connected</StatusDot>
        <StatusDot tone="warn">degraded</StatusDot>
        <StatusDot tone="bad">Error</StatusDot>
        <StatusDot tone="none">Disconnected</StatusDot>
        <LiveBadge connection="lost" />
        <LiveBadge connection="stopped" />
      </Line>
      <ErrorState error={refusal} onRetry={nothing} />
      <Loaded value="What was read before the refusal." error={refusal} onRetry={nothing}>
        {(text) => <p>{text}</p>}
      </Loaded>
      <ErrorLine error={refusal} />
      <Skeleton lines={2} />
      <EmptyState title="No MCP servers yet" action={<Button look="primary">Add MCP server</Button>}>
        {longText}
      </EmptyState>
    </Part>
  );
}

function Texts() {
  const hourAgo = Date.now() - 3_600_000;
  return (
    <Part title="Texts">
      <Facts>
        <Fact name="Name">{longName}</Fact>
        <Fact name="Last used">
          <RelativeTime at={hourAgo} />
        </Fact>
        <Fact name="Never used">
          <Moment at={null} otherwise="never" />
        </Fact>
      </Facts>
      <Snippet text="svc open" />
      <Snippet text={`claude mcp add --transport http platform https://mcp.example.com/mcp --header "${longText}"`} />
      <SnippetTabs
        label="Clients"
        tabs={[
          { title: 'Claude Code', about: 'In a terminal:', text: 'claude mcp add platform' },
          { title: 'Cursor', about: 'In .cursor/mcp.json:', text: '{ "mcpServers": {} }' },
        ]}
      />
      <KeyShownOnce secret={`SVA_${'x'.repeat(50)}`} about="Copy the key now. It is not shown again." />
    </Part>
  );
}

interface Row {
  readonly id: string;
  readonly name: string;
  readonly calls: number;
}

const columns: readonly Column<Row>[] = [
  { title: 'Name', cell: ({ name }) => name, sortBy: ({ name }) => name, isTitle: true, share: 'wide' },
  { title: 'Status', cell: () => <StatusDot tone="good">Connected</StatusDot> },
  { title: 'Calls', cell: ({ calls }) => calls, sortBy: ({ calls }) => calls, isRight: true, share: 'narrow' },
];
const rows: readonly Row[] = Array.from({ length: 5000 }, (_, i) => ({
  ...{ id: `row ${i}`, name: i === 1 ? longName.repeat(3) : `mcp-server-${i}`, calls: (i * 7919) % 1000 },
}));
const bars: readonly Bar[] = Array.from({ length: 24 }, (_, hour) => ({
  ...{ at: Date.UTC(2030, 0, 1, hour), value: (hour * 37) % 90, bad: hour % 5 },
}));

function Lists() {
  const [open, setOpen] = useState<string | null>('row 2');
  return (
    <Part title="Lists">
      <List
        label="MCP servers"
        of={{ rows, error: null, retry: nothing }}
        columns={columns}
        onOpen={({ id }) => setOpen(id)}
        openId={open}
        below={({ id }) => id === 'row 3' && <p className="pb-3 text-13 text-quiet">{refusal.message}</p>}
      />
      <List
        label="Refused"
        of={{ rows: [], error: refusal, retry: nothing }}
        none={<EmptyState title="No match">No MCP server has a name with "crm".</EmptyState>}
        columns={columns}
        onOpen={nothing}
      />
      <BarChart bars={bars} about="Calls by hour" describe={({ value, bad }) => `${value} calls, ${bad} failed`} />
    </Part>
  );
}

const above = ['Dialog', 'Form', 'Side panel', 'Missing row', 'Confirm by typing'] as const;

/** Above the page: opened by a button. */
function Above() {
  const [open, setOpen] = useState<(typeof above)[number] | null>(null);
  const close = () => setOpen(null);
  return (
    <Part title="Above the page">
      <Line>
        {above.map((name) => (
          <Button key={name} onClick={() => setOpen(name)}>
            {name}
          </Button>
        ))}
        <Button onClick={() => showToast('files restarts.')}>Toast</Button>
        <Button onClick={() => showToast(`${longName} is off.`, nothing)}>Toast with undo</Button>
      </Line>
      {open === 'Dialog' && (
        <Dialog title="Create role" onClose={close}>
          <p>{longText}</p>
        </Dialog>
      )}
      {open === 'Form' && (
        <FormDialog
          title="Create role"
          verb="Create role"
          action={{ run: nothing, isBusy: false, error: refusal }}
          onClose={close}
        >
          <p>{longText}</p>
        </FormDialog>
      )}
      {open === 'Side panel' && (
        <SidePanel title={longName} onClose={close}>
          <p>{longText}</p>
        </SidePanel>
      )}
      {open === 'Missing row' && (
        <DetailsPanel
          title="MCP server"
          of={undefined}
          missing={`No MCP server has the id "${longName}". It was removed, or the address is wrong.`}
          onClose={close}
        >
          {() => <p>{longText}</p>}
        </DetailsPanel>
      )}
      {open === 'Confirm by typing' && (
        <ConfirmByTyping
          title="Remove files"
          name="files"
          consequence="Its settings and its secrets are deleted."
          verb="Remove MCP server"
          onConfirm={() => Promise.reject(refusal)}
          onClose={close}
        />
      )}
    </Part>
  );
}
