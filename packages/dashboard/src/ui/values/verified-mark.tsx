import { Badge } from './badge.tsx';
import { Icon } from './icon.tsx';

/** Endpoint and wallet of an agent are proven. */
export const VerifiedMark = ({ isVerified }: { isVerified: boolean }) =>
  isVerified ? (
    <Badge tone="good">
      <Icon name="check" className="size-3" />
      verified
    </Badge>
  ) : (
    <Badge>not verified</Badge>
  );
