import { type ReactNode, useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmByTyping } from '../../components/confirm-by-typing.tsx';
import { DetailsPanel } from '../../components/details-panel.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { Moment } from '../../components/moment.tsx';
import { send } from '../../graphql/client.ts';
import { revokeKeyMutation } from '../../graphql/generated/operations.ts';
import { KeySettings } from './key-settings.tsx';
import { KeyState } from './key-state.tsx';
import { type KeyTab, KeyTabs } from './key-tabs.tsx';
import { NewKey } from './new-key.tsx';
import type { OwnKey } from './own-keys.ts';
import { RotateKey } from './rotate-key.tsx';

interface KeyPanelProps {
  /** Undefined: no key of the person has the id. */
  readonly row: OwnKey | undefined;
  /** Whether a newer key has its name. */
  readonly isReplaced: boolean;
  /** Absent: what the key is. */
  readonly tab: KeyTab;
  readonly onTab: (tab: KeyTab) => void;
  readonly onShow: (id: string) => void;
  readonly onClose: () => void;
}

/** Everything about one API key, and what can be done with it. */
export function KeyPanel({ row, ...shown }: KeyPanelProps) {
  return (
    <DetailsPanel
      title={row?.name ?? 'API key'}
      of={row}
      missing="None of your keys has this id. The key was revoked, or the address is wrong."
      onClose={shown.onClose}
    >
      {(found) => <Details row={found} {...shown} />}
    </DetailsPanel>
  );
}

interface DetailsProps extends KeyPanelProps {
  readonly row: OwnKey;
}

function Details({ row, isReplaced, tab, onTab, onShow, onClose }: DetailsProps) {
  const [dialog, setDialog] = useState<'rotate' | 'revoke' | 'revokeOld' | null>(null);
  const [rotated, setRotated] = useState<{ readonly id: string; readonly secret: string } | null>(null);
  const close = () => setDialog(null);
  return (
    <>
      <KeyTabs row={row} tab={tab} onTab={onTab}>
        <div className="grid gap-6">
          <div className="flex flex-wrap items-center gap-x-6 gap-y-1">
            <KeyState state={row.state} />
            <code className="text-12 text-quiet">{row.hint}</code>
          </div>
          {isReplaced && (
            <Note>
              A newer key has its name, its roles and its lifetime. Revoke this one when no agent uses it any more.
            </Note>
          )}
          {row.replaces && (
            <Note action={<Button onClick={() => setDialog('revokeOld')}>Revoke the old key…</Button>}>
              The key before it (<code>{row.replaces.hint}</code>) is still valid. Last used:{' '}
              <Moment at={row.replaces.lastUsedAt} otherwise="never" />.
            </Note>
          )}
          <div className="flex flex-wrap gap-2">
            {!isReplaced && !row.replaces && <Button onClick={() => setDialog('rotate')}>Rotate…</Button>}
            <Button look="dangerous" onClick={() => setDialog('revoke')}>
              Revoke…
            </Button>
          </div>
          <Facts>
            <Fact name="Last used">
              <Moment at={row.lastUsedAt} otherwise="never" />
            </Fact>
            <Fact name="Expires">
              <Moment at={row.expiresAt} otherwise="never" />
            </Fact>
            <Fact name="Created">
              <Moment at={row.createdAt} otherwise="" />
            </Fact>
          </Facts>
          <KeySettings row={row} />
        </div>
      </KeyTabs>
      {dialog === 'rotate' && (
        <RotateKey
          row={row}
          onRotated={(id, secret) => {
            setRotated({ id, secret });
            close();
          }}
          onClose={close}
        />
      )}
      {rotated !== null && <NewKey name={row.name} secret={rotated.secret} onClose={() => onShow(rotated.id)} />}
      {dialog === 'revoke' && <RevokeKey row={row} onRevoked={onClose} onClose={close} />}
      {dialog === 'revokeOld' && row.replaces && (
        <RevokeKey row={{ ...row.replaces, name: row.name }} onRevoked={close} onClose={close} />
      )}
    </>
  );
}

function Note({ children, action }: { readonly children: ReactNode; readonly action?: ReactNode }) {
  return (
    <div className="grid justify-items-start gap-2 rounded-control bg-warn-soft px-4 py-3 text-13">
      <p>{children}</p>
      {action}
    </div>
  );
}

interface RevokeKeyProps {
  readonly row: { readonly id: string; readonly name: string; readonly hint: string; readonly version?: number };
  readonly onRevoked: () => void;
  readonly onClose: () => void;
}

function RevokeKey({ row: { id, name, hint, version }, onRevoked, onClose }: RevokeKeyProps) {
  const { workspace } = usePlace();
  return (
    <ConfirmByTyping
      title={`Revoke ${name}`}
      name={name}
      verb="Revoke key"
      consequence={`Agents that use the key ${hint} are refused at once. A revoked key cannot be made valid again.`}
      onConfirm={async () => {
        await send(revokeKeyMutation, { workspace: workspace.id, key: id, ifVersion: version ?? null });
        onRevoked();
      }}
      onClose={onClose}
    />
  );
}
