import { useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmByTyping } from '../../components/confirm-by-typing.tsx';
import { DetailsPanel } from '../../components/details-panel.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { Moment } from '../../components/moment.tsx';
import { send } from '../../graphql/client.ts';
import { revokeKeyMutation } from '../../graphql/generated/operations.ts';
import { KeySettings } from './key-settings.tsx';
import { type KeyTab, KeyTabs } from './key-tabs.tsx';
import type { OwnKey } from './own-keys.ts';

interface ConnectedAgentPanelProps {
  /** Undefined: no agent of the person has the id. */
  readonly row: OwnKey | undefined;
  /** Absent: what the agent is. */
  readonly tab: KeyTab;
  readonly onTab: (tab: KeyTab) => void;
  readonly onClose: () => void;
}

/** Everything about one connected agent, and what can be done with it. */
export function ConnectedAgentPanel({ row, tab, onTab, onClose }: ConnectedAgentPanelProps) {
  return (
    <DetailsPanel
      title={row?.name ?? 'Connected agent'}
      of={row}
      missing="None of your connected agents has this id. The agent was disconnected, or the address is wrong."
      onClose={onClose}
    >
      {(found) => <Details row={found} tab={tab} onTab={onTab} onDisconnected={onClose} />}
    </DetailsPanel>
  );
}

interface DetailsProps extends Pick<ConnectedAgentPanelProps, 'tab' | 'onTab'> {
  readonly row: OwnKey;
  readonly onDisconnected: () => void;
}

function Details({ row, tab, onTab, onDisconnected }: DetailsProps) {
  const { workspace } = usePlace();
  const [isDisconnecting, setDisconnecting] = useState(false);
  return (
    <>
      <KeyTabs row={row} tab={tab} onTab={onTab}>
        <div className="grid gap-6">
          <div>
            <Button look="dangerous" onClick={() => setDisconnecting(true)}>
              Disconnect…
            </Button>
          </div>
          <Facts>
            <Fact name="Client">
              <span className="break-all">{row.client}</span>
            </Fact>
            <Fact name="Connected">
              <Moment at={row.createdAt} otherwise="" />
            </Fact>
            <Fact name="Last used">
              <Moment at={row.lastUsedAt} otherwise="never" />
            </Fact>
          </Facts>
          <KeySettings row={row} />
        </div>
      </KeyTabs>
      {isDisconnecting && (
        <ConfirmByTyping
          title={`Disconnect ${row.name}`}
          name={row.name}
          verb="Disconnect"
          consequence="The agent is refused at once. It must ask you again to come back."
          onConfirm={async () => {
            await send(revokeKeyMutation, { workspace: workspace.id, key: row.id, ifVersion: row.version });
            onDisconnected();
          }}
          onClose={() => setDisconnecting(false)}
        />
      )}
    </>
  );
}
