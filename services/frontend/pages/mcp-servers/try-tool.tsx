import { type FormEvent, useMemo, useState } from 'react';
import { flushSync } from 'react-dom';
import { usePlace } from '../../app/workspace.ts';
import { Button } from '../../components/button.tsx';
import { ErrorState } from '../../components/error-state.tsx';
import { TextField } from '../../components/field.tsx';
import { focusFirstProblem } from '../../components/form.tsx';
import { Skeleton } from '../../components/skeleton.tsx';
import { useNow } from '../../components/use-now.ts';
import { toolDefinitionQuery } from '../../graphql/generated/operations.ts';
import { useOperation } from '../../graphql/use-operation.ts';
import { fieldsOf, inputSchemaOf, readForm, readJsonInput, type Typed } from './tool-input.ts';
import { ToolInputField } from './tool-input-field.tsx';
import { ToolResultView } from './tool-result-view.tsx';
import { type CallState, type TokenSource, useToolCall } from './use-tool-call.ts';

export interface TriedTool {
  readonly id: string;
  /** The name for agents. */
  readonly name: string;
}

/** Asks for the input of a tool, calls it as an agent would, and shows its result. */
export function TryTool({ tool, token }: { readonly tool: TriedTool; readonly token: TokenSource }) {
  const { workspace } = usePlace();
  const { data, error, retry } = useOperation(toolDefinitionQuery, { workspace: workspace.id, tool: tool.id });
  const definition = data?.workspace?.tool?.definition ?? null;
  if (definition !== null) return <TryForm tool={tool} token={token} definition={definition} />;
  if (error !== null) return <ErrorState error={error} onRetry={retry} />;
  return data === null ? (
    <Skeleton lines={3} />
  ) : (
    <p className="text-13 text-quiet">The MCP server no longer lists this tool.</p>
  );
}

function TryForm({
  tool,
  token,
  definition,
}: {
  readonly tool: TriedTool;
  readonly token: TokenSource;
  readonly definition: string;
}) {
  const schema = useMemo(() => inputSchemaOf(definition), [definition]);
  const fields = useMemo(() => fieldsOf(schema), [schema]);
  const [isJson, setJson] = useState(false);
  const [typed, setTyped] = useState<Typed>(new Map());
  const [text, setText] = useState('{}');
  const [problems, setProblems] = useState<ReadonlyMap<string, string>>(new Map());
  const { state, run, cancel } = useToolCall(tool.name, token);
  const read = () => (isJson || fields === null ? readJsonInput(schema, text) : readForm(schema, fields, typed));
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const given = read();
    flushSync(() => setProblems(given.ok ? new Map() : given.problems));
    if (given.ok) run(given.input);
    else focusFirstProblem(event.currentTarget);
  };
  const toJson = () => {
    const given = read();
    if (given.ok) setText(JSON.stringify(given.input, null, 2));
    setProblems(new Map());
    setJson(true);
  };
  const toForm = () => {
    setProblems(new Map());
    setJson(false);
  };
  const isRunning = state.kind === 'running';
  return (
    <div className="grid gap-4 border-border border-l-2 pl-4">
      <form onSubmit={submit} noValidate className="grid gap-4">
        {isJson || fields === null ? (
          <TextField label="Input as JSON" rows={6} value={text} onText={setText} problem={problems.get('') ?? null} />
        ) : (
          <>
            {fields.length === 0 && <p className="text-13 text-quiet">The tool takes no input.</p>}
            {fields.map((field) => (
              <ToolInputField
                key={field.name}
                field={field}
                text={typed.get(field.name) ?? ''}
                onText={(changed) => setTyped(new Map(typed).set(field.name, changed))}
                problem={problems.get(field.name) ?? null}
              />
            ))}
            {problems.has('') && <p className="text-12 text-bad">{problems.get('')}</p>}
          </>
        )}
        <div className="flex flex-wrap items-center gap-2">
          <Button look="primary" type="submit" isBusy={isRunning}>
            Run
          </Button>
          {isRunning && <Button onClick={cancel}>Cancel</Button>}
          {fields !== null && !isRunning && (
            <Button look="quiet" onClick={isJson ? toForm : toJson}>
              {isJson ? 'Fill in a form' : 'Write JSON'}
            </Button>
          )}
        </div>
        <p className="text-12 text-quiet">
          The call is real: the tool does what it does for an agent. Usage shows it under your name.
        </p>
      </form>
      <Outcome state={state} />
    </div>
  );
}

function Outcome({ state }: { readonly state: CallState }) {
  return (
    <div aria-live="polite" className="grid min-w-0 gap-2 empty:hidden">
      <OutcomeOf state={state} />
    </div>
  );
}

function OutcomeOf({ state }: { readonly state: CallState }) {
  switch (state.kind) {
    case 'none':
      return null;
    case 'running':
      return <Running startedAt={state.startedAt} progress={state.progress} />;
    case 'cancelled':
      return <p className="text-13 text-quiet">Cancelled. The tool may have done a part of its work.</p>;
    case 'answered':
      return <ToolResultView result={state.result} durationMs={state.durationMs} />;
    case 'failed':
      return <ErrorState error={state.error} />;
  }
}

function Running({ startedAt, progress }: { readonly startedAt: number; readonly progress: string }) {
  const seconds = Math.max(0, Math.floor((useNow(1000) - startedAt) / 1000));
  return (
    <p className="break-words text-13 text-quiet">
      {/* A screen reader must not read out every second. */}
      Running<span aria-hidden="true">{` for ${seconds} s`}</span>.{progress !== '' && ` Progress: ${progress}`}
    </p>
  );
}
