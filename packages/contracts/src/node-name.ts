/** Name of a node for people. A local node without a label of its own shows the name of the product. */
export const nodeName = (label: string): string => (label === 'local' ? 'Agent Network (local)' : label);
