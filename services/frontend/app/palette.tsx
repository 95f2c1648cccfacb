import { Command } from 'cmdk';
import { useState } from 'react';
import { useModal } from '../components/dialog.tsx';
import { Icon } from '../components/icon.tsx';
import { entriesNamed, hasEntries, type PaletteEntry } from './palette-entry.ts';
import { useFound, useRestarts } from './use-found.ts';
import { usePaletteCommands } from './use-palette-commands.ts';
import type { Place } from './workspace.ts';

interface PaletteProps {
  readonly place: Place | null;
  readonly onClose: () => void;
  readonly onShortcuts: () => void;
}

const restartText = 'Restart ';
/** The bound of a search in the backend. */
const textLengthMax = 256;

/** Every place and action by its name, and everything in the workspace by a search in the backend. */
export function Palette({ place, onClose, onShortcuts }: PaletteProps) {
  const dialog = useModal();
  const [typed, setTyped] = useState('');
  const text = typed.trim();
  const isRestart = place?.mayConfigure === true && typed.toLowerCase().startsWith(restartText.toLowerCase());
  const commands = usePaletteCommands({ place, onRestart: () => setTyped(restartText), onShortcuts });
  const found = useFound(place, isRestart ? '' : text);
  const restarts = useRestarts(place, isRestart ? typed.slice(restartText.length).trim() : null);
  const { groups, error, isAsking } = isRestart
    ? restarts
    : { ...found, groups: [...entriesNamed(commands, text), ...found.groups] };
  const choose = ({ run, staysOpen }: PaletteEntry) => {
    if (staysOpen !== true) dialog.current?.close();
    run();
  };
  return (
    <dialog
      ref={dialog}
      aria-label="Search"
      onClose={onClose}
      className="m-auto mt-16 w-full max-w-dialog animate-appear overflow-hidden rounded-control border border-border bg-surface text-text shadow-float"
    >
      <Command label="Search" loop shouldFilter={false} vimBindings={false}>
        <Command.Input
          value={typed}
          onValueChange={setTyped}
          maxLength={textLengthMax}
          placeholder={place === null ? 'Search actions' : `Search ${place.workspace.name}`}
          className="h-12 w-full border-border border-b bg-surface px-4 text-16 outline-none tablet:text-14"
        />
        <Command.List className="max-h-[60dvh] overflow-y-auto p-1">
          {groups.filter(hasEntries).map(({ title, entries }) => (
            <Command.Group
              key={title}
              heading={title}
              className="[&_[cmdk-group-heading]]:px-3 [&_[cmdk-group-heading]]:py-1 [&_[cmdk-group-heading]]:text-12 [&_[cmdk-group-heading]]:text-quiet"
            >
              {entries.map((entry) => (
                <Line key={entry.id} entry={entry} onChoose={choose} />
              ))}
            </Command.Group>
          ))}
        </Command.List>
        <p role="status" className="text-13 text-quiet">
          {error !== null ? (
            <span className="block px-4 py-3">{error.message}</span>
          ) : groups.some(hasEntries) ? null : isAsking ? (
            <span className="block animate-late px-4 py-6 text-center">Searching…</span>
          ) : (
            <span className="block px-4 py-6 text-center">Nothing has this name.</span>
          )}
        </p>
      </Command>
    </dialog>
  );
}

function Line({ entry, onChoose }: { readonly entry: PaletteEntry; readonly onChoose: (entry: PaletteEntry) => void }) {
  const { id, title, detail, icon, keys, isCurrent } = entry;
  return (
    <Command.Item
      value={id}
      onSelect={() => onChoose(entry)}
      className="flex h-11 cursor-pointer items-center gap-3 rounded-control px-3 text-13 data-[selected=true]:bg-hover tablet:h-9"
    >
      <Icon name={icon} className="text-quiet" />
      <span title={title} className="min-w-0 truncate">
        {title}
      </span>
      {detail !== undefined && <span className="ml-auto max-w-1/2 shrink-0 truncate text-quiet">{detail}</span>}
      {isCurrent === true && <Icon name="check" className="ml-auto text-quiet" />}
      {keys !== undefined && <kbd className="ml-auto hidden text-12 text-quiet tablet:inline">{keys}</kbd>}
    </Command.Item>
  );
}
