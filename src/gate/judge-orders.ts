import { maskPersonal } from '../conditions/mask-personal-data.ts'
import type { Privacy } from '../conditions/privacy-settings.ts'
import { cutText } from '../core/text.ts'
import { resendingIds } from '../flows/duplicate-events.ts'
import { eventName, timesText } from '../flows/finding-text.ts'
import { type OrderKeys, orderKeys } from '../insights/reported-orders-query.ts'
import { evidenceOf, type Fault, type Judged, placeOf, subjectOf } from './judge-recording.ts'
import type { RecordedEvent, Recording } from './recording.ts'

/**
 * Checks that no order is sent to the same account of a vendor twice by the same event. Order ids are found like in the
 * reconciliation of orders.
 */
export function judgeOrders({ events }: Recording, privacy: Privacy): Judged {
  const sent = events.filter(({ event }) => event.kind === 'event')
  const keys = orderKeys([...new Set(sent.flatMap(({ event }) => Object.keys(event.params)))])
  const orders = sent.flatMap((one) => {
    const id = orderIdOf(one, keys)
    return id === null ? [] : [{ one, id }]
  })
  const groups = Map.groupBy(orders, ({ one: { event }, id }) =>
    JSON.stringify([event.vendor, event.event, event.account, id]),
  )
  const findings = [...groups.values()].map(withoutResent).flatMap((group): Fault[] => {
    const [first, second] = group
    if (!first || !second) return []
    const count = timesText(group.length)
    const id = cutText(maskPersonal(first.id, '', privacy), 100, '…')
    const name = eventName(first.one.event, privacy)
    return [
      {
        kind: 'order',
        ...subjectOf(second.one, privacy),
        sentence: cutText(`${name} sent the order “${id}” ${count}${placeOf(second.one, privacy)}`, 4000, '…'),
        expected: 'once',
        observed: count,
        count: group.length - 1,
        parameters: [],
        evidence: evidenceOf(second.one, privacy),
      },
    ]
  })
  return {
    check: {
      kind: 'orders',
      id: null,
      name: 'Each order is sent once',
      severity: null,
      status: findings.length > 0 ? 'failed' : 'passed',
      reason: null,
      events: orders.length,
    },
    findings,
  }
}

/** Omits events that a library has sent again after an error. */
function withoutResent<T extends { one: RecordedEvent }>(group: readonly T[]): T[] {
  const ids = group.map(({ one }) => resendingIds(one.event))
  return group.filter((_, index) => ids[index] === '' || ids.indexOf(ids[index] ?? '') === index)
}

function orderIdOf({ event: { vendor, event, params } }: RecordedEvent, { ids, own }: OrderKeys): string | null {
  const textOf = (key: string | null) => (key !== null && Object.hasOwn(params, key) ? (params[key] ?? '').trim() : '')
  const ofVendor = own
    .filter((one) => one.vendor === vendor && (one.event === undefined || one.event === event))
    .filter(({ needsValue, value }) => !needsValue || textOf(value) !== '')
  return [...ids, ...ofVendor.map(({ id }) => id)].map(textOf).find((id) => id !== '') ?? null
}
