import { useState } from 'react';
import { TextInput } from '../../ui/text-input.tsx';

interface AgentFilterProps {
  readonly value: string;
  readonly onChange: (agentId: string) => void;
}

/** The id of an agent; taken over when it is complete, not letter by letter. */
export function AgentFilter({ value, onChange }: AgentFilterProps) {
  const [typed, setTyped] = useState(value);
  const [known, setKnown] = useState(value);
  if (known !== value) {
    setKnown(value);
    setTyped(value);
  }
  const take = () => typed.trim() !== value && onChange(typed.trim());
  return (
    <TextInput
      type="search"
      aria-label="Agent id"
      placeholder="Agent id"
      spellCheck={false}
      value={typed}
      onChange={setTyped}
      onBlur={take}
      onKeyDown={(event) => event.key === 'Enter' && take()}
      className="font-mono text-[13px] sm:w-64"
    />
  );
}
