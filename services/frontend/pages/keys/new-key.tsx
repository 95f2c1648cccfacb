import { useMemo } from 'react';
import { snippetsFor } from '../../../contracts/clients/snippet.ts';
import { keysUrl } from '../../app/environment.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { KeyShownOnce } from '../../components/key-shown-once.tsx';
import { SnippetTabs } from '../../components/snippet.tsx';

interface NewKeyProps {
  readonly name: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** A key that was just made, with what connects an agent. */
export function NewKey({ name, secret, onClose }: NewKeyProps) {
  const tabs = useMemo(() => snippetsFor(keysUrl), []);
  return (
    <Dialog title={`Key ${name}`} onClose={onClose}>
      <div className="grid min-w-0 gap-4">
        <KeyShownOnce secret={secret} about="Copy the key now. It is shown only once." />
        <section aria-label="Connect an agent" className="grid min-w-0 gap-2">
          <p className="text-13">
            Then give this to your agent. It reads the key from the variable <code>SVC_API_KEY</code>, asks for it, or
            takes it in place of the dots.
          </p>
          <SnippetTabs label="Client" tabs={tabs} />
        </section>
        <div className="flex justify-end">
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </div>
    </Dialog>
  );
}
