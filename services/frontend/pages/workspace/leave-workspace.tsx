import { useNavigate } from '@tanstack/react-router';
import { usePlace } from '../../app/workspace.ts';
import { ConfirmByTyping } from '../../components/confirm-by-typing.tsx';
import { send } from '../../graphql/client.ts';
import { removeMemberMutation } from '../../graphql/generated/operations.ts';
import { useOwnKeys } from '../keys/own-keys.ts';
import { countKeys } from '../members/member-words.ts';

/** Ends the person's own membership. */
export function LeaveWorkspace({ onClose }: { readonly onClose: () => void }) {
  const { workspace, member } = usePlace();
  const { keys } = useOwnKeys();
  const navigate = useNavigate();
  const stops = keys === null || keys.length === 0 ? '' : ` Your keys here stop at once: ${countKeys(keys)}.`;
  return (
    <ConfirmByTyping
      title={`Leave ${workspace.name}`}
      name={workspace.name}
      verb="Leave workspace"
      consequence={`You lose access at once, and come back only by an invitation.${stops} MCP servers, skills and roles stay.`}
      onConfirm={async () => {
        await send(removeMemberMutation, { workspace: workspace.id, id: member });
        await navigate({ to: '/' });
      }}
      onClose={onClose}
    />
  );
}
