import { type FormEvent, useState } from 'react';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ErrorLine } from '../../components/error-state.tsx';
import { Field } from '../../components/field.tsx';
import { showToast } from '../../components/toast.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { type IntegrationQuery, updateIntegrationMutation } from '../../graphql/generated/operations.ts';

export type ShownIntegration = NonNullable<NonNullable<IntegrationQuery['workspace']>['integration']>;

/** The client and the scopes of the next connection. */
export function IntegrationForm({ integration }: { readonly integration: ShownIntegration }) {
  const { workspace } = usePlace();
  const { id, client, wantedScopes } = integration;
  const knownId = client === 'own' ? (integration.clientId ?? '') : '';
  const knownScopes = wantedScopes.join(' ');
  const [clientId, setClientId] = useState(knownId);
  const [secret, setSecret] = useState('');
  const [scopes, setScopes] = useState(knownScopes);
  const isOther = clientId.trim() !== knownId || secret !== '';
  const isChanged = isOther || scopes.trim() !== knownScopes;
  const save = useAction(async () => {
    const words = scopes.split(/\s+/).filter((word) => word !== '');
    const given = isOther ? { clientId, clientSecret: secret === '' ? null : secret } : {};
    await send(updateIntegrationMutation, { workspace: workspace.id, id, input: { scopes: words, ...given } });
    setSecret('');
    showToast('Saved. The next connection uses it.');
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isChanged) save.run();
  };
  return (
    <form onSubmit={submit} className="grid gap-4">
      <Field
        label="Scopes"
        hint="Separated by spaces. Empty: those that the MCP server names."
        value={scopes}
        onText={setScopes}
        isCode
      />
      <Field
        label="Client ID"
        hint="Empty: the platform registers itself at the provider."
        value={clientId}
        onText={setClientId}
        isCode
      />
      <Field
        label="Client secret"
        hint="Stored encrypted, and never shown again. Empty: a public client."
        type="password"
        // A browser must not fill in the password of the person.
        autoComplete="new-password"
        value={secret}
        onText={setSecret}
        isCode
      />
      <ErrorLine error={save.error} />
      <div>
        <Button type="submit" disabled={!isChanged} isBusy={save.isBusy}>
          Save
        </Button>
      </div>
    </form>
  );
}
