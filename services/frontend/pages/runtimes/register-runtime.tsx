import { useState } from 'react';
import { parseName } from '../../../contracts/names.ts';
import { handOver, pastedBlock, startAgain, warningAbout } from '../../../contracts/runtime-hand-over.ts';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { KeyShownOnce } from '../../components/key-shown-once.tsx';
import { RelativeTime } from '../../components/relative-time.tsx';
import { Snippet } from '../../components/snippet.tsx';
import { useAction } from '../../components/use-action.ts';
import { send } from '../../graphql/client.ts';
import { type RegisterRuntimeMutation, registerRuntimeMutation } from '../../graphql/generated/operations.ts';
import type { Runtime } from './runtime-state.tsx';

const nameRule = (text: string) => parseName('runtime', text);

type Registered = RegisterRuntimeMutation['registerRuntime'];

interface RegisterRuntimeProps {
  /** The runtimes that the workspace has: one of these names gets a new key. */
  readonly known: readonly Runtime[];
  /** The runtime that gets a new key; absent: the person names one. */
  readonly name?: string;
  readonly onClose: () => void;
}

/** Makes a key for a runtime on another machine, and shows once what to paste there. */
export function RegisterRuntime({ known, name: given, onClose }: RegisterRuntimeProps) {
  const { workspace } = usePlace();
  const [typed, setName] = useState('');
  const [registered, setRegistered] = useState<Registered | null>(null);
  const name = given ?? typed.trim();
  const isKnown = known.some((runtime) => runtime.name === name);
  const register = useAction(async () => {
    const { registerRuntime } = await send(registerRuntimeMutation, { workspace: workspace.id, name });
    setRegistered(registerRuntime);
  });
  if (registered !== null) {
    return (
      <Dialog title={`Start ${registered.runtime.name}`} onClose={onClose}>
        <ToPaste registered={registered} />
        <div className="mt-4 flex justify-end">
          <Button look="primary" onClick={onClose}>
            Done
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <FormDialog
      title={given === undefined ? 'Register runtime' : `New key for ${given}`}
      verb={isKnown ? 'Create new key' : 'Register runtime'}
      action={register}
      onClose={onClose}
    >
      {given === undefined && (
        <Field
          label="Name"
          hint="Such as the name of the machine. MCP servers are bound to it."
          value={typed}
          onText={setName}
          rule={nameRule}
        />
      )}
      {isKnown && (
        <p>{`The runtime ${name} gets a new key. Its present key stays valid for a day, so that you can replace it there.`}</p>
      )}
    </FormDialog>
  );
}

/** The same block as `svc runtime register` prints. */
function ToPaste({ registered }: { readonly registered: Registered }) {
  const { runtime, secret: key, busServers, authority = null, version, overlapEndsAt } = registered;
  const { name } = runtime;
  const pasted = { given: handOver({ name, key, busServers, authority }, null), name, version, isWritten: false };
  const warning = warningAbout(busServers);
  return (
    <div className="grid gap-4">
      <KeyShownOnce
        secret={pastedBlock(pasted)}
        about="Paste this into a shell of the other machine, which needs Node 24. The key is shown only once."
      />
      <div className="grid gap-2">
        <p className="text-13 text-quiet">To start it again there:</p>
        <Snippet text={startAgain(pasted)} wraps />
      </div>
      {overlapEndsAt != null && (
        <p className="text-13">
          Its previous key stays valid until <RelativeTime at={overlapEndsAt} />. Then a runtime that uses it is
          disconnected.
        </p>
      )}
      {warning !== null && <p className="wrap-anywhere text-13 text-warn">{warning}</p>}
    </div>
  );
}
