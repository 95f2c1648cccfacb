import { useNavigate } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { type ReactNode, useDeferredValue, useState } from 'react';
import { useModal } from '../components/dialog.tsx';
import { Icon, type IconName } from '../components/icon.tsx';
import { foundSkillsQuery, mcpServersQuery } from '../graphql/generated/operations.ts';
import { useOperation } from '../graphql/use-operation.ts';
import { places } from './places.ts';
import { chooseTheme, themes } from './theme.ts';
import type { Place } from './workspace.ts';

const groupClass =
  '[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-12 [&_[cmdk-group-heading]]:text-quiet';

/** Every place and action by its name, and objects by a search on the server. */
export function Palette({ place, onClose }: { readonly place: Place | null; readonly onClose: () => void }) {
  const dialog = useModal();
  const [text, setText] = useState('');
  const search = useDeferredValue(text.trim());
  const id = place?.workspace.id ?? '';
  const isPaused = search.length < 2 || place === null;
  const { data } = useOperation(mcpServersQuery, { workspace: id, search }, isPaused);
  const found = isPaused ? [] : (data?.workspace?.mcpServers.nodes ?? []).slice(0, 8);
  const skills = useOperation(foundSkillsQuery, { workspace: id, search }, isPaused);
  const foundSkills = isPaused ? [] : (skills.data?.workspace?.skills.nodes ?? []);
  const navigate = useNavigate();
  const then = (action: () => unknown) => () => {
    dialog.current?.close();
    action();
  };
  return (
    <dialog
      ref={dialog}
      aria-label="Search"
      onClose={onClose}
      className="m-auto mt-16 w-full max-w-dialog animate-appear overflow-hidden rounded-control border border-border bg-surface text-text shadow-float"
    >
      <Command label="Search" loop>
        <Command.Input
          value={text}
          onValueChange={setText}
          placeholder="Search places, actions, skills and MCP servers"
          className="h-12 w-full border-border border-b bg-surface px-4 text-16 outline-none tablet:text-14"
        />
        <Command.List className="max-h-[60dvh] overflow-y-auto p-1">
          <Command.Empty className="px-3 py-6 text-center text-quiet">Nothing has this name.</Command.Empty>
          {foundSkills.length > 0 && (
            <Command.Group heading="Skills" className={groupClass}>
              {foundSkills.map(({ id: skill, name }) => (
                <Item
                  key={skill}
                  value={`Skill ${name}`}
                  icon="skill"
                  onSelect={then(() =>
                    navigate({ to: '/w/$workspace/skills/$skill', params: { workspace: id, skill }, search: {} }),
                  )}
                >
                  {name}
                </Item>
              ))}
            </Command.Group>
          )}
          {found.length > 0 && (
            <Command.Group heading="MCP servers" className={groupClass}>
              {found.map(({ id: panel, name }) => (
                <Item
                  key={panel}
                  value={`MCP server ${name}`}
                  icon="server"
                  onSelect={then(() =>
                    navigate({
                      to: '/w/$workspace/settings/mcp-servers',
                      params: { workspace: id },
                      search: { panel },
                    }),
                  )}
                >
                  {name}
                </Item>
              ))}
            </Command.Group>
          )}
          {place !== null && (
            <Command.Group heading="Places" className={groupClass}>
              {places.map(({ title, to, icon, key }) => (
                <Item
                  key={to}
                  value={title}
                  icon={icon}
                  keys={`g ${key}`}
                  onSelect={then(() => navigate({ to, params: { workspace: id } }))}
                >
                  {title}
                </Item>
              ))}
            </Command.Group>
          )}
          <Command.Group heading="Actions" className={groupClass}>
            {place?.mayEdit && (
              <Item
                value="Create skill"
                icon="plus"
                onSelect={then(() =>
                  navigate({ to: '/w/$workspace/skills', params: { workspace: id }, search: { add: true } }),
                )}
              >
                Create skill
              </Item>
            )}
            {place?.mayConfigure && (
              <Item
                value="Add MCP server"
                icon="plus"
                onSelect={then(() =>
                  navigate({
                    to: '/w/$workspace/settings/mcp-servers',
                    params: { workspace: id },
                    search: { add: true },
                  }),
                )}
              >
                Add MCP server
              </Item>
            )}
            {place?.mayEdit && (
              <Item
                value="Create role"
                icon="plus"
                onSelect={then(() =>
                  navigate({ to: '/w/$workspace/roles', params: { workspace: id }, search: { add: true } }),
                )}
              >
                Create role
              </Item>
            )}
            {place?.mayConfigure && (
              <Item
                value="Invite people"
                icon="members"
                onSelect={then(() =>
                  navigate({ to: '/w/$workspace/settings/members', params: { workspace: id }, search: { add: true } }),
                )}
              >
                Invite people
              </Item>
            )}
            {place !== null && (
              <Item
                value="Create workspace"
                icon="plus"
                onSelect={then(() =>
                  navigate({
                    to: '/w/$workspace/settings/general',
                    params: { workspace: id },
                    search: { create: true },
                  }),
                )}
              >
                Create workspace
              </Item>
            )}
            {place?.viewer.memberships
              .filter(({ workspace }) => workspace.id !== id)
              .map(({ workspace }) => (
                <Item
                  key={workspace.id}
                  value={`Switch to workspace ${workspace.name} ${workspace.id}`}
                  icon="home"
                  onSelect={then(() => navigate({ to: '/w/$workspace', params: { workspace: workspace.id } }))}
                >
                  Switch to {workspace.name}
                </Item>
              ))}
            {themes.map((theme) => (
              <Item
                key={theme}
                value={`Theme ${theme}`}
                icon="settings"
                onSelect={then(() => chooseTheme(theme))}
              >{`Theme: ${theme}`}</Item>
            ))}
          </Command.Group>
        </Command.List>
      </Command>
    </dialog>
  );
}

interface ItemProps {
  readonly value: string;
  readonly icon: IconName;
  readonly keys?: string;
  readonly onSelect: () => void;
  readonly children: ReactNode;
}

function Item({ value, icon, keys, onSelect, children }: ItemProps) {
  return (
    <Command.Item
      value={value}
      onSelect={onSelect}
      className="flex h-11 cursor-pointer items-center gap-3 rounded-control px-3 text-13 data-[selected=true]:bg-hover tablet:h-9"
    >
      <Icon name={icon} className="text-quiet" />
      <span className="flex-1 truncate">{children}</span>
      {keys !== undefined && <kbd className="text-12 text-quiet">{keys}</kbd>}
    </Command.Item>
  );
}
