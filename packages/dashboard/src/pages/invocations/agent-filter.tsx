import { SettledInput } from '../../ui/controls/settled-input.tsx';

interface AgentFilterProps {
  readonly value: string;
  readonly onChange: (agentId: string) => void;
}

/** The id of an agent. */
export const AgentFilter = (props: AgentFilterProps) => (
  <SettledInput
    {...props}
    type="search"
    aria-label="Agent ID"
    placeholder="Agent ID"
    spellCheck={false}
    className="font-mono text-[13px] sm:w-64"
  />
);
