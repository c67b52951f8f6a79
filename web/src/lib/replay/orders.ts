/** The orders in which episodes are listed, as they stand in addresses. */
export const ORDERS = ['best', 'worst', 'newest', 'longest', 'shortest'] as const;
export type Order = (typeof ORDERS)[number];

interface Asked {
  sort: 'return' | 'length' | 'time';
  order: 'asc' | 'desc';
}

const ASKED: Record<Order, Asked> = {
  best: { sort: 'return', order: 'desc' },
  worst: { sort: 'return', order: 'asc' },
  newest: { sort: 'time', order: 'desc' },
  longest: { sort: 'length', order: 'desc' },
  shortest: { sort: 'length', order: 'asc' },
};

/** The order that an address asks for; the best first where it does not. */
export function asOrder(text: string | null): Order {
  return ORDERS.find((order) => order === text) ?? 'best';
}

/** How the API is asked for it. */
export function sorted(order: Order): Asked {
  return ASKED[order];
}

/** What an address says of it: nothing of what is usual. */
export function inAddress(order: Order): Order | null {
  return order === 'best' ? null : order;
}
