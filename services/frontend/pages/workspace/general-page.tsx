import { useState } from 'react';
import { parseName } from '../../../contracts/names.ts';
import { keysUrl, mcpUrl } from '../../app/environment.ts';
import { useShown } from '../../app/use-shown.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { Field } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { Snippet } from '../../components/snippet.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { generalQuery, ownersQuery, renameWorkspaceMutation } from '../../graphql/generated/operations.ts';
import { useOperation } from '../../graphql/use-operation.ts';
import { isOnlyOwner, roleWords } from '../members/member-words.ts';
import { PageHead } from '../page-head.tsx';
import { Part } from '../section.tsx';
import { CreateWorkspace } from './create-workspace.tsx';
import { LeaveWorkspace } from './leave-workspace.tsx';

const nameRule = (text: string) => parseName('workspace', text);

/** The workspace itself: its name, its addresses, and the ways in and out. */
export function GeneralPage() {
  const { workspace, role } = usePlace();
  const [{ add }, show] = useShown('/w/$workspace/settings/general');
  const { data, error, retry } = useOperation(generalQuery, { workspace: workspace.id });
  return (
    <>
      <PageHead title="General" about="This workspace, and your membership." />
      <div className="grid max-w-text gap-10">
        <Part title="Workspace">
          {role === 'owner' && <Rename key={workspace.name} />}
          <Loaded value={data?.workspace ?? null} error={error} onRetry={retry} lines={3}>
            {({ owner, createdAt }) => (
              <Facts>
                {role !== 'owner' && <Fact name="Name">{workspace.name}</Fact>}
                {owner != null && <Fact name="Owner">{`${owner.name} (${owner.email})`}</Fact>}
                <Fact name="Created">
                  <RelativeTime at={createdAt} />
                </Fact>
              </Facts>
            )}
          </Loaded>
        </Part>
        <Part title="Addresses">
          <Copied label="Id of the workspace, for scripts and support" text={workspace.id} />
          <Copied label="MCP address of the platform, for agents" text={mcpUrl} />
          {keysUrl !== mcpUrl && <Copied label="The same, for agents with an API key" text={keysUrl} />}
        </Part>
        <Part title="Your membership">
          <p>
            {`Your role is ${role}. `}
            <span className="text-quiet">{roleWords[role]}</span>
          </p>
          <Leave />
        </Part>
        <Part title="Another workspace">
          <p className="text-quiet">A new workspace starts empty, and you own it.</p>
          <div>
            <Button icon="plus" onClick={() => show({ add: true })}>
              Create workspace
            </Button>
          </div>
        </Part>
      </div>
      {add === true && <CreateWorkspace onClose={() => show({ add: undefined }, true)} />}
    </>
  );
}

function Copied({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    <div className="grid min-w-0 gap-1">
      <p className="font-medium text-13">{label}</p>
      <Snippet text={text} wraps />
    </div>
  );
}

function Rename() {
  const { workspace } = usePlace();
  const [name, setName] = useState(workspace.name);
  const rename = useAction(async () => {
    await send(renameWorkspaceMutation, { id: workspace.id, name: name.trim(), ifName: workspace.name });
    showToast(`The workspace is called ${name.trim()}.`);
  });
  const isChanged = name.trim() !== workspace.name;
  return (
    <Form onSubmit={() => isChanged && rename.run()} className="grid max-w-question gap-3">
      <Field label="Name" value={name} onText={setName} rule={nameRule} />
      <ErrorLine error={rename.error} />
      <div>
        <Button type="submit" disabled={!isChanged} isBusy={rename.isBusy}>
          Rename
        </Button>
      </div>
    </Form>
  );
}

/** The last owner cannot leave. */
function Leave() {
  const { workspace, role, member } = usePlace();
  const [isLeaving, setLeaving] = useState(false);
  const isOwner = role === 'owner';
  const { data } = useOperation(ownersQuery, { workspace: workspace.id }, !isOwner);
  const members = data?.workspace?.members ?? null;
  const isLast = members !== null && members.pageInfo.next == null && isOnlyOwner(member, members.nodes);
  if (isOwner && (members === null || isLast)) {
    return members === null ? null : (
      <p className="text-13 text-quiet">
        You are the only owner, so you cannot leave. Make another member an owner first.
      </p>
    );
  }
  return (
    <div>
      <Button look="dangerous" onClick={() => setLeaving(true)}>
        Leave workspace…
      </Button>
      {isLeaving && <LeaveWorkspace onClose={() => setLeaving(false)} />}
    </div>
  );
}
