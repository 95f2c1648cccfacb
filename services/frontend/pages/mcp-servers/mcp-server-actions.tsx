import { useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmByTyping } from '../../components/confirm-by-typing.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import {
  enableMcpServerMutation,
  removeMcpServerMutation,
  restartMcpServerMutation,
} from '../../graphql/generated/operations.ts';
import type { ShownServer } from './shown-server.ts';

/** What can be done with an MCP server at once. */
export function McpServerActions({
  server,
  onRemoved,
}: {
  readonly server: ShownServer;
  readonly onRemoved: () => void;
}) {
  const { workspace } = usePlace();
  const [isRemoving, setRemoving] = useState(false);
  const { id, name, version } = server;
  const at = { workspace: workspace.id, id };
  const restart = useAction(async () => {
    await send(restartMcpServerMutation, at);
    showToast(`${name} restarts.`);
  });
  const setEnabled = (enabled: boolean, ifVersion: number | null) =>
    send(enableMcpServerMutation, { ...at, enabled, ifVersion });
  const toggle = useAction(async () => {
    await setEnabled(!server.enabled, version);
    showToast(server.enabled ? `${name} is off.` : `${name} is on.`, () => void setEnabled(server.enabled, null));
  });
  const skills = server.skills.map((skill) => skill.name);
  return (
    <div className="grid gap-2">
      <div className="flex flex-wrap gap-2">
        <Button onClick={restart.run} isBusy={restart.isBusy} disabled={!server.enabled}>
          Restart
        </Button>
        <Button onClick={toggle.run} isBusy={toggle.isBusy}>
          {server.enabled ? 'Disable' : 'Enable'}
        </Button>
        <Button look="dangerous" onClick={() => setRemoving(true)}>
          Remove…
        </Button>
      </div>
      <ErrorLine error={restart.error ?? toggle.error} />
      {isRemoving && (
        <ConfirmByTyping
          title={`Remove ${name}`}
          name={name}
          verb="Remove MCP server"
          consequence={
            skills.length === 0
              ? 'Its settings and its secrets are deleted. No skill uses it.'
              : `Its settings and its secrets are deleted. These skills lose its tools: ${skills.join(', ')}.`
          }
          onConfirm={async () => {
            await send(removeMcpServerMutation, {
              ...{ ...at, ifVersion: version },
              ifUsedBy: server.skills.map((skill) => skill.id),
            });
            onRemoved();
          }}
          onClose={() => setRemoving(false)}
        />
      )}
    </div>
  );
}
