import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import { snippetsFor } from '../../../contracts/clients/snippet.ts';
import { keysUrl } from '../../app/environment.ts';
import { SnippetTabs } from '../../components/snippet.tsx';

/** How an agent is connected to this platform. For people who are not signed in, too. */
export function ConnectAgent() {
  const tabs = useMemo(() => snippetsFor(keysUrl), []);
  return (
    <section aria-labelledby="connect" className="grid gap-6">
      <h2 id="connect" className="font-semibold text-16">
        Connect an agent
      </h2>
      <ol className="grid gap-6">
        <li className="max-w-text">
          1.{' '}
          <Link to="/" className="text-accent underline">
            Sign in
          </Link>{' '}
          and create an API key under Profile &gt; API keys. It is shown once. An agent that can sign in needs no key.
        </li>
        <li className="grid min-w-0 gap-2">
          <p className="max-w-text">
            2. Give this to your agent. It reads the key from the variable <code>SVC_API_KEY</code>, asks for it, or
            takes it in place of the dots.
          </p>
          <SnippetTabs label="Client" tabs={tabs} />
        </li>
      </ol>
    </section>
  );
}
