import { useMemo } from 'react';
import { snippetsFor } from '../../contracts/clients/snippet.ts';
import { keysUrl } from '../app/environment.ts';
import { Snippet, SnippetTabs } from '../components/snippet.tsx';

/** How an agent is connected to this platform. */
export function ConnectAgent() {
  const tabs = useMemo(() => snippetsFor(keysUrl), []);
  return (
    <section aria-labelledby="connect" className="grid gap-6">
      <header>
        <h2 id="connect" className="font-semibold text-16">
          Connect an agent
        </h2>
        <p className="max-w-text text-quiet">
          Type the commands in the folder where svc is installed, with npx in front, unless it is installed for the
          whole machine.
        </p>
      </header>
      <ol className="grid gap-6">
        <li className="grid gap-2">
          <p>1. Create an API key. It is shown once.</p>
          <Snippet text="svc keys create my-agent" />
        </li>
        <li className="grid min-w-0 gap-2">
          <p className="max-w-text">
            2. Give this to your agent. It reads the key from the variable <code>SVC_API_KEY</code>, asks for it, or
            takes it in the place of <code>SVA_…</code>. <code>svc connect --write</code> writes it into the file of
            your agent.
          </p>
          <SnippetTabs label="Client" tabs={tabs} />
        </li>
        <li className="grid gap-2">
          <p className="max-w-text">
            3. Something does not work? This asks for the key and finds what fails: name, connection, key, protocol or
            tools.
          </p>
          <Snippet text="svc keys test" />
        </li>
      </ol>
    </section>
  );
}
