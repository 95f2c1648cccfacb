import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ConfirmByTyping } from '../../components/confirm-by-typing.tsx';
import { DetailsPanel } from '../../components/details-panel.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { Fact, Facts } from '../../components/facts.tsx';
import { Moment } from '../../components/moment.tsx';
import { Snippet } from '../../components/snippet.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import {
  beginIntegrationMutation,
  disconnectIntegrationMutation,
  integrationQuery,
} from '../../graphql/generated/operations.ts';
import { useOperation } from '../../graphql/use-operation.ts';
import { withoutCommands } from '../../graphql/without-commands.ts';
import { Section } from '../section.tsx';
import { IntegrationForm, type ShownIntegration } from './integration-form.tsx';
import { IntegrationStateDot } from './integration-state.tsx';

/** Everything about one integration, and what can be done with it. */
export function IntegrationPanel({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const { workspace } = usePlace();
  const { data, error, retry } = useOperation(integrationQuery, { workspace: workspace.id, id });
  const integration = data?.workspace?.integration;
  return (
    <DetailsPanel
      title={integration?.mcpServer?.name ?? 'Integration'}
      of={integration}
      isAwaited={data === null}
      error={error}
      onRetry={retry}
      missing={`No integration has the id "${id}". Its MCP server was removed, or the address is wrong.`}
      onClose={onClose}
    >
      {(found) => <Details integration={found} />}
    </DetailsPanel>
  );
}

const clientWords = {
  own: 'entered by an admin',
  dynamic: 'registered by the platform',
  document: 'the document of the platform',
} as const;

function Details({ integration }: { readonly integration: ShownIntegration }) {
  const { workspace, mayConfigure } = usePlace();
  const { state, problem, mcpServer, issuer, client, clientId, scopes, expiresAt, connectedAt, refreshedAt } =
    integration;
  return (
    <div className="grid gap-6">
      <IntegrationStateDot state={state} />
      {problem !== null && (
        <div className="grid gap-1 rounded-control bg-bad-soft px-4 py-3 text-13">
          <p className="break-words">{problem.message}</p>
          <p className="break-words">{withoutCommands(problem.repair)}</p>
        </div>
      )}
      {mayConfigure ? (
        <Actions integration={integration} />
      ) : (
        <p className="text-13 text-quiet">An owner or an admin of the workspace can connect it.</p>
      )}
      <Facts>
        {mcpServer !== null && (
          <Fact name="MCP server">
            <Link
              to="/w/$workspace/settings/mcp-servers"
              params={{ workspace: workspace.id }}
              search={{ panel: mcpServer.id }}
              className="text-accent hover:underline"
            >
              {mcpServer.name}
            </Link>
          </Fact>
        )}
        <Fact name="Provider">{issuer ?? 'known after the first connection'}</Fact>
        <Fact name="Scopes">{scopes.join(' ') || 'none yet'}</Fact>
        {client !== null && (
          <Fact name="Client">
            {clientWords[client]}
            {clientId !== null && <code className="block break-all text-12 text-quiet">{clientId}</code>}
          </Fact>
        )}
        <Fact name="Connected">
          <Moment at={connectedAt} otherwise="not yet" />
        </Fact>
        {state === 'connected' && (
          <>
            <Fact name="Token ends">
              <Moment at={expiresAt} otherwise="the provider does not say" />
            </Fact>
            <Fact name="Renewed">
              <Moment at={refreshedAt} otherwise="not yet" />
            </Fact>
          </>
        )}
      </Facts>
      {mayConfigure && (
        <>
          <Section title="Redirect URI">
            <Snippet text={integration.redirectUri} wraps />
            <p className="text-12 text-quiet">
              If you register a client at the provider yourself, register this address exactly. If the provider says
              “Invalid redirect URI”, its client has another one.
            </p>
          </Section>
          <Section title="Client and scopes">
            <IntegrationForm key={`${clientId} ${integration.wantedScopes.join(' ')}`} integration={integration} />
          </Section>
        </>
      )}
    </div>
  );
}

function Actions({ integration: { id, state, connectedAt, mcpServer } }: { readonly integration: ShownIntegration }) {
  const { workspace } = usePlace();
  const [isDisconnecting, setDisconnecting] = useState(false);
  const at = { workspace: workspace.id, id };
  const connect = useAction(async () => {
    const { beginIntegration } = await send(beginIntegrationMutation, at);
    window.location.assign(beginIntegration);
  });
  const name = mcpServer?.name ?? 'it';
  return (
    <div className="grid gap-3">
      <div className="flex flex-wrap gap-2">
        <Button look={state === 'connected' ? 'secondary' : 'primary'} onClick={connect.run} isBusy={connect.isBusy}>
          {state === 'needs_authorization' && connectedAt === null ? 'Connect' : 'Reconnect'}
        </Button>
        {state !== 'needs_authorization' && (
          <Button look="dangerous" onClick={() => setDisconnecting(true)}>
            Disconnect…
          </Button>
        )}
      </div>
      {connect.error !== null && <ErrorState error={connect.error} />}
      {isDisconnecting && (
        <ConfirmByTyping
          title={`Disconnect ${name}`}
          name={name}
          verb="Disconnect"
          consequence="The platform forgets the token, and revokes it where the provider allows it. The MCP server fails until it is connected again."
          onConfirm={() => send(disconnectIntegrationMutation, at)}
          onClose={() => setDisconnecting(false)}
        />
      )}
    </div>
  );
}
