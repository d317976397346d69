/** Placeholder for a missing value. */
export const dash = <span className="text-muted">–</span>;
