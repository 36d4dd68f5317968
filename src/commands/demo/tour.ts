import { DAY_MS, MINUTE_MS } from '../../core/clock.ts'
import type { PastOfShop } from './history.ts'

/** Posts to the demo's own API. */
export type Post = (path: string, body: unknown) => Promise<unknown>

/** The most orders of one request. */
const ORDERS_AT_ONCE = 1000

/** Tells the server what only the shop knows: the release of its pipeline, watched for a day, and what was sold. */
export async function tellPast(post: Post, domainId: string, { release, orders }: PastOfShop): Promise<void> {
  await post('/v1/changes', {
    domainId,
    source: 'pipeline',
    ref: `release-${release.version}`,
    title: `Release ${release.version}: a new cart`,
    occurredAt: release.at,
    windowMinutes: DAY_MS / MINUTE_MS,
  })
  for (let at = 0; at < orders.length; at += ORDERS_AT_ONCE) {
    await post('/v1/orders', { domainId, orders: orders.slice(at, at + ORDERS_AT_ONCE) })
  }
}

/** What a newcomer asks for, and what there is to see. */
export function questions(domainId: string): [path: string, sees: string][] {
  return [
    ['/v1/issues', 'what is wrong now'],
    ['/v1/insights/causes', 'what caused it'],
    ['/v1/changes', 'releases, and what they broke'],
    ['/v1/compliance/pii', 'personal data that tags give away'],
    ['/v1/insights/suggestions', 'rules that traffic keeps already'],
    [`/v1/insights/reconcile?domainId=${domainId}`, 'orders that vendors were not told of'],
    ['/v1/insights/scores', 'how well it goes, in three numbers'],
  ]
}
