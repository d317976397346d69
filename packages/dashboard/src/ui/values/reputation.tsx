import { Badge } from './badge.tsx';

interface ReputationProps {
  readonly of: { readonly reputation: number; readonly isNew: boolean };
}

/** The reputation of an agent. Until enough customers have paid, the score says little, and the agent is shown as new. */
export const Reputation = ({ of: { reputation, isNew } }: ReputationProps) =>
  isNew ? <Badge>New</Badge> : String(Math.round(reputation));
