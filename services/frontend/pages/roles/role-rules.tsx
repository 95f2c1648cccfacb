import { Command } from 'cmdk';
import { useDeferredValue, useId, useState } from 'react';
import { isToolPattern } from '../../../contracts/tool-pattern.ts';
import { rulesOfRoleMax } from '../../../contracts/workspace-limits.ts';
import { usePlace } from '../../app/workspace.ts';
import { IconButton } from '../../components/button.tsx';
import { classNames } from '../../components/class-names.ts';
import { ErrorLine } from '../../components/error-state.tsx';
import { useAction } from '../../components/use-action.ts';
import {
  findToolsQuery,
  type RolePatch,
  type RoleRowFragment,
  type ToolRuleEffect,
  type ToolRuleInput,
} from '../../graphql/generated/operations.ts';
import { useOperation } from '../../graphql/use-operation.ts';
import { onPage } from '../conflict-hint.ts';
import { readTypedRule, searchOf } from './typed-rule.ts';

interface RoleRulesProps {
  readonly role: RoleRowFragment;
  readonly change: (input: RolePatch) => Promise<void>;
}

/** What limits the tools of a role: the switch for read-only tools, and the rules. */
export function RoleRules({ role, change }: RoleRulesProps) {
  const { mayEdit } = usePlace();
  const { rules, readOnly, version } = role;
  const [wanted, setWanted] = useState<RolePatch | null>(null);
  const {
    run: set,
    error,
    isBusy,
  } = useAction(async (input: RolePatch) => {
    setWanted(input);
    await change({ ...input, ifVersion: version }).finally(() => setWanted(null));
  });
  const shownReadOnly = wanted?.readOnly ?? readOnly;
  const inputs = rules.map(({ effect, tool, mcpServer }) => ({ effect, tool, mcpServer: mcpServer.name }));
  const id = useId();
  return (
    <section className="grid gap-3" aria-busy={isBusy || undefined}>
      <h3 className="font-medium text-13">Tools</h3>
      <label className="flex min-h-11 items-start gap-3 text-13 tablet:min-h-0">
        <input
          type="checkbox"
          checked={shownReadOnly}
          disabled={!mayEdit}
          aria-describedby={`${id}-about`}
          onChange={() => set({ readOnly: !shownReadOnly })}
          className="mt-0.5 size-4 accent-solid"
        />
        <span className="grid gap-1">
          Read-only tools only
          <span id={`${id}-about`} className="text-12 text-quiet">
            An MCP server says of each tool whether it only reads. A tool without this statement does not pass.
          </span>
        </span>
      </label>
      <p className="text-12 text-quiet">{meaningOf(inputs)}</p>
      {rules.length > 0 && (
        <ul aria-label="Rules" className="divide-y divide-border rounded-control border border-border">
          {inputs.map((rule) => (
            <li key={textOf(rule)} className="flex min-h-11 items-center gap-3 pr-1 pl-3 text-13 tablet:min-h-9">
              <span className={classNames('w-10 shrink-0', rule.effect === 'deny' ? 'text-bad' : 'text-good')}>
                {rule.effect === 'deny' ? 'Deny' : 'Allow'}
              </span>
              <code className="min-w-0 flex-1 break-all">{`${rule.mcpServer}/${rule.tool}`}</code>
              {mayEdit && (
                <IconButton
                  label={`Remove rule: ${textOf(rule)}`}
                  icon="close"
                  onClick={() => set({ rules: inputs.filter((one) => textOf(one) !== textOf(rule)) })}
                />
              )}
            </li>
          ))}
        </ul>
      )}
      <ErrorLine error={onPage(error)} />
      {mayEdit && rules.length < rulesOfRoleMax && (
        <AddRule known={inputs} onAdd={(rule) => set({ rules: [...inputs, rule] })} />
      )}
      {mayEdit && rules.length >= rulesOfRoleMax && (
        <p className="text-12 text-quiet">{`A role has at most ${rulesOfRoleMax} rules. A pattern with * names many tools.`}</p>
      )}
    </section>
  );
}

function meaningOf(rules: readonly ToolRuleInput[]): string {
  const allows = rules.some(({ effect }) => effect === 'allow');
  const denies = rules.some(({ effect }) => effect === 'deny');
  if (allows) return `Only allowed tools pass${denies ? ', and denied tools never do' : ''}.`;
  return denies ? 'Every tool of its skills passes, except denied ones.' : 'No rules: every tool of its skills passes.';
}

