import { Link, useNavigate } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { oauthAnswer } from '../../app/oauth-answer.ts';
import { ErrorState } from '../../components/error-state.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { send } from '../../graphql/client.ts';
import { finishIntegrationMutation } from '../../graphql/generated/operations.ts';
import { type ShownError, shownErrorOf } from '../../graphql/shown-error.ts';
import { Question } from '../question.tsx';

/** An authorization server has sent the browser back: the backend exchanges its code, once. */
export function OauthCallbackPage() {
  const [error, setError] = useState<ShownError | null>(null);
  const navigate = useNavigate();
  const sent = useRef(false);
  const workspace = workspaceIn(oauthAnswer);
  useEffect(() => {
    // A code works once, and React runs effects twice in development.
    if (sent.current) return;
    sent.current = true;
    send(finishIntegrationMutation, { answer: oauthAnswer }).then(
      ({ finishIntegration: { id } }) =>
        void navigate({
          ...{ to: '/w/$workspace/settings/integrations', params: { workspace: workspace ?? '' } },
          ...{ search: { panel: id }, replace: true },
        }),
      (thrown: unknown) => setError(shownErrorOf(thrown)),
    );
  }, [workspace, navigate]);
  if (error === null) {
    return (
      <Question title="Connecting">
        <Skeleton lines={2} label="Connecting" />
      </Question>
    );
  }
  return (
    <Question title="Not connected">
      <ErrorState error={error} />
      {workspace === null ? (
        <Link to="/" className="text-accent hover:underline">
          Open the workspace
        </Link>
      ) : (
        <Link to="/w/$workspace/settings/integrations" params={{ workspace }} className="text-accent hover:underline">
          Back to the integrations
        </Link>
      )}
    </Question>
  );
}

/** The state begins with the workspace. */
function workspaceIn(answer: string): string | null {
  const [first = ''] = (new URLSearchParams(answer).get('state') ?? '').split('.');
  return /^[a-z]{3}_[0-9A-Za-z]{24}$/.test(first) ? first : null;
}
