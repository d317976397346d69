import { Skeleton } from '../ui/layout/skeleton.tsx';

export const PendingView = () => (
  <div className="space-y-4 p-6">
    <Skeleton className="h-7 w-48" />
    <Skeleton className="h-40 w-full" />
  </div>
);
