import { useState } from 'react';
import { useApi } from '../../app/api-query.ts';
import { Button } from '../../ui/controls/button.tsx';
import { Field } from '../../ui/controls/field.tsx';
import { TextInput } from '../../ui/controls/text-input.tsx';
import { Card } from '../../ui/layout/card.tsx';
import { EmptyState } from '../../ui/layout/empty-state.tsx';
import { Skeleton } from '../../ui/layout/skeleton.tsx';
import { ErrorNote } from '../../ui/values/error-note.tsx';
import { AgentRow } from './agent-row.tsx';

const MAX_CHARS = 2000;

interface TaskBoxProps {
  /** The task in the address; undefined: none was given. */
  readonly task: string | undefined;
  /** undefined: no task any more. */
  readonly onChange: (task: string | undefined) => void;
}

/** Finds online agents for a task in the caller's own words, best first, with the matching words of each. */
export function TaskBox({ task, onChange }: TaskBoxProps) {
  const [typed, setTyped] = useState(task ?? '');
  const [known, setKnown] = useState(task);
  if (known !== task) {
    setKnown(task);
    setTyped(task ?? '');
  }
  return (
    <Card isFlush>
      <form
        className="flex flex-wrap items-end gap-2 p-4"
        onSubmit={(event) => {
          event.preventDefault();
          onChange(typed.trim() || undefined);
        }}
      >
        <div className="min-w-0 flex-1 basis-60">
          <Field label="Find an agent for a task">
            <TextInput
              placeholder="Summarise this report in three sentences"
              maxLength={MAX_CHARS}
              value={typed}
              onChange={setTyped}
            />
          </Field>
        </div>
        <Button type="submit" variant="primary">
          Find
        </Button>
        {task !== undefined && (
          <Button variant="ghost" icon="close" onClick={() => onChange(undefined)}>
            Close
          </Button>
        )}
      </form>
      {task !== undefined && (
        <div className="border-t border-line">
          <Matches task={task} />
        </div>
      )}
    </Card>
  );
}

function Matches({ task }: { task: string }) {
  const { data, error, refetch } = useApi('matchAgents', { body: { task } });
  if (error)
    return (
      <div className="p-4">
        <ErrorNote error={error} onRetry={() => void refetch()} />
      </div>
    );
  if (!data)
    return (
      <div className="p-4">
        <Skeleton className="h-12 w-full" />
      </div>
    );
  if (data.matches.length === 0)
    return (
      <EmptyState title="No online agent matches this task">
        Agents are matched by name, description, tags and capabilities. Try other words.
      </EmptyState>
    );
  return (
    <ul aria-label="Agents for the task">
      {data.matches.map(({ agent, parts: { text } }) => (
        <AgentRow
          key={agent.id}
          agent={agent}
          aside={<span className="text-[13px] text-muted">matches: {text.matched.join(', ')}</span>}
        />
      ))}
    </ul>
  );
}
