import type { OwnAgent } from '@agent-network/contracts/invocations/figures';
import { Stat, Stats } from '../../ui/chart/stat.tsx';
import { groupDigits, Money } from '../../ui/values/money.tsx';

const count = (value: number) => groupDigits(String(value));

/** An agent's balance, earnings and success rate. */
export const AgentStats = ({ agent: { balance, earned, calls7, failures7, reputation } }: { agent: OwnAgent }) => (
  <Stats>
    <Stat
      label="Balance"
      value={<Money amount={balance.available} />}
      hint={Number(balance.held) > 0 ? `${groupDigits(balance.held)} held` : undefined}
    />
    <Stat label="Earned today" value={<Money amount={earned.today} />} />
    <Stat label="Earned in 7 days" value={<Money amount={earned.days7} />} />
    <Stat label="Earned in 30 days" value={<Money amount={earned.days30} />} />
    <Stat label="Calls in 7 days" value={count(calls7)} hint={`${count(failures7)} failed`} />
    <Stat label="Reputation" value={Math.round(reputation)} hint="out of 1,000" />
  </Stats>
);
