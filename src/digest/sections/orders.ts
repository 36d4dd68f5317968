import { countText, numberText } from '../../core/text.ts'
import type { DigestOrders } from '../digest-facts.ts'
import { countOf } from '../format-figures.ts'
import { focusRank } from '../reader-focus.ts'
import { type DigestSection, type Lead, WEIGHT } from './section.ts'

/** Minimum fraction of missing orders for a headline. */
const MISSING_SHARE = 0.05

/** Paid orders compared with the orders received by each vendor. */
export const ordersSection: DigestSection = {
  id: 'orders',
  title: 'Order reconciliation',
  write({ orders }, { focus }) {
    if (orders.length === 0) return null
    const shown = orders.toSorted((a, b) => placeOf(a) - placeOf(b))
    function placeOf({ domainId }: DigestOrders) {
      return focusRank(focus, { domainId, vendor: null, event: null })
    }
    const blocks = shown.flatMap(({ domain, orders, before, value, ...all }) => {
      const vendors = connected(all.vendors)
      const worth = value > 0 ? `, value ${numberText(value)}` : ''
      const text = `${domain}: ${countOf(orders, 'paid order')}${worth}, compared with ${countText(before)} a week earlier.`
      const none = orders > 0 && vendors.length === 0 ? ' No vendor received any of these orders.' : ''
      const rows = vendors
        .toSorted((a, b) => b.missing - a.missing || a.capturePct - b.capturePct)
        .map((tally) => [
          {
            text: tally.vendor,
            note: tally.missing > 0 ? `missing value: ${numberText(tally.missingValue)}` : '',
          },
          { text: countText(tally.missing), tone: tally.missing > 0 ? ('bad' as const) : ('plain' as const) },
          { text: countText(tally.captured) },
          { text: `${tally.capturePct} %`, tone: tally.capturePct < 95 ? ('warn' as const) : ('good' as const) },
        ])
      const table = { kind: 'table' as const, head: ['Vendor', 'missing', 'captured', 'rate'], rows, more: '' }
      return [{ kind: 'text' as const, text: `${text}${none}` }, ...(rows.length > 0 ? [table] : [])]
    })
    return { blocks, lead: leadOf(shown) }
  },
}

/** Vendors that have never received an order are not missing any. */
const connected = (vendors: DigestOrders['vendors']) => vendors.filter(({ connected }) => connected !== false)

function leadOf(orders: readonly DigestOrders[]): Lead | null {
  const worst = orders
    .flatMap(({ domain, vendors }) => connected(vendors).map((tally) => ({ domain, ...tally })))
    .filter(({ orders, missing }) => missing > 0 && missing >= orders * MISSING_SHARE)
    .toSorted((a, b) => b.missingValue - a.missingValue || b.missing - a.missing)
    .at(0)
  if (!worst) return null
  const text = `${worst.vendor} is missing ${countText(worst.missing)} of ${countOf(worst.orders, 'order')} on ${worst.domain}`
  return { weight: WEIGHT.missingOrders, text }
}