const textOf = ({ effect, mcpServer, tool }: ToolRuleInput) => `${effect} ${mcpServer}/${tool}`;

const effects = [
  { effect: 'deny', word: 'Deny' },
  { effect: 'allow', word: 'Allow' },
] as const satisfies readonly { effect: ToolRuleEffect; word: string }[];

const shownMax = 8;

/** The tool is looked for by name among the tools of the workspace, or typed as a pattern. */
function AddRule({
  known,
  onAdd,
}: {
  readonly known: readonly ToolRuleInput[];
  readonly onAdd: (rule: ToolRuleInput) => void;
}) {
  const { workspace } = usePlace();
  const [effect, setEffect] = useState<ToolRuleEffect>('deny');
  const [text, setText] = useState('');
  const search = useDeferredValue(text);
  const isPaused = search.trim() === '';
  const { data } = useOperation(findToolsQuery, { workspace: workspace.id, ...searchOf(search) }, isPaused);
  const word = effect === 'deny' ? 'Deny' : 'Allow';
  const name = useId();
  const add = (rule: Omit<ToolRuleInput, 'effect'>) => {
    onAdd({ ...rule, effect });
    setText('');
  };
  const found = isPaused ? [] : choicesOf(text, data?.workspace ?? null);
  const choices = found.filter((one) => !known.some((rule) => textOf(rule) === textOf({ ...one, effect })));
  return (
    <div className="grid gap-2">
      <fieldset className="flex gap-4 text-13">
        <legend className="sr-only">Effect of the new rule</legend>
        {effects.map((one) => (
          <label key={one.effect} className="flex min-h-11 items-center gap-2 tablet:min-h-0">
            <input
              type="radio"
              name={name}
              checked={effect === one.effect}
              onChange={() => setEffect(one.effect)}
              className="size-4 accent-solid"
            />
            {one.word}
          </label>
        ))}
      </fieldset>
      <Command label={`${word} tools`} shouldFilter={false} loop>
        <Command.Input
          value={text}
          onValueChange={setText}
          maxLength={1200}
          placeholder="Tool, or a pattern: files/delete_*"
          className="h-11 w-full rounded-control border border-border-strong bg-surface px-3 text-16 tablet:h-9 tablet:text-13"
        />
        <Command.List className={classNames('mt-1 rounded-control', text.trim() !== '' && 'border border-border p-1')}>
          {text.trim() !== '' && choices.length === 0 && data !== null && (
            <Command.Empty className="px-2 py-2 text-13 text-quiet">
              No tool has this name. A pattern needs its MCP server: files/delete_*
            </Command.Empty>
          )}
          {choices.map((one) => (
            <Command.Item
              key={`${one.mcpServer}/${one.tool}`}
              value={`${one.mcpServer}/${one.tool}`}
              onSelect={() => add({ mcpServer: one.mcpServer, tool: one.tool })}
              className="flex min-h-11 cursor-pointer items-center gap-2 rounded-control px-2 py-1 text-13 data-[selected=true]:bg-hover tablet:min-h-8"
            >
              <span className="shrink-0 text-quiet">{word}</span>
              <code className="min-w-0 break-all">{`${one.mcpServer}/${one.tool}`}</code>
            </Command.Item>
          ))}
        </Command.List>
      </Command>
    </div>
  );
}

interface Found {
  readonly mcpServers: { readonly nodes: readonly { readonly name: string }[] };
  readonly tools: {
    readonly nodes: readonly { readonly originalName: string; readonly mcpServer: { readonly name: string } }[];
  };
}

/** Tools that were found, then all tools of an MCP server, then what was typed: it may be half a name. A pattern is whole. */
function choicesOf(text: string, found: Found | null): readonly Omit<ToolRuleInput, 'effect'>[] {
  const typed = readTypedRule(text);
  const given = text.includes('/') ? text.slice(0, text.indexOf('/')).trim() : null;
  const tools = (found?.tools.nodes ?? [])
    .map(({ originalName, mcpServer }) => ({ mcpServer: mcpServer.name, tool: originalName }))
    .filter(({ mcpServer }) => given === null || mcpServer === given);
  const whole = (found?.mcpServers.nodes ?? []).map(({ name }) => ({ mcpServer: name, tool: '*' }));
  const asTyped = typed === null ? [] : [typed];
  const known = [...tools.slice(0, shownMax), ...whole];
  const all = isToolPattern(text) ? [...asTyped, ...known] : [...known, ...asTyped];
  return [...new Map(all.map((one) => [`${one.mcpServer}/${one.tool}`, one])).values()];
}
