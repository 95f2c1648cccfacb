import type { ReactNode } from 'react';
import { Tabs } from '../../components/tabs.tsx';
import { KeyExplanation } from './key-explanation.tsx';
import type { OwnKey } from './own-keys.ts';

/** Undefined: what the key or the agent is. */
export type KeyTab = 'explain' | undefined;

interface KeyTabsProps {
  readonly row: OwnKey;
  readonly tab: KeyTab;
  readonly onTab: (tab: KeyTab) => void;
  /** The content of the first tab. */
  readonly children: ReactNode;
}

/** What a key or a connected agent is, and what an agent with it can use. */
export function KeyTabs({ row, tab, onTab, children }: KeyTabsProps) {
  const explanation = <KeyExplanation row={row} onSettings={() => onTab(undefined)} />;
  return (
    <Tabs
      label={row.name}
      tabs={[
        { title: row.client == null ? 'Key' : 'Agent', content: children },
        { title: 'What it can use', content: explanation },
      ]}
      shown={tab === 'explain' ? 1 : 0}
      onShow={(number) => onTab(number === 1 ? 'explain' : undefined)}
    />
  );
}
