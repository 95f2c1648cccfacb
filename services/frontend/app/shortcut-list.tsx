import { Dialog } from '../components/dialog.tsx';
import { places } from './places.ts';

const others = [
  ['⌘ K or Ctrl K', 'Search'],
  ['/', 'Filter'],
  ['c', 'Create, where the place has something to create'],
  ['j, k', 'Next and previous row'],
  ['Enter', 'Open the row'],
  ['Esc', 'Close'],
  ['?', 'This list'],
] as const;

export function ShortcutList({ onClose }: { readonly onClose: () => void }) {
  const goTo = places.map(({ key, title }) => [`g ${key}`, title] as const);
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="grid grid-cols-[auto_1fr] gap-x-6 gap-y-2">
        {[...goTo, ...others].map(([keys, meaning]) => (
          <div key={keys} className="contents">
            <dt>
              <kbd className="text-13">{keys}</kbd>
            </dt>
            <dd className="text-quiet">{meaning}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
